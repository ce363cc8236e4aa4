"""An engine in twenty lines, one that is wrong, and one that raises."""

import os
import signal
from bisect import bisect, insort
from pathlib import Path

import freehold


class FirstFit(freehold.KvaEngine):
    takes = "lowest"

    def __init__(self, spans, granule):
        super().__init__(sorted(spans), granule)
        self.taken = []

    def alloc(self, size, align, first, last):
        for low, high in self.spans:
            at = -(-max(low, first) // align) * align
            for start, end in self.taken:
                self.work += 1
                if at + size <= start:
                    break
                if at <= end:
                    at = -(-(end + 1) // align) * align
            if at + size - 1 <= min(high, last):
                insort(self.taken, (at, at + size - 1))
                return at
        return None

    def free(self, address):
        del self.taken[bisect(self.taken, (address,))]


class Overlaps(freehold.KvaEngine):
    """Hands out the first address each time."""

    def alloc(self, size, align, first, last):
        return self.spans[0][0]

    def free(self, address):
        pass


class Raises(FirstFit):
    def free(self, address):
        raise ZeroDivisionError("as the test wants")


class Dies(FirstFit):
    """Kills its process once: when the file `flag`, or of the environment, is not there yet, which it then makes."""

    flag = None

    def __init__(self, spans, granule):
        super().__init__(spans, granule)
        flag = Path(self.flag or os.environ["FREEHOLD_DIES"])
        if not flag.exists():
            flag.touch()
            os.kill(os.getpid(), signal.SIGKILL)
