"""Replays of many traces: one task a file, one row a figure, on this machine, on Ray or on Spark.

>>> import freehold.fleet
>>> rows = freehold.fleet.replay(paths, engines=["btree:lowest", "rbtree:linux"], rounds=3, out="results.parquet")
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from os import PathLike, fspath
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds

from ..errors import UsageError
from ..run import Engine
from .task import SCHEMA, Task

__all__ = ["SCHEMA", "Task", "replay"]

#: What the rows are partitioned by.
_PARTITION = "family"


def replay(
    paths: Iterable[str | PathLike[str]],
    engines: Sequence[Engine] = (),
    rounds: int = 5,
    on: Any = "local",
    out: str | PathLike[str] = "results.parquet",
    *,
    settings: Sequence[Sequence[str]] = (),
    workers: int | None = None,
) -> ds.Dataset:
    """Replays every file, each as one task on one CPU, and writes a row a (file, engine, metric, stat) as Parquet in the folder `out`,
    partitioned by family.

    `on` is `"local"` for processes of this machine; `"ray"` or the address of a Ray cluster; or a `SparkSession`. `workers` is how many
    processes there are locally, the machine's CPUs if not given. `engines` may name engines of several families: a file is replayed on
    those of its own. Each of `settings` is a sequence like `["lazy=off"]`, under which addresses of recordings of kernel areas are
    predicted as well. A file that cannot be replayed is a row with its `error`. A task whose worker dies runs again; work counts are
    exact, so that changes nothing. Times are only comparable within a task: `ratio` is a figure by the default engine's.

    Raises `UsageError` if `out` is there already, there is no file, one is named twice, or a text stands where a list is wanted.
    """
    for name, given in [("paths", paths), ("engines", engines), ("settings", settings), *(("settings", one) for one in settings)]:
        if isinstance(given, (str, PathLike, type)):
            raise UsageError(f"{name}: {given!r} stands where a list is wanted")
    files = [os.path.abspath(fspath(path)) for path in paths]
    if len(set(files)) != len(files):
        twice = next(file for file in files if files.count(file) > 1)
        raise UsageError(f"{twice} is named twice")
    if not files:
        raise UsageError("there is no file to replay")
    folder = fspath(out)
    if os.path.exists(folder):
        raise UsageError(f"{folder} is there already")
    task = Task(tuple(engines), rounds, tuple(tuple(one) for one in settings))
    if isinstance(on, str) and on == "local":
        from .local import tables

        _write(tables(files, task, workers or os.cpu_count() or 1), folder)
    elif isinstance(on, str):
        from .on_ray import tables as of_ray

        _write(of_ray(files, task, on), folder)
    else:
        from .on_spark import write

        write(files, task, on, folder, _PARTITION)
    return ds.dataset(folder, partitioning="hive")


def _write(tables: Iterable[pa.Table], folder: str) -> None:
    """Writes tables as they come."""
    batches = (batch for table in tables for batch in table.to_batches())
    partitioning = ds.partitioning(pa.schema([SCHEMA.field(_PARTITION)]), flavor="hive")
    ds.write_dataset(batches, folder, schema=SCHEMA, format="parquet", partitioning=partitioning)
