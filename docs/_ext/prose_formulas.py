"""Formulas within the sentences of docstrings, which nothing marks there, such as ``eta / sqrt(t)``."""

import re
from collections.abc import Iterator

from formulas import ACCENTS, GREEK

NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?(?:e[+-]?\d+)?(?![\w%])")
SYMBOL = re.compile(rf"(?:{'|'.join([*GREEK, *ACCENTS])}|nnz|[A-Za-z\u0391-\u03c9])\d{{0,2}}(?![^\W_])")
NAME = re.compile(
    r"(?:margin|scale|weight|eps|smooth|rskip|radius|buffer|block|seen|batch|decay|degree|sparsity)(?!\w)"
)
CALL = re.compile(r"(?:max|min|sqrt|log|exp|sign|clip|floor|ceil|proj|[A-Z]{2,3}|[A-Za-z])'?\(")
SCRIPT = re.compile(
    r"_(?:\w{1,2}(?!\w)|[+-](?=[\s),.;^]|$)|\([^()]+\)|\{[^{}]+\})|\^(?:[+-]?\d+(?:\.\d+)?|\w|\([^()]+\)|\{[^{}]+\})|'(?![a-zA-Z])|²"
)
CLASS = re.compile(r"[+-](?=[\s),.;:^|]|$)|[+-](?=_)|\*(?=[\s),.;:|]|$)")
SIGN = re.compile(r"\s?(?:<=|>=|\+=|-=|[=<>])\s?|\s[-+*/]\s|/(?=[\w(])")
BEFORE = re.compile(r"(?:^|\s|(?<!\w)[(\[])$")
AFTER = re.compile(r"(?:[\s,;:)\].?!—]|$)")
BESIDE = re.compile(r" ?(?=[\w(|])")
MINUS = re.compile(r"[-+](?=[\w(|])")
ARTICLES = {"a", "A", "I"}


def parts(text: str) -> Iterator[tuple[bool, str]]:
    """A text in pieces, each with whether it is a formula."""
    begin = place = 0
    while place < len(text):
        end = _formula(text, place) if BEFORE.search(text[max(0, place - 2) : place]) else None
        if end is None:
            place += 1
            continue
        if begin < place:
            yield False, text[begin:place]
        yield True, text[place:end]
        begin = place = end
    if begin < len(text):
        yield False, text[begin:]


def _formula(text: str, start: int) -> int | None:
    """The end of the longest formula that starts here and that is more than an article or a number."""
    end = start
    for end in sorted(_ends(text, start), reverse=True):
        found = text[start:end]
        follows = text[end : end + 2]
        if not AFTER.match(follows) or re.match(r"\.\w|=", follows):
            continue
        plain = found in ARTICLES or NAME.fullmatch(found) or re.fullmatch(r"[\d,.]+", found)
        if not plain and found not in ("e.g", "i.e") and not re.fullmatch(r"\d+\s?/\s?\d+|\(\w+\)", found):
            return end
    return None


def _ends(text: str, start: int) -> set[int]:
    """Where an expression that starts here may end, terms joined by signs."""
    ends: set[int] = set()
    sign = MINUS.match(text, start)
    place = _term(text, sign.end() if sign else start)
    while place is not None:
        ends.add(place)
        joined = SIGN.match(text, place)
        if not joined:
            break
        following = joined.end()
        if minus := MINUS.match(text, following):
            following = minus.end()
        place = _term(text, following)
    return ends


def _term(text: str, start: int) -> int | None:
    """Factors beside each other; an article is a factor where it is the only one."""
    place = _factor(text, start)
    if place is None or text[start:place] in ARTICLES or NAME.fullmatch(text, start, place):
        return place
    while joined := BESIDE.match(text, place):
        following = _factor(text, joined.end())
        if following is None or text[joined.end() : following] in ("a", "A"):
            break
        if NAME.fullmatch(text, joined.end(), following) or (
            not joined[0] and text[joined.end()] not in "(|"
        ):
            break
        place = following
    return place


def _factor(text: str, start: int) -> int | None:
    """A number, a symbol, a call or a bracket, with its scripts and with what it is multiplied by."""
    if text.startswith("log ", start):
        return _factor(text, start + 4)
    opened = CALL.match(text, start)
    if opened:
        place = _list(text, opened.end(), ")")
    elif text[start : start + 1] == "(":
        place = _list(text, start + 1, ")")
    elif text[start : start + 1] == "|":
        place = _list(text, start + 1, "|")
    else:
        found = NUMBER.match(text, start) or NAME.match(text, start) or SYMBOL.match(text, start)
        place = found.end() if found else None
        if found and (letter := CLASS.match(text, place)) and found[0].isalpha():
            place = letter.end()
    if place is None:
        return None
    while script := SCRIPT.match(text, place):
        place = script.end()
    if text[place : place + 1] == "." and re.match(r"[A-Za-z(]", text[place + 1 : place + 2]):
        return _factor(text, place + 1) or place
    return place


def _list(text: str, start: int, closing: str) -> int | None:
    """Expressions between commas, up to the closing bracket."""
    place = start
    while True:
        for end in sorted(_ends(text, place), reverse=True):
            if text.startswith(closing, end):
                return end + 1
            if text.startswith(", ", end) and closing == ")":
                place = end + 2
                break
        else:
            return None
