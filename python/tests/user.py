"""What mypy --strict checks the stubs by."""

import freehold

trace: freehold.Trace = freehold.open("x.csv")
kind: str = trace.kind
events: int = len(trace)
