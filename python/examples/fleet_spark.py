"""Replays every trace of a folder on Spark, each as one task.

    pip install './python[spark]'       # from the root of the repository; Java 17 besides
    python python/examples/fleet_spark.py data/traces results.parquet
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from pyspark.sql import SparkSession

import freehold.fleet


def main(folder: str, out: str) -> None:
    # Workers use this Python, which has the package.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    # Two workers here; on a cluster, spark-submit says where. A task whose worker dies runs again, up to three times.
    session = SparkSession.builder.master("local[2,4]").appName("freehold").getOrCreate()
    traces = sorted(Path(folder).glob("*.kva.csv.zst"))
    rows = freehold.fleet.replay(traces, ["btree:lowest", "rbtree:linux"], rounds=3, on=session, out=out)
    print(f"{rows.count_rows()} rows of {len(traces)} traces in {out}; fleet.sql asks them")
    session.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
