"""The exceptions of the package, by kind."""

from __future__ import annotations


class FreeholdError(Exception):
    """Base of every exception here."""


class TraceError(FreeholdError, ValueError):
    """A file or a table cannot be read as what it should be. The message has file, line and reason."""

    file: str | None = None
    line: int | None = None


class UsageError(FreeholdError, ValueError):
    """What was asked for does not exist: an engine, a workload, a setting."""


class LackingError(FreeholdError, RuntimeError):
    """This machine lacks something, such as valgrind."""


class RunError(FreeholdError):
    """A run ended: an engine answered wrong, or there was nothing to run."""


class InternalError(FreeholdError):
    """A defect of freehold, which would have been a panic. Please report it."""


class RequestError(FreeholdError, ValueError):
    """A request that no space could fulfil: a size of 0, an alignment that is no power of two."""


class NoSpace(FreeholdError):
    """There is no place for a request."""

    #: First and last address of the region in the way, if it is one that is.
    conflict: tuple[int, int] | None = None
    #: Bytes of the largest free block, where that is known.
    largest_free_bytes: int | None = None


class NotAllocated(FreeholdError, LookupError):
    """Nothing that was allocated starts at the address."""

    #: First and last address of the region that the address lies in, if there is one; of a `ChunkSet` the object's place.
    conflict: tuple[int, int] | tuple[int, int, int] | None = None
