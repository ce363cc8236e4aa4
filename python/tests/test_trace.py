"""Traces as Arrow tables: equal to the file, not copied, and refused with file and line."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pyarrow as pa
import pytest

import freehold

DATA = Path(os.environ["FREEHOLD_DATA"]) if "FREEHOLD_DATA" in os.environ else Path(__file__).parents[2] / "data"
TRACES = sorted((DATA / "traces").glob("*.csv.zst"))
HEX = {
    "kva": {"addr", "vstart", "vend"},
    "pcpu": {"flags"},
    "vma": set(),
    "mt": {"min", "max", "index", "last", "piv", "val"},
}


def text_of(path):
    return pa.input_stream(str(path), compression="zstd").read().decode()


def test_there_are_traces_of_every_kind():
    assert {freehold.open(path).kind for path in TRACES} == set(HEX)


@pytest.mark.parametrize("path", TRACES, ids=lambda path: path.name)
def test_columns_are_those_of_the_file(path):
    trace = freehold.open(path)
    lines = text_of(path).splitlines()
    table = trace.to_arrow()
    names = lines[3].removeprefix("#").split(",")
    assert table.column_names == names
    assert len(trace) == table.num_rows == len(lines) - 4
    rows = [line.split(",") for line in lines[4:]]
    for at, name in enumerate(names):
        write = (lambda value: format(value, "x")) if name in HEX[trace.kind] else str
        written = ["" if value is None else write(value) for value in table[name].to_pylist()]
        assert written == [row[at] for row in rows], name


def test_columns_are_not_copied():
    def addresses(table):
        chunks = [chunk for column in table.columns for chunk in column.chunks]
        return [buffer.address for chunk in chunks for buffer in chunk.buffers() if buffer]

    trace = freehold.open(TRACES[0])
    first, second = trace.to_arrow(), trace.to_arrow()
    assert addresses(first) == addresses(second) != []
    rows = first.num_rows
    del trace, second
    assert len(first["dt_ns"].to_pylist()) == rows


@pytest.mark.parametrize(
    ("line", "text"),
    [(5, "x,0,0,I,1,,,,,,"), (5, "1,0"), (6, "0,0,0,I,1,,,,,,\n0,0,0,I,1,zz,,,,,"), (5, "0,0,0,I,1,,,,,,,1")],
)
def test_a_bad_line_is_named(tmp_path, line, text):
    bad = tmp_path / "bad.csv"
    header = next(text_of(path) for path in TRACES if ".kva." in path.name).splitlines()[:4]
    bad.write_text("\n".join([*header, text, ""]))
    with pytest.raises(freehold.TraceError) as raised:
        freehold.open(bad)
    assert f"{bad}:{line}: " in str(raised.value)


def test_a_file_that_is_not_there_or_damaged_is_named(tmp_path):
    with pytest.raises(freehold.TraceError, match="nothing.csv"):
        freehold.open(tmp_path / "nothing.csv")
    cut = tmp_path / "cut.csv.zst"
    cut.write_bytes(TRACES[0].read_bytes()[:5000])
    with pytest.raises(freehold.TraceError, match=r"cut.csv.zst:\d+: "):
        freehold.open(cut)


def long_trace(folder):
    """A file that takes about a second."""
    path = folder / "long.csv"
    header = next(text_of(path) for path in TRACES if ".kva." in path.name).splitlines()[:4]
    path.write_text("\n".join(header) + "\n" + "1,0,0,A,1,ffffc90000000000,4096,1,,,\n" * 3_000_000)
    return path


def test_another_thread_counts_meanwhile(tmp_path):
    path, ended = long_trace(tmp_path), threading.Event()
    reader = threading.Thread(target=lambda: (freehold.open(path), ended.set()))
    reader.start()
    # Without the GIL free, this thread would come to count once between batches: some 46 times.
    counted = 0
    while not ended.is_set() and reader.is_alive():
        counted += 1
    reader.join()
    assert ended.is_set()
    assert counted > 10_000


def test_ctrl_c_ends_the_reading(tmp_path):
    program = (
        "import freehold, signal, sys\n"
        "signal.setitimer(signal.ITIMER_REAL, 0.05)\n"
        "signal.signal(signal.SIGALRM, signal.default_int_handler)\n"
        "try: freehold.open(sys.argv[1])\n"
        "except KeyboardInterrupt: print('interrupted')\n"
    )
    ran = subprocess.run([sys.executable, "-c", program, long_trace(tmp_path)], capture_output=True, text=True)
    assert (ran.returncode, ran.stdout) == (0, "interrupted\n"), ran.stderr
