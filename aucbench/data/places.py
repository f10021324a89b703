"""Folders and addresses that users name in the environment."""

import os
from pathlib import Path
from urllib.parse import unquote, urlsplit

from aucbench.errors import ParameterError

_WANTED = "expected a folder or an address that begins with http:// or https://"


def folder_of(text: str, what: str) -> Path:
    """A folder by an absolute path; ~ is the user's home.

    Parameters
    ----------
    text : str
        What the user wrote.
    what : str
        Where it was written, for messages.

    Raises
    ------
    ParameterError
        The home of a user who does not exist.
    """
    try:
        return Path(text).expanduser().absolute()
    except RuntimeError:
        raise ParameterError(f"{what} is {text!r}, but the home of that user is not known.") from None


def mirror() -> Path | str | None:
    """What `AUCBENCH_MIRROR` names: a folder, also as file:///FOLDER, a web server, or nothing.

    Raises
    ------
    ParameterError
        An address that is malformed or of another kind.
    """
    text = os.environ.get("AUCBENCH_MIRROR", "")
    if "://" not in text:
        return folder_of(text, "AUCBENCH_MIRROR") if text else None
    try:
        parts = urlsplit(text)
        host = (parts.hostname or "").encode("idna").decode()
        _ = parts.port  # is checked when it is asked for
    except ValueError as error:
        raise ParameterError(f"AUCBENCH_MIRROR is {text!r}, {_WANTED} ({error}).") from None
    if parts.scheme == "file" and host in ("", "localhost"):
        return folder_of(unquote(parts.path) or "/", "AUCBENCH_MIRROR")
    if parts.scheme not in ("http", "https") or not host:
        raise ParameterError(f"AUCBENCH_MIRROR is {text!r}, {_WANTED}.")
    return text.rstrip("/")
