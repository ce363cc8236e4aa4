"""Replays, verifies and measures allocators of address space; traces as Arrow; the engines as classes.

>>> import freehold
>>> trace = freehold.open("data/traces/bpfvm.kva.csv.zst")
>>> freehold.replay(trace, engines=["btree:lowest", "rbtree:linux"], rounds=3)
"""

import atexit as _atexit
import sys as _sys
from importlib import import_module as _import_module

# From Python 3.12 on `_native` refuses this itself.
if _sys.version_info < (3, 12):
    _interpreters = _import_module("_xxsubinterpreters")
    if _interpreters.get_current() != _interpreters.get_main():
        raise ImportError("module freehold does not support loading in subinterpreters")

from ._native import AddressSpace, ChunkSet, RangeMap, Results, Trace, load, open
from ._native import end_runs as _end_runs
from ._native import started_by as _started_by
from .engine import KvaEngine
from .errors import (
    FreeholdError,
    InternalError,
    LackingError,
    NoSpace,
    NotAllocated,
    RequestError,
    RunError,
    TraceError,
    UsageError,
)
from .run import Engine, Workload, compare, engines, inspect, predict, replay, verify

# Callgrind and engines in processes of their own run the program once more. A program that contains Python may have no executable:
# there they fail when they are asked for.
_started_by([_sys.executable or "", "-m", "freehold"])
# A thread that nobody waits for must not be in the middle of a run when the interpreter ends.
_atexit.register(_end_runs)

__all__ = [
    "AddressSpace",
    "ChunkSet",
    "Engine",
    "FreeholdError",
    "InternalError",
    "KvaEngine",
    "LackingError",
    "NoSpace",
    "NotAllocated",
    "RangeMap",
    "RequestError",
    "Results",
    "RunError",
    "Trace",
    "TraceError",
    "UsageError",
    "Workload",
    "compare",
    "engines",
    "inspect",
    "load",
    "open",
    "predict",
    "replay",
    "verify",
]
