"""Formulas as docstrings write them, such as ``w -= eta_t l'(w.z) z``, become MathML, which browsers typeset.

The notation is the one that is readable in ``help()``: Greek letters by name, ``lam`` for lambda, ``x_i`` and
``|w|^2``, ``w.z`` for a product of vectors, ``x+`` and ``x-`` for the classes, ``w*`` for an optimum.
A division takes the whole product before it and the one factor after it; in a line of text it stays a slash.
"""

import re
from collections.abc import Iterator
from html import escape
from itertools import accumulate
from typing import Any, NamedTuple
from unicodedata import lookup

from docutils import nodes

_SMALL = "alpha beta gamma delta epsilon zeta eta theta kappa mu nu xi pi rho sigma tau phi chi psi omega"
GREEK = (
    {name: lookup(f"GREEK SMALL LETTER {name}") for name in _SMALL.split()}
    | {name.title(): lookup(f"GREEK CAPITAL LETTER {name}") for name in _SMALL.split()}
    | {"lam": lookup("GREEK SMALL LETTER LAMDA"), "grad": "∇"}
)
ACCENTS = {"xt": "x\u0303", "ft": "f\u0303", "wb": "w\u0304", "ubar": "u\u0304"}
SIGNS = {
    "<=": "≤",
    ">=": "≥",
    "-": "\u2212",
    "*": "⋅",
    "->": "→",
    "...": "…",
    "+-": "±",
    "sum": "∑",
    "integral": "∫",
}
# Words of sentences, which end the product that a division takes as its numerator.
PROSE = re.compile(
    "above|all|and|any|at|average|before|below|beyond|by|each|else|equal|expected|first|for|from|gaps?|highest|"
    "if|in|is|its|last|largest|likewise|max|mean|min|must|no|number|of|one|others|over|pairs|per|positives?|"
    "negatives?|rows|scores|share|smallest|sum|that|the|then|times|to|where|with|argmin|integral|log"
)
MINUS = SIGNS["-"]
BAR = "\u2223"  # in the place of | in tables of Markdown, where that begins a cell
TOKEN = re.compile(
    r"(?P<number>\d+(?:,\d{3})*(?:\.\d+)?(?:e[+-]?\d+)?)"
    r"|(?P<word>[^\W\d_]+\d*)"
    r"|(?P<sign>\.\.\.|[+-]=|<=|>=|->|\+-|[-+*/=<>.,;:'^_()\[\]{}|~²]|.)"
)
CLASS = re.compile(r"[+-](?![+\-=\w(]|\s*$)|[+-]$|[+-](?=_)")
LABEL = re.compile(r"([^\W\d_][\w -]+?)\s*:(?!=)\s*")


class Token(NamedTuple):
    """A piece of a formula, and the white space before it."""

    kind: str
    text: str
    space: int
    start: int


def block(text: str) -> str:
    """Formulas of one or more lines, displayed; a further indented line goes on from the one above."""
    lines = [line for line in text.expandtabs().splitlines() if line.strip()]
    least = min(len(line) - len(line.lstrip()) for line in lines)
    rows = []
    for line in lines:
        label = LABEL.match(line.strip())
        body = line.strip()[label.end() :] if label else line.strip()
        indent = 0.5 * (len(line) - len(line.lstrip()) - least)
        before = f"<mspace width='{indent}em'/>" if indent else ""
        named = f"<mtext>{escape(label[1])}:</mtext><mspace width='1em'/>" if label else ""
        rows.append(f"<mtr><mtd>{before}{named}{_Formula(body, stacked=True).mathml()}</mtd></mtr>")
    return f"<math display='block'><mtable displaystyle='true'>{''.join(rows)}</mtable></math>"


def inline(text: str) -> str:
    """A formula within a line of text."""
    return f"<math>{_Formula(' '.join(text.split())).mathml()}</math>"


def _tokens(text: str) -> Iterator[Token]:
    position = 0
    while position < len(text):
        space = len(text) - position - len(text[position:].lstrip())
        position += space
        found = TOKEN.match(text, position)
        if not found:
            return
        yield Token(str(found.lastgroup), found[0], space, position)
        position = found.end()


class _Formula:
    """The parser; each method takes its tokens from the left, and returns MathML."""

    def __init__(self, text: str, stacked: bool = False) -> None:
        self.text = text.replace(BAR, "|").replace("²", "^2").replace("Σ", "sum ")
        self.tokens = list(_tokens(self.text))
        self.place = 0
        self.stacked = stacked
        self.bars = 0

    def mathml(self) -> str:
        """The whole text; brackets that do not match are signs like others."""
        parts = []
        while self._next():
            parts.append(self._sequence())
            if self._next():
                parts.append(_operator(self._take().text))
        return _row(parts)

    def _next(self, ahead: int = 0) -> Token | None:
        place = self.place + ahead
        return self.tokens[place] if place < len(self.tokens) else None

    def _take(self) -> Token:
        self.place += 1
        return self.tokens[self.place - 1]

    def _sequence(self) -> str:
        """Everything up to a closing bracket or bar."""
        parts: list[str] = []
        term: list[tuple[str, bool]] = []  # factors, and whether each is a word of prose
        while (token := self._next()) and token.text not in ")]}":
            if token.text == "|" and self.bars and term:
                break
            if token.space > 1 and (parts or term) and token.text not in "=+-:":
                term.append(("<mspace width='1.5em'/>", True))
            if token.text == "/" and term:
                self._take()
                self._divide(term)
            elif self._multiplies(token) and term:
                self._take()
                term.append((_operator("⋅"), False))
            elif token.kind == "sign" and token.text not in "([{|":
                self._take()
                parts += [part for part, _ in term] + [_operator(token.text)]
                term = []
            else:
                self._join(term, token)
        return _row(parts + [part for part, _ in term])

    def _multiplies(self, token: Token) -> bool:
        """Whether a sign is the point of a product of vectors."""
        follows = self._next(1)
        return token.text == "." and not token.space and bool(follows) and not follows.space

    def _join(self, term: list[tuple[str, bool]], token: Token) -> None:
        """One more factor, with a space beside a word."""
        word = token.kind == "word" and len(_letters(token.text)) > 1 and token.text not in GREEK | ACCENTS
        attached = self._next(1)
        before = term[-1][0] if term else ""
        if before and (token.space and (word or before.endswith(("</mtext>", "<!--w-->")))):
            term.append(("<mspace width='0.3em'/>", True))
        follows = self._next(1)
        if token.text == "sum" and follows and PROSE.fullmatch(follows.text):
            self._take()
            factor = "<mtext>sum</mtext>"
        else:
            factor = self._factor()
        called = word and attached and attached.text == "(" and not attached.space and token.text != "sqrt"
        if called:
            factor = _row([factor, self._factor()])
        term.append((factor + ("<!--w-->" if word else ""), bool(PROSE.fullmatch(token.text)) and not called))

    def _divide(self, term: list[tuple[str, bool]]) -> None:
        start = len(term)
        while start and not term[start - 1][1]:
            start -= 1
        start = min(start, len(term) - 1)
        above = _row([part for part, _ in term[start:]])
        follows = self._next()
        below = _row([self._signed()]) if follows else ""
        del term[start:]
        if self.stacked:
            term.append((f"<mfrac>{_bare(above)}{_bare(below)}</mfrac>", False))
        else:
            term.append((_row([above, "<mo lspace='0.1em' rspace='0.1em'>/</mo>", below]), False))

    def _signed(self) -> str:
        token = self._next()
        if token and token.text in "+-":
            return _row([_operator(self._take().text, "prefix"), self._factor()])
        return self._factor()

    def _factor(self) -> str:
        """A symbol, a number, a call of sqrt or a bracket, with its scripts."""
        token = self._take()
        if token.text in "([{":
            base = self._bracket(token.text)
        elif token.text == "|":
            self.bars += 1
            inner = self._sequence()
            self.bars -= 1
            if self._next():
                self._take()
            bar = "<mo stretchy='false' form='{}'>|</mo>"
            base = f"<mrow>{bar.format('prefix')}{inner}{bar.format('postfix')}</mrow>"
        elif token.text == "sqrt" and (follows := self._next()) and follows.text == "(":
            bars, self.bars = self.bars, 0
            self._take()
            base = f"<msqrt>{self._sequence()}</msqrt>"
            self.bars = bars
            if self._next():
                self._take()
        else:
            base = _symbol(token)
        return self._scripts(base, token)

    def _bracket(self, opening: str) -> str:
        bars, self.bars = self.bars, 0
        inner = self._sequence()
        self.bars = bars
        closing = self._take().text if self._next() else ""
        if opening == "{":
            return _row([inner])
        size = "" if "<mfrac>" in inner else " stretchy='false'"
        shut = f"<mo form='postfix'{size}>{closing}</mo>" if closing else ""
        return f"<mrow><mo form='prefix'{size}>{opening}</mo>{inner}{shut}</mrow>"

    def _scripts(self, base: str, token: Token) -> str:
        below, above = [], []
        if token.kind == "word" and len(letters := _letters(token.text)) < len(token.text):
            below.append(f"<mn>{token.text[len(letters) :]}</mn>")
        while (follows := self._next()) and not follows.space:
            if follows.text == "'":
                self._take()
                above.append("<mo lspace='0' rspace='0'>&#x2032;</mo>")
            elif follows.text == "*" and self._ends(1):
                self._take()
                above.append("<mo lspace='0' rspace='0'>*</mo>")
            elif (
                follows.text in "+-"
                and token.kind == "word"
                and not above
                and CLASS.match(self.text, follows.start)
            ):
                self._take()
                above.append(f"<mo lspace='0' rspace='0'>{SIGNS.get(follows.text, follows.text)}</mo>")
            elif follows.text in "_^" and self._next(1):
                self._take()
                (below if follows.text == "_" else above).append(self._script())
            else:
                break
        low, high = (_row(each) if each else "" for each in (below, above))
        if low and high:
            return f"<msubsup>{_one(base)}{_one(low)}{_one(high)}</msubsup>"
        if low:
            return f"<msub>{_one(base)}{_one(low)}</msub>"
        return f"<msup>{_one(base)}{_one(high)}</msup>" if high else base

    def _ends(self, ahead: int) -> bool:
        """Whether a sign before this place belongs to what is on its left."""
        token = self._next(ahead)
        return token is None or bool(token.space) or token.text in ")]|,;.:/^_"

    def _script(self) -> str:
        stacked, self.stacked = self.stacked, False
        token = self._next()
        assert token
        if token.text in "([{":
            self._take()
            found = self._bracket("{")
        elif token.text in "+-":
            self._take()
            follows = self._next()
            number = follows and not follows.space and follows.kind == "number"
            found = _row([_operator(token.text, "prefix"), *([_symbol(self._take())] if number else [])])
        else:
            found = _symbol(self._take())
            if (
                token.kind == "word"
                and len(token.text) == 2
                and token.text.isalpha()
                and token.text not in GREEK
            ):
                found = "".join(f"<mi>{letter}</mi>" for letter in token.text)  # two indices
            elif token.kind == "word" and token.text != _letters(token.text):
                digits = token.text[len(_letters(token.text)) :]
                found = _row([found, f"<mn>{digits}</mn>"])
        self.stacked = stacked
        return found


def _letters(word: str) -> str:
    return word.rstrip("0123456789")


def _symbol(token: Token) -> str:
    if token.kind == "number":
        digits, _, power = token.text.partition("e")
        if not power:
            return f"<mn>{digits}</mn>"
        ten = f"<msup><mn>10</mn><mn>{power.replace('-', MINUS).lstrip('+')}</mn></msup>"
        return ten if digits == "1" else f"<mrow><mn>{digits}</mn><mo>⋅</mo>{ten}</mrow>"
    if token.kind != "word":
        return _operator(token.text)
    word = _letters(token.text)
    if word in SIGNS:
        return f"<mo>{SIGNS[word]}</mo>"
    if word in GREEK:
        return f"<mi>{GREEK[word]}</mi>"
    if word in ACCENTS:
        return f"<mi>{ACCENTS[word]}</mi>"
    return f"<mi>{word}</mi>" if len(word) == 1 else f"<mtext>{escape(word)}</mtext>"


def _operator(text: str, form: str = "") -> str:
    shown = escape(SIGNS.get(text, text))
    return f"<mo{f' form={form!r}' if form else ''}>{shown}</mo>"


def _row(parts: list[str]) -> str:
    parts = [part for part in parts if part]
    return parts[0] if len(parts) == 1 else f"<mrow>{''.join(parts)}</mrow>"


def _one(part: str) -> str:
    """One element, as scripts and fractions want it."""
    return f"<mrow>{part}</mrow>"


def _bare(part: str) -> str:
    """A numerator or denominator without the brackets that the slash needed."""
    found = re.fullmatch(r"<mrow><mo form='prefix'[^>]*>\((.*)\)</mo></mrow>", part)
    depths = (
        list(accumulate((sign == "(") - (sign == ")") for sign in re.findall(r"[()]", found[1])))
        if found
        else []
    )
    if found and min(depths, default=0) >= 0:
        return _one(found[1].removeprefix("</mo>").rpartition("<mo ")[0])
    return _one(part)


def visit_math(translator: Any, node: Any) -> None:
    """Called by Sphinx for a formula in a line."""
    translator.body.append(inline(node.astext()))
    raise nodes.SkipNode


def visit_block(translator: Any, node: Any) -> None:
    """Called by Sphinx for displayed formulas."""
    translator.body.append(f'<div class="formula">{block(node.astext())}</div>')
    raise nodes.SkipNode
