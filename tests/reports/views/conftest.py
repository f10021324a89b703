"""Pages are opened in a real browser, when there is one."""

import pytest


@pytest.fixture
def visit(browser):
    """A function that opens an address in a new window; the end asserts that no error was reported."""
    contexts, errors, requests = [], [], []

    def opened(address, **options):
        context = browser.new_context(**options)
        contexts.append(context)
        tab = context.new_page()
        tab.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        tab.on("pageerror", lambda error: errors.append(str(error)))
        tab.on("dialog", lambda dialog: (errors.append(dialog.message), dialog.dismiss()))
        tab.on("request", lambda request: requests.append(request.url))
        tab.goto(address)
        tab.locator("html[data-ready]").wait_for(state="attached", timeout=20_000)
        return tab

    yield opened
    for context in contexts:
        context.close()
    assert errors == []
    assert [url for url in requests if not url.startswith(("file:", "data:"))] == []
