"""What mypy --strict checks the stubs by."""

from __future__ import annotations

from typing import assert_type

import pyarrow as pa

import freehold
import freehold.fleet


class Bump(freehold.KvaEngine):
    takes = "any"

    def __init__(self, spans: list[tuple[int, int]], granule: int) -> None:
        super().__init__(spans, granule)
        self.next = spans[0][0]

    def alloc(self, size: int, align: int, first: int, last: int) -> int | None:
        at = -(-max(self.next, first) // align) * align
        self.next = at + size
        return at if at + size - 1 <= last else None

    def free(self, address: int) -> None: ...


trace: freehold.Trace = freehold.open("x.csv")
family: str = trace.family
table: pa.Table = trace.to_arrow()
again: freehold.Trace = freehold.Trace.from_arrow(table)
results: freehold.Results = freehold.replay([trace, "y.csv"], engines=[Bump, "btree:lowest"], rounds=3)
findings: list[dict[str, object]] = results.findings
compared: freehold.Results = freehold.compare(results, "before.json")
space: freehold.AddressSpace = freehold.AddressSpace(0, 0xFFFF, granule=16)
address: int = space.alloc(32, value="mine", align=64)
try:
    space.alloc_at(address, 16)
except freehold.NoSpace as error:
    conflict: tuple[int, int] | None = error.conflict
ranges: freehold.RangeMap = freehold.RangeMap()
ends: tuple[int, int] = ranges.lowest_gap(8)
place: tuple[int, int, int] = freehold.ChunkSet().alloc(8)
try:
    freehold.ChunkSet().free(place)
except freehold.NotAllocated as missing:
    assert_type(missing.conflict, tuple[int, int] | tuple[int, int, int] | None)
freehold.fleet.replay(["x.csv"], ["btree"], 1, on="local", out="rows", workers=2)
