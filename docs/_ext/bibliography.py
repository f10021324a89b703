"""BibTeX files beside the plugins, read for the pages."""

import re
from functools import cache
from importlib import resources

ENTRY = re.compile(r"@(\w+)\{([^,]+),\n(.*?)\n\}", re.DOTALL)
FIELD = re.compile(r"^\s*(\w+)\s*=\s*\{(.*)\},?\s*$", re.MULTILINE)
ACCENTS = {r"{\l}": "ł", r"{\'n}": "ń", r"{\"u}": "ü"}


@cache
def entries(package: str) -> dict[str, str]:
    """The entries of ``references.bib`` in a plugin's package, as they stand there, by key."""
    file = resources.files(package.partition(".")[0]) / "references.bib"
    text = file.read_text(encoding="utf-8") if file.is_file() else ""
    return {match[2]: match[0] for match in ENTRY.finditer(text)}


def sentence(entry: str) -> str:
    """An entry as one line: authors, title, where, year."""
    fields = {name: _plain(value) for name, value in FIELD.findall(entry)}
    where = fields.get("booktitle") or fields.get("journal", "")
    volume = f" {fields['volume']}" if "volume" in fields else ""
    number = f"({fields['number']})" if "number" in fields else ""
    authors = fields.get("author", "").replace(" and others", " et al.").replace(" and ", ", ")
    last = f"{where}{volume}{number}, {fields['year']}" if where else fields.get("year", "")
    return f"{authors}: {fields.get('title', '')}. {last}."


def _plain(text: str) -> str:
    for written, meant in ACCENTS.items():
        text = text.replace(written, meant)
    return text.replace("{", "").replace("}", "")
