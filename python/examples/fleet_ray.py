"""Replays every trace of a folder on Ray, and says where the default engine is behind.

    pip install './python[ray]' duckdb      # from the root of the repository
    python python/examples/fleet_ray.py data/traces results.parquet [ADDRESS]
"""

from __future__ import annotations

import sys
from pathlib import Path

import freehold.fleet


def main(folder: str, out: str, address: str = "ray") -> None:
    traces = sorted(Path(folder).glob("*.kva.csv.zst"))
    rows = freehold.fleet.replay(traces, ["btree:lowest", "rbtree:linux"], rounds=3, on=address, out=out)
    print(f"{rows.count_rows()} rows of {len(traces)} traces in {out}; fleet.sql asks them")


if __name__ == "__main__":
    main(*sys.argv[1:])
