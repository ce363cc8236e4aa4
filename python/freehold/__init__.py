"""Recorded traces of address space as Arrow tables."""

from ._native import Trace, TraceError, open

__all__ = ["Trace", "TraceError", "open"]
