"""What the program does, as functions that return `Results`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os import PathLike, fspath
from typing import Union

from . import _native
from ._native import Results, Trace
from .engine import KvaEngine
from .errors import RunError, UsageError

#: A trace, the path of a trace or vector file, or `churn:N` for N live objects.
Workload = Union[str, "PathLike[str]", Trace]
#: An engine's name, such as `rbtree` or `rbtree:linux`; a shared object, `so:PATH`; or a class of your own.
Engine = Union[str, type[KvaEngine]]

#: What the names of classes begin with in results.
_PREFIX = "py:"


def replay(
    workload: Workload | Iterable[Workload],
    engines: Iterable[Engine] = (),
    rounds: int = 5,
    instructions: bool = False,
    progress: bool = True,
) -> Results:
    """Runs a workload, or several, on engines side by side: every answer checked first, then timed.

    Without `engines`, those that are compared always. `rounds` is how often each is timed; 0 checks answers and counts work only.
    `instructions` counts instructions under valgrind instead of time, but not those of classes in Python. With `progress`, a terminal shows
    what is being done after a second. The GIL is released, and Ctrl-C ends the replay at its next batch. Times of classes in Python are
    not compared. A trace that was opened is replayed from its file, so that results name it; one that was made of a table, from memory.

    Raises `TraceError` for a file that cannot be read, `UsageError` for a name that is not known, `RunError` for a wrong answer, of which
    what a class raised is the cause. Of several workloads, one that fails is a note, and `Results.failed` is set.
    """
    if rounds < 0:
        raise UsageError(f"rounds is {rounds}; it is 0 or more")
    named = _named(engines)
    classes = [engine[0] for engine in named if isinstance(engine, tuple)]
    if instructions and classes:
        raise UsageError(f"{', '.join(classes)}: instructions of classes in Python are not counted")
    return _native.replay(_sources(workload), named, rounds, instructions, progress)


def verify(
    files: Workload | Iterable[Workload], engines: Iterable[Engine] = (), progress: bool = True
) -> Results:
    """Holds engines against recorded answers: vectors, streams, worked examples.

    Without `engines`, every engine of the library that can answer; otherwise classes in Python and shared objects, `so:PATH`. What
    differs is in `Results.notes`, and `Results.failed` is set.
    """
    return _native.verify(_sources(files), _named(engines), progress)


def inspect(workload: Workload) -> Results:
    """Says what is in a trace or vector file: events, sizes, lifetimes."""
    return _native.inspect(_source(workload))


def compare(before: Results | str | PathLike[str], after: Results | str | PathLike[str]) -> Results:
    """Sets two results of one command, or the JSON documents of such, side by side."""
    both = [one if isinstance(one, Results) else _native.load(fspath(one)) for one in (before, after)]
    return _native.compare(*both)


def predict(workload: Workload | Iterable[Workload], settings: Sequence[str] = ()) -> Results:
    """Predicts the addresses of recordings of kernel areas, under the model of their kernel and under settings such as `lazy=off`."""
    if isinstance(settings, str):
        raise UsageError(f"settings={settings!r}: a list of settings is wanted")
    return _native.predict(_sources(workload), list(settings))


def engines(family: str) -> list[str]:
    """The names of the engines of a family: `kva`, `percpu` or `maple`."""
    return _native.engines(family)


def _source(workload: Workload) -> str | Trace:
    return workload if isinstance(workload, Trace) else fspath(workload)


def _sources(workloads: Workload | Iterable[Workload]) -> list[str | Trace]:
    if isinstance(workloads, (str, PathLike, Trace)):
        return [_source(workloads)]
    sources = [_source(workload) for workload in workloads]
    if not sources:
        raise RunError("there is nothing to run: the list of workloads is empty")
    return sources


def _named(engines: Iterable[Engine]) -> list[str | tuple[str, str, type[KvaEngine]]]:
    """Names of engines; classes with their name in results and which addresses they take."""
    if isinstance(engines, (str, type)):
        raise UsageError(f"engines={engines!r}: a list of engines is wanted")
    names: dict[str, Engine] = {}
    for engine in engines:
        if isinstance(engine, str):
            names[engine] = engine
            continue
        if not (isinstance(engine, type) and issubclass(engine, KvaEngine)):
            raise UsageError(f"{engine!r} is neither an engine's name nor a subclass of freehold.KvaEngine")
        name = _PREFIX + engine.__name__
        if names.get(name, engine) is not engine:
            raise UsageError(f"two classes are named {engine.__name__}")
        names[name] = engine
    return [name if isinstance(engine, str) else (name, engine.takes, engine) for name, engine in names.items()]
