"""The file of an archive: a ZIP of JSON and Parquet, written atomically and checked when read.

The file is untrusted data. Nothing in it is executed, no name in it becomes a path, sizes are bounded before
anything is unpacked, and each entry must match its digest in the manifest. A file that fails a check is
refused as a whole; the error names the entries and the reasons.
"""

import hashlib
import json
import os
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from io import BytesIO
from math import isclose, isfinite
from pathlib import Path
from typing import Any, TypeVar
from zipfile import ZIP_DEFLATED, ZIP_LZMA, BadZipFile, ZipFile, ZipInfo

import msgspec
import numpy as np
from msgspec import UNSET, structs
from numpy.typing import NDArray

from aucbench.data.splits.protocols import PROTOCOLS
from aucbench.errors import DataError, ParameterError
from aucbench.evaluation.measures import AUC
from aucbench.studies.archives.archive import FORMAT, Archive, EntryDigest, Manifest
from aucbench.studies.codec import decode, encode, subset
from aucbench.studies.record import (
    DESCRIPTION,
    WORD,
    CellRecord,
    EntryDescription,
    FailureRecord,
    ReplicationRecord,
    StudyPlan,
)
from aucbench.studies.result import COSTS, CURVE, CellResult
from aucbench.studies.tuners import TUNINGS

MANIFEST = "manifest.json"
CELLS, FAILURES, PLANS, OTHERS = "cells.json", "failures.json", "plans.json", "replications.json"
CURVES, WEIGHTS, SCORES = "curves.parquet", "weights.parquet", "scores.parquet"
NEEDED = (MANIFEST, CELLS, FAILURES, PLANS, OTHERS, CURVES)
ENTRIES = (*NEEDED, WEIGHTS, SCORES)
MB = 2**20
LARGEST_FILE = 200 * MB
LARGEST = 1000 * MB  # unpacked bytes of all entries of a file, or of all columns of a table
LARGEST_ARRAYS = 100_000_000  # numbers in all arrays of a Parquet entry
WHOLE_NUMBERS = ("iteration", "samples")
SINGLE, DOUBLE = "float32", "float64"  # columns of scores; a cell has values in one column
DATE = (1980, 1, 1, 0, 0, 0)  # fixed date of ZIP entries: equal content gives equal bytes
KEY = re.compile(r"[0-9a-f]{64}")
ROUNDING = 1e-6  # relative tolerance for the single precision of compact archives
SHIPPED = "reference.zip"  # the reference study under ruleset=trials

Arrays = Mapping[str, Mapping[str, NDArray[Any]]]  # arrays by key and name
T = TypeVar("T")


def shipped(name: str = SHIPPED) -> Path | None:
    """A results file in the package, else in the checkout's documentation; None if there is none.

    The default is the archive of the reference study under ruleset=trials.
    """
    package = Path(__file__).resolve().parents[2]
    paths = (package / "results" / name, package.parent / "docs" / "results" / name)
    return next((path for path in paths if path.is_file()), None)


def write(archive: Archive, file: str | Path) -> Manifest:
    """Write an archive to a file atomically; return its manifest."""
    path, cells = Path(file), archive.cells
    weights = {key: {"weights": cell.weights} for key, cell in cells.items() if cell.weights is not None}
    scores = {
        key: {SINGLE if cell.scores.dtype == SINGLE else DOUBLE: cell.scores}
        for key, cell in cells.items()
        if cell.scores is not None
    }
    contents = {
        CELLS: _lines(cell.record for cell in cells.values()),
        FAILURES: _lines(archive.failed.values()),
        PLANS: _lines(archive.studies),
        OTHERS: _lines(run for runs in archive.others.values() for run in runs),
        CURVES: _parquet({key: cell.curve for key, cell in cells.items()}, archive.compact),
        **({WEIGHTS: _parquet(weights, archive.compact)} if weights else {}),
        **({SCORES: _parquet(scores, compact=False)} if scores else {}),
    }
    manifest = Manifest(
        aucbench=version("aucbench"),
        made=datetime.now(UTC).isoformat(timespec="seconds"),
        entries={name: EntryDigest(len(text), _sha256(text)) for name, text in contents.items()},
        **archive.summary(),
    )
    content = msgspec.to_builtins(manifest)
    text = json.dumps(content | {"digest": _digest(content)}, indent=1, sort_keys=True).encode()
    part = path.parent / f"{path.name}.part"
    method = ZIP_LZMA if archive.compact else ZIP_DEFLATED  # LZMA is a quarter smaller, and slower
    try:
        with ZipFile(part, "w") as zipped:
            for name, content in {MANIFEST: text, **contents}.items():
                zipped.writestr(ZipInfo(name, DATE), content, method, 9)
        os.replace(part, path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise ParameterError(f"{path} cannot be written: {error.strerror}.") from error
    return manifest


def read(file: str | Path) -> tuple[Manifest, Archive]:
    """Read an archive; raise a DataError that names damaged, edited or unknown entries and the reasons."""
    path = Path(file)
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise DataError(f"{path} has more than {LARGEST_FILE // MB} MB, which no archive may have.")
        with ZipFile(path) as zipped:
            contents = _unpacked(path, zipped)
    except FileNotFoundError:
        raise ParameterError(f"There is no archive {path}.") from None
    except (OSError, BadZipFile, NotImplementedError) as error:
        raise DataError(f"{path} is no archive of results ({error}).") from None
    manifest = _manifest(path, contents)
    records = _parsed(path, CELLS, contents, CellRecord)
    keys = {record.key for record in records}
    curves, weights, scores = (
        _arrays(path, name, contents[name], keys) if name in contents else {}
        for name in (CURVES, WEIGHTS, SCORES)
    )
    replications: dict[str, tuple[ReplicationRecord, ...]] = {}
    for run in _parsed(path, OTHERS, contents, ReplicationRecord):
        replications[run.key] = (*replications.get(run.key, ()), run)
    archive = Archive(
        path=str(path),
        cells={
            record.key: CellResult(
                record,
                dict(curves.get(record.key, {})),
                weights.get(record.key, {}).get("weights"),
                scores=next(iter(scores.get(record.key, {}).values()), None),
            )
            for record in records
        },
        studies=tuple(_parsed(path, PLANS, contents, StudyPlan)),
        failed={failure.key: failure for failure in _parsed(path, FAILURES, contents, FailureRecord)},
        others=replications,
        compact=manifest.compact,
    )
    _refuse(path, [*_contradictions(archive, manifest, len(records))])
    return manifest, archive


def _unpacked(path: Path, zipped: ZipFile) -> dict[str, bytes]:
    """The bytes of the entries by name; DataError if a name is wrong or the entries are too large."""
    infos = zipped.infolist()
    names = [info.filename for info in infos]
    problems = [f"{name!r} is no entry of an archive" for name in names if name not in ENTRIES]
    problems += [f"{name} is there twice" for name in ENTRIES if names.count(name) > 1]
    problems += [f"{name} is missing" for name in NEEDED if name not in names]
    if sum(info.file_size for info in infos) > LARGEST:
        largest = max(infos, key=lambda info: info.file_size)
        problems.append(f"it unpacks to more than {LARGEST // MB} MB, {largest.filename} above all")
    _refuse(path, problems)
    contents: dict[str, bytes] = {}
    for info in infos:
        try:
            with zipped.open(info) as handle:
                contents[info.filename] = handle.read(info.file_size + 1)
        except (OSError, BadZipFile, EOFError, RuntimeError, ValueError, zlib.error) as error:
            problems.append(f"{info.filename} is damaged ({error})")
    _refuse(path, problems)
    return contents


def _manifest(path: Path, contents: dict[str, bytes]) -> Manifest:
    """Remove the manifest from the contents and return it; all other entries must match its digests."""
    content = contents.pop(MANIFEST)
    try:
        manifest = decode(content, Manifest)
    except msgspec.DecodeError as error:
        raise DataError(f"{path}: {MANIFEST} cannot be read ({error}).") from None
    if manifest.format > FORMAT:
        raise DataError(
            f"{path}: {MANIFEST} states format {manifest.format}, and this aucbench reads formats up to "
            f"{FORMAT}: use a newer one."
        )
    if manifest.digest != _digest(json.loads(content)):
        raise DataError(f"{path}: {MANIFEST} is not what its own digest says: it was changed or damaged.")
    digests = {name: entry.sha256 for name, entry in manifest.entries.items()}
    wrong = [name for name, text in contents.items() if digests.get(name) != _sha256(text)]
    _refuse(path, [f"{name} is not what the manifest's digest says: it was changed" for name in wrong])
    return manifest


def _digest(manifest: dict[str, Any]) -> str:
    """The digest of all fields except `digest`."""
    return _sha256(json.dumps(manifest | {"digest": ""}, sort_keys=True).encode())


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _lines(records: Iterable[Any]) -> bytes:
    return b"".join(encode(record) + b"\n" for record in records)


def _parsed(path: Path, name: str, contents: Mapping[str, bytes], kind: type[T]) -> list[T]:
    """The records of an entry, one per line."""
    records = []
    for number, line in enumerate(contents[name].split(b"\n")[:-1], 1):
        try:
            records.append(decode(line, kind))
        except msgspec.DecodeError as error:
            raise DataError(f"{path}: {name} cannot be read in line {number} ({error}).") from None
    return records


def _parquet(rows: Arrays, compact: bool) -> bytes:
    """A Parquet table with a row per key and a column of lists per array name."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    default = pa.float32() if compact else pa.float64()
    kinds = {SINGLE: pa.float32()} | dict.fromkeys(WHOLE_NUMBERS, pa.int64())
    columns: dict[str, Any] = {"key": pa.array(list(rows), pa.string())}
    for name in dict.fromkeys(name for arrays in rows.values() for name in arrays):
        kind = pa.list_(kinds.get(name, default))
        columns[name] = pa.array([arrays.get(name) for arrays in rows.values()], kind)
    sink = BytesIO()
    pq.write_table(pa.table(columns), sink, compression="zstd", compression_level=19)
    return sink.getvalue()


def _arrays(path: Path, name: str, content: bytes, keys: set[str]) -> Arrays:
    """Arrays by key and name, of a table with a column of keys and columns of lists of numbers."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    lists = [pa.list_(kind) for kind in (pa.int64(), pa.float32(), pa.float64())]
    try:
        # Keys stay dictionary-encoded: repeated long keys would take far more memory than the file.
        file = pq.ParquetFile(BytesIO(content), read_dictionary=["key"])
        groups = [file.metadata.row_group(at) for at in range(file.metadata.num_row_groups)]
        columns = [group.column(at) for group in groups for at in range(group.num_columns)]
        sizes = (
            (file.metadata.num_rows, len(keys)),
            (sum(chunk.num_values for chunk in columns), LARGEST_ARRAYS),
            (sum(chunk.total_uncompressed_size for chunk in columns), LARGEST),
        )
        if any(size > largest for size, largest in sizes):
            raise ValueError("more rows or numbers than its cells can have")
        table = file.read()
        types = {field.name: field.type for field in table.schema}
        is_known = types.pop("key", None) == pa.dictionary(pa.int32(), pa.string())
        if not is_known or len(types) + 1 < table.num_columns or any(t not in lists for t in types.values()):
            raise ValueError("other columns than one key and different lists of numbers")
        if unknown := {text for chunk in table["key"].chunks for text in chunk.dictionary.to_pylist()} - keys:
            raise ValueError(f"the key {min(unknown)[:70]!r}, which no cell has")
        rows: dict[str, dict[str, NDArray[Any]]] = {key: {} for key in table["key"].to_pylist()}
        if len(rows) < table.num_rows:
            raise ValueError("two rows of one key")
    except (pa.ArrowException, OSError, ValueError, KeyError, MemoryError) as error:
        raise DataError(f"{path}: {name} is refused ({str(error)[:200]}).") from None
    kinds: dict[str, Any] = dict.fromkeys(WHOLE_NUMBERS, np.int64) | {SINGLE: np.float32}
    for column in types:
        kind = kinds.get(column, np.float64)
        for arrays, values in zip(rows.values(), table[column], strict=True):
            if values.is_valid:
                arrays[column] = np.asarray(values.values.to_numpy(zero_copy_only=False), kind)
    return rows


def _refuse(path: Path, problems: list[str]) -> None:
    if problems:
        more = f"; and {len(problems) - 5} more" if len(problems) > 5 else ""
        raise DataError(f"{path} is refused: {'; '.join(problems[:5])}{more}.")


def _contradictions(archive: Archive, manifest: Manifest, records: int) -> Iterator[str]:
    """Yield contradictions within an archive; `records` counts the cells read, repeated keys included.

    The record types check each value alone; this function checks values against each other.
    """
    if len(archive.cells) != records:
        yield "cells.json has two cells of one key"
    summary = archive.summary()
    for name in ("studies", "cells", "failures", "sources", "distributions"):
        if getattr(manifest, name) not in (summary[name], UNSET):
            yield f"the {name} are others than the manifest states"
    if len(set(summary["studies"])) < len(archive.studies):
        yield "plans.json has a study twice"
    planned: dict[str, tuple[Any, ...]] = {}
    for entry in (entry for plan in archive.studies for entry in plan.entries):
        entry_fields = (entry.algorithm, entry.dataset, _settings(entry.described))
        planned |= {key: (*entry_fields, seeds) for key, seeds in entry.cells.items()}
        yield from (f"{entry.algorithm[:40]!r} of plans.json {text}" for text in _unsafe(entry.described))
        if not entry.cells or (entry.ruleset and not re.fullmatch(WORD, entry.ruleset.title)):
            yield f"{entry.algorithm[:40]!r} of plans.json has no cells, or a ruleset without a name"
    yield from (f"the key {key[:70]!r} is none" for key in planned if not KEY.fullmatch(key))
    for key in (*archive.cells, *archive.failed):
        if key not in planned:
            yield f"cell {key[:70]!r} belongs to no study"
    for key in archive.others.keys() - archive.cells.keys():
        yield f"replications.json names a cell {key[:70]!r} that is not there"
    for key, cell in archive.cells.items():
        record = cell.record
        yield from (f"cell {key[:12]} {text}" for text in _cell_problems(cell))
        cell_fields = (record.algorithm.name, record.dataset.title, _settings(record), record.seeds)
        if planned.get(key, cell_fields) != cell_fields:
            yield from (f"cell {key[:12]} {text}" for text in _unsafe(record))
            yield f"cell {key[:12]} is not the one that its study planned"


def _settings(described: EntryDescription) -> dict[str, Any]:
    """The description of a cell without the family of its data set, which plans lack."""
    fields = subset(described, DESCRIPTION)
    return fields | {"dataset": structs.replace(described.dataset, family=UNSET)}


def _unsafe(described: EntryDescription) -> Iterator[str]:
    """Yield values that a rerun could not compose, or would resolve as interpolations."""
    for name, classes in ((described.protocol.name, PROTOCOLS), (described.tuning.name, TUNINGS)):
        if all(name != cls.name for cls in classes):  # type: ignore[attr-defined]
            yield f"has the protocol or tuning {name[:70]!r}, which does not exist"
    if b"${" in msgspec.json.encode(described):
        yield "has a value that would be resolved when it is run"


def _cell_problems(cell: CellResult) -> Iterator[str]:
    record, curve, result = cell.record, cell.curve, cell.record.result
    if record.data.train_positives > record.data.train_rows:
        yield "has numbers of rows that cannot be"
    if (result.auc is None) != record.diverged:
        yield "has an AUC although it diverged, or none although it did not"
    if cell.scores is not None and len(cell.scores) != record.data.test_rows:
        yield f"has {len(cell.scores)} scores, expected one for each of {record.data.test_rows} test rows"
    if result.iterations and not result.train_seconds:
        yield "has iterations that took no time"
    aucs = curve.get(AUC.name, np.empty(0))
    if not {*CURVE} <= curve.keys() or len({len(values) for values in curve.values()}) != 1:
        yield "has no curve, or one of unequal columns"
    elif len(aucs) or not record.diverged:
        if not len(aucs) or np.any((aucs < 0) | (aucs > 1)):
            yield "has a curve outside of 0 to 1"
        elif result.auc is not None and not isclose(aucs[-1], result.auc, rel_tol=ROUNDING):
            yield f"has AUC {result.auc}, and its curve ends at {aucs[-1]}"
        yield from (
            f"has a curve whose {name} does not grow"
            for name in COSTS
            if name in curve and not _ascends(curve[name])
        )


def _ascends(values: NDArray[Any]) -> bool:
    """Whether values are finite and never fall."""
    is_rising = bool((values[1:] >= values[:-1]).all())  # False if a value is NaN
    return is_rising and all(map(isfinite, (*values[:1], *values[-1:])))
