"""An allocator of address ranges of your own, to be replayed, judged and verified beside the others."""

from __future__ import annotations


class KvaEngine:
    """Base of engines that are written in Python.

    A subclass has `alloc` and `free`. Every answer is judged: a range that overlaps a live one, lies outside the window, is not
    aligned, or a refusal though there is room ends a replay with `RunError`, and fails `verify`.
    """

    #: Which address of those that fit is taken: `any`, `lowest`, `highest` or `best-fit`. `verify` holds it against that column.
    takes: str = "any"
    #: Steps that were done so far, as the class counts them. A replay tells how many an operation took.
    work: int = 0

    def __init__(self, spans: list[tuple[int, int]], granule: int) -> None:
        """An empty space of these spans, first and last address of each. Sizes and addresses are multiples of `granule` bytes."""
        self.spans = spans
        self.granule = granule

    def alloc(self, size: int, align: int, first: int, last: int) -> int | None:
        """Takes `size` bytes at a multiple of `align` that lie in `first..=last`: the address, or `None` if there is no place."""
        raise NotImplementedError

    def free(self, address: int) -> None:
        """Frees what `alloc` returned that address for."""
        raise NotImplementedError

    def metadata_bytes(self) -> int:
        """Bytes of the engine's own structures; 0 if it does not tell."""
        return 0
