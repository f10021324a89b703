"""Data sets of OpenML, by number or name: a description names the data file and the label."""

import json
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from aucbench.contracts import File
from aucbench.data.files import locate
from aucbench.errors import DataError

SITE = "https://www.openml.org"


def resolve(name: str, files: tuple[File, ...]) -> tuple[File, ...]:
    """The files with those of kind ``openml`` replaced by the data files that their descriptions name.

    The path of such a file is ``openml/310`` or ``openml/mammography``; the description is fetched and kept
    like any file.
    """
    return tuple(_resolved(name, file) if file.kind == "openml" else file for file in files)


def _resolved(name: str, file: File) -> File:
    key = file.path.removeprefix("openml/")
    number = key if key.isdigit() else _number_of(name, key)
    facts = _read(name, f"openml/{number}.json", f"{SITE}/api/v1/json/data/{number}")
    try:
        facts = facts["data_set_description"]
        parquet = facts.get("parquet_url")
        arff = facts.get("url") if str(facts.get("format", "ARFF")).lower() == "arff" else None
        table = file.table
        target = facts.get("default_target_attribute") if table.target == -1 else table.target
        ignored = facts.get("ignore_attribute") or []
        ignored = [facts.get("row_id_attribute"), *([ignored] if isinstance(ignored, str) else ignored)]
    except (AttributeError, KeyError, TypeError):
        raise DataError(f"{name}: the description of OpenML's data set {number} is not understood.") from None
    if isinstance(target, str) and "," in target:
        raise DataError(
            f"{name}: OpenML's data set {number} has several labels ({target}); set dataset.target."
        )
    if not target:
        raise DataError(f"{name}: OpenML's data set {number} names no label; set dataset.target.")
    drop = tuple(dict.fromkeys([*table.drop, *(column for column in ignored if column and column != target)]))
    resolved = replace(table, target=target, drop=drop)
    kind, url = ("arff", arff) if arff else ("parquet", parquet)
    if not url:
        raise DataError(f"{name}: OpenML's data set {number} has neither ARFF nor Parquet.")
    path = f"openml/{number}.{kind}"
    return File(path, file.part, file.rows, file.labels, urls=(url,), kind=kind, table=resolved)


def _number_of(name: str, key: str) -> str:
    address = f"{SITE}/api/v1/json/data/list/data_name/{quote(key)}/limit/50/status/active"
    reply = _read(name, f"openml/named-{quote(key, safe='')}.json", address)
    try:
        entries = reply["data"]["dataset"]
        versions = [(int(entry.get("version", 1)), int(entry["did"])) for entry in entries]
        return str(min(versions)[1])  # the first active version, as in scikit-learn
    except (KeyError, TypeError, ValueError, AttributeError):
        raise DataError(f"{name}: OpenML has no active data set named {key!r}.") from None


def _read(name: str, path: str, address: str) -> Any:
    file = locate.find(name, File(path, urls=(address,), kind="openml"))
    try:
        return json.loads(file.path.read_text())
    except ValueError:
        locate.discard(file.path)
        raise DataError(f"{name}: {file.source} is no JSON, expected OpenML's description.") from None
