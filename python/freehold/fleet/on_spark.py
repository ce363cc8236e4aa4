"""Tasks on Spark: `mapInArrow`, one file a partition. Workers write the Parquet files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from .task import SCHEMA, Task

#: Arrow's types as Spark writes them.
_TYPES = {pa.string(): "string", pa.float64(): "double", pa.int64(): "bigint", pa.bool_(): "boolean"}


def write(files: list[str], task: Task, session: Any, folder: str, partition: str) -> None:
    """Writes the rows of every file. Spark runs tasks of workers that die again, as often as `spark.task.maxFailures` says."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for path in batch["path"].to_pylist():
                yield from task.run(path).to_batches()

    columns = ", ".join(f"`{field.name}` {_TYPES[field.type]}" for field in SCHEMA)
    each = session.sparkContext.parallelize([(file,) for file in files], len(files))
    paths = session.createDataFrame(each, "path string")
    rows = paths.mapInArrow(run, columns)
    # Spark's own choice, snappy, needs a library that not every system has.
    rows.write.option("compression", "zstd").partitionBy(partition).parquet(folder)
