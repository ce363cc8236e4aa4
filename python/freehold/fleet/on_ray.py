"""Tasks on a Ray cluster, or on a local one: Ray Data, one file a batch and one CPU a task."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from ..errors import LackingError
from .task import SCHEMA, Task


def tables(files: list[str], task: Task, address: str) -> Iterator[pa.Table]:
    """The rows of every file, as they are done. Ray runs tasks of workers that die again."""
    try:
        import ray
    except ImportError as error:
        raise LackingError("Ray is not installed: in the repository, pip install './python[ray]'") from error
    if not ray.is_initialized():
        ray.init(address=None if address == "ray" else address)

    def run(batch: pa.Table) -> pa.Table:
        return pa.concat_tables([task.run(path) for path in batch["path"].to_pylist()])

    paths = ray.data.from_arrow(pa.table({"path": files})).repartition(len(files))
    rows: Any = paths.map_batches(run, batch_size=1, batch_format="pyarrow", num_cpus=1)
    for batch in rows.iter_batches(batch_format="pyarrow", batch_size=None):
        yield batch.select(SCHEMA.names).cast(SCHEMA)
