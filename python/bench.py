"""Prints what the package costs, on the machine that it runs on.

    python python/bench.py data

The argument is the folder `data` of the repository. Each figure is a median of several runs. Nothing is asserted.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

# Beside this file are the sources of the package, without what is compiled: what is installed is meant.
sys.path[:] = [path for path in sys.path if Path(path or ".").resolve() != Path(__file__).resolve().parent]

import freehold
import freehold.fleet


def seconds(run: Callable[[], object], runs: int = 7) -> float:
    took = []
    for _ in range(runs):
        began = time.perf_counter()
        run()
        took.append(time.perf_counter() - began)
    return statistics.median(took)


def program(*arguments: str) -> None:
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)


def fleet(files: list[Path], workers: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        freehold.fleet.replay(files, ["btree:lowest"], 40, out=f"{folder}/rows", workers=workers)


def main(data: str) -> None:
    trace = Path(data) / "traces" / "bpfvm.kva.csv.zst"
    nothing = seconds(lambda: program("-c", "pass"))
    print(f"import freehold: {1000 * (seconds(lambda: program('-c', 'import freehold')) - nothing):.0f} ms over an empty program")
    opened = freehold.open(trace)
    print(f"open, {len(opened)} events: {1000 * seconds(lambda: freehold.open(trace)):.1f} ms")
    print(f"inspect, which the program reads a file for: {1000 * seconds(lambda: freehold.inspect(trace)):.1f} ms")
    print(f"to_arrow, no copy: {1e6 * seconds(opened.to_arrow):.0f} us")

    def replay() -> None:
        freehold.replay(trace, ["btree:lowest"], rounds=100, progress=False)

    def two() -> None:
        threads = [threading.Thread(target=replay) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    one, both = seconds(replay, 5), seconds(two, 5)
    print(f"two replays: {2 * one:.2f} s one after the other, {both:.2f} s on two threads: {2 * one / both:.2f} times as fast")
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"{number}.csv" for number in range(24)]
        for file in files:
            opened.save(file)
        single, double = (seconds(lambda: fleet(files, workers), 3) for workers in (1, 2))
    print(f"{len(files)} files: {single:.2f} s by one worker, {double:.2f} s by two: {single / double:.2f} times the files a second")


if __name__ == "__main__":
    main(*sys.argv[1:])
