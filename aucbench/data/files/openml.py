"""Data sets of OpenML, by number or name: a description says where the data are and what the label is."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

from aucbench.contracts import File
from aucbench.data.files import locate
from aucbench.errors import DataError, FetchError

SITE = "https://www.openml.org"


def resolve(name: str, files: tuple[File, ...]) -> tuple[File, ...]:
    """The files with those of kind ``openml`` replaced by what their description points to.

    The path of such a file is ``openml/310`` or ``openml/mammography``; the description is fetched and kept
    like any file.

    Raises
    ------
    FetchError
        There is no such data set, or no source has it.
    DataError
        A description that is not understood.
    """
    return tuple(_resolved(name, file) if file.kind == "openml" else file for file in files)


def _resolved(name: str, file: File) -> File:
    wanted = file.path.removeprefix("openml/")
    number = wanted if wanted.isdigit() else _number_of(name, wanted)
    facts = _read(name, f"openml/{number}.json", f"{SITE}/api/v1/json/data/{number}")
    try:
        facts = facts["data_set_description"]
        arff, parquet = facts.get("url"), facts.get("parquet_url") or facts.get("minio_url")
        known = file.table
        target = facts.get("default_target_attribute") if known.target == -1 else known.target
        ignored = [facts.get("row_id_attribute"), *_many(facts.get("ignore_attribute"))]
    except (AttributeError, KeyError, TypeError):
        raise DataError(f"{name}: the description of OpenML's data set {number} is not understood.") from None
    if isinstance(target, str) and "," in target:
        raise DataError(
            f"{name}: OpenML's data set {number} has several labels ({target}); set dataset.target."
        )
    if not target:
        raise DataError(f"{name}: OpenML's data set {number} names no label; set dataset.target.")
    drop = tuple(dict.fromkeys([*known.drop, *(column for column in ignored if column and column != target)]))
    table = type(known)(target=target, drop=drop, missing=known.missing)
    choices = [("arff", arff), ("parquet", parquet)]
    kinds = [
        File(
            f"openml/{number}.{kind}", file.part, file.rows, file.labels, urls=(url,), kind=kind, table=table
        )
        for kind, url in choices
        if url and (kind != "arff" or str(facts.get("format", "ARFF")).lower() == "arff")
    ]
    return _first_found(name, number, kinds)


def _first_found(name: str, number: str, kinds: list[File]) -> File:
    refusal: FetchError | None = None
    for each in kinds:
        try:
            locate.find(name, each)
        except FetchError as error:
            refusal = refusal or error
        else:
            return each
    raise refusal or DataError(f"{name}: OpenML's data set {number} has neither ARFF nor Parquet.")


def _number_of(name: str, wanted: str) -> str:
    address = f"{SITE}/api/v1/json/data/list/data_name/{quote(wanted)}/limit/50/status/active"
    found = _read(name, f"openml/named-{quote(wanted, safe='')}.json", address)
    try:
        listed = found["data"]["dataset"]
        versions = [(int(each.get("version", 1)), int(each["did"])) for each in listed]
        return str(min(versions)[1])  # the first version still active, as scikit-learn takes it
    except (KeyError, TypeError, ValueError, AttributeError):
        raise DataError(f"{name}: OpenML has no active data set named {wanted!r}.") from None


def _read(name: str, path: str, address: str) -> Any:
    found = locate.find(name, File(path, urls=(address,), kind="openml"))
    try:
        return json.loads(Path(found.path).read_text())
    except ValueError:
        locate.discard(found.path)
        raise DataError(f"{name}: {found.source} is no JSON, expected OpenML's description.") from None


def _many(value: Any) -> list[str]:
    return [] if not value else [value] if isinstance(value, str) else list(value)
