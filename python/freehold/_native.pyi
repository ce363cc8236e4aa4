from os import PathLike
from typing import Any, final

class TraceError(ValueError):
    """A file cannot be read as a trace: file, line and reason."""

@final
class Trace:
    """A recorded trace, read whole."""

    @property
    def kind(self) -> str: ...
    @property
    def kernel(self) -> str: ...
    @property
    def cpus(self) -> int: ...
    @property
    def page_bytes(self) -> int: ...
    @property
    def workload(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def lost_records(self) -> int: ...
    def __len__(self) -> int: ...
    def to_arrow(self) -> Any:
        """The events as a `pyarrow.Table`, which shares the trace's memory."""

def open(path: str | PathLike[str]) -> Trace:
    """Reads a trace; `TraceError` names file, line and reason."""
