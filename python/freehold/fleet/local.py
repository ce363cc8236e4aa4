"""Tasks in processes of this machine."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool

import pyarrow as pa

from .task import Task, failure

#: How often a file is tried by itself once workers have died.
_TRIES = 3


def tables(files: list[str], task: Task, workers: int) -> Iterator[pa.Table]:
    """The rows of every file, as they are done. If a worker dies, the files that were not done run again, each by itself."""
    done: set[str] = set()
    try:
        for file, rows in _pooled(files, task, min(workers, len(files))):
            done.add(file)
            yield rows
    except BrokenProcessPool:
        for file in files:
            if file not in done:
                yield _alone(file, task)


def _pooled(files: Iterable[str], task: Task, workers: int) -> Iterator[tuple[str, pa.Table]]:
    # A fresh interpreter: a fork of one with threads may hang.
    with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn")) as pool:
        running: dict[Future[pa.Table], str] = {pool.submit(task.run, file): file for file in files}
        try:
            while running:
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    rows = future.result()
                    yield running.pop(future), rows
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _alone(file: str, task: Task) -> pa.Table:
    """A file in a process of its own."""
    for _ in range(_TRIES):
        try:
            return next(rows for _, rows in _pooled([file], task, 1))
        except BrokenProcessPool:
            continue
    return failure(file, f"{file}: the worker died {_TRIES} times")
