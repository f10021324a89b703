"""A web server whose answers a test writes down beforehand."""

import threading
from collections import Counter, defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def content(body, length=None, status=200):
    """An answer with a body, whose Content-Length may be wrong."""

    def respond(handler):
        handler.send_response(status)
        handler.send_header("Content-Length", str(len(body) if length is None else length))
        handler.end_headers()
        handler.wfile.write(body)

    return respond


def failure(status):
    return content(b"<html>no</html>", status=status)


class HttpServer:
    """Answers of each path are used in turn, the last one for ever; other paths are 404."""

    def __init__(self):
        self.answers, self.requests = defaultdict(list), Counter()
        self.sizes = {}  # the Content-Length of HEAD requests
        web = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                turn = web.requests[self.path]
                web.requests[self.path] += 1
                answers = web.answers.get(self.path)
                (answers[min(turn, len(answers) - 1)] if answers else failure(404))(self)
                self.close_connection = True

            def do_HEAD(self):
                size = web.sizes.get(self.path)
                self.send_response(404 if size is None else 200)
                self.send_header("Content-Length", str(size or 0))
                self.end_headers()

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_port}"

    def serve(self, path, *answers):
        self.answers[path].extend(answers)

    def __enter__(self):
        # The server polls for its shutdown.
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()
