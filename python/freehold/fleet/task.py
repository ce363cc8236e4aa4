"""The unit of work: one file, replayed whole, as rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from .. import _native
from ..errors import FreeholdError
from ..run import Engine, predict, replay

_TEXT = ["suite", "workload", "engine", "op", "metric", "stat", "unit", "origin", "source", "file", "content", "n", "params"]
_MACHINE = ["version", "commit", "compiler", "cpu", "governor", "system", "architecture"]

#: The columns of a fleet's rows: those of `Results.records`, and what is known of the task.
SCHEMA = pa.schema(
    [pa.field("path", pa.string()), pa.field("family", pa.string()), pa.field("error", pa.string())]
    + [pa.field("settings", pa.string())]
    + [pa.field(name, pa.string()) for name in _TEXT]
    + [pa.field(name, pa.float64()) for name in ("value", "lo", "hi")]
    + [pa.field(name, pa.int64()) for name in ("samples", "from")]
    + [pa.field(name, pa.bool_()) for name in ("exact", "compared", "default", "ours", "linux")]
    + [pa.field("ratio", pa.float64())]
    + [pa.field(name, pa.string()) for name in _MACHINE]
    + [pa.field("optimised", pa.bool_())]
    + [pa.field(name, pa.int64()) for name in ("cpus", "clock_step_ns", "memory_bytes")]
)

#: The family of a file that cannot be read.
_UNKNOWN = "unknown"


@dataclass(frozen=True)
class Task:
    """What is done with each file."""

    engines: tuple[Engine, ...]
    rounds: int
    settings: tuple[tuple[str, ...], ...] = ()

    def run(self, path: str) -> pa.Table:
        """Replays a file. What cannot be is one row with an error."""
        family = _UNKNOWN
        try:
            family = _native.family_of(path)
            tables = [self._replayed(path, family)]
            if family == "kva":
                tables.extend(self._predicted(path, one) for one in self.settings)
            return pa.concat_tables(tables)
        except FreeholdError as error:
            return failure(path, str(error), family)

    def _replayed(self, path: str, family: str) -> pa.Table:
        engines = chosen(self.engines, family)
        if self.engines and not engines:
            names = ", ".join(str(engine) for engine in self.engines)
            return failure(path, f"{path}: none of {names} is of the family {family}", family)
        return _rows(path, family, replay(path, engines, self.rounds, progress=False), None)

    def _predicted(self, path: str, settings: tuple[str, ...]) -> pa.Table:
        return _rows(path, "kva", predict(path, settings), " ".join(settings))


def chosen(engines: Iterable[Engine], family: str) -> list[Engine]:
    """Those of a family. Names that are of no family stay, for the replay to refuse them."""
    families = ("kva", "percpu", "maple")
    known = {name: set(_native.engines(name)) for name in families}
    known = {name: labels | {label.split(":")[0] for label in labels} for name, labels in known.items()}

    def is_of(engine: Engine) -> bool:
        if not isinstance(engine, str):
            return family == "kva"
        return engine in known[family] or all(engine not in labels for labels in known.values())

    return [engine for engine in engines if is_of(engine)]


def failure(path: str, error: str, family: str = _UNKNOWN) -> pa.Table:
    """The row of a file that was not replayed."""
    return pa.Table.from_pylist([{"path": path, "family": family, "error": error}], schema=SCHEMA)


def _rows(path: str, family: str, results: _native.Results, settings: str | None) -> pa.Table:
    records = results.records().to_pylist()
    default = {_compared(record): record["value"] for record in records if record["default"]}
    task: dict[str, Any] = {"path": path, "family": family, "settings": settings, **results.environment}
    for record in records:
        by = default.get(_compared(record))
        record["ratio"] = record["value"] / by if by and record["compared"] else None
        record.update(task)
    # Notes are of a replay that went well, but for a failure.
    failed = [note for note in results.notes if results.failed and note.startswith("FAILED")]
    rows = pa.Table.from_pylist(records, schema=SCHEMA)
    return pa.concat_tables([rows, *(failure(path, note, family) for note in failed)])


def _compared(record: dict[str, Any]) -> tuple[Any, ...]:
    """What two figures must have in common to be compared."""
    return tuple(record[name] for name in ("workload", "op", "metric", "stat", "n", "params"))
