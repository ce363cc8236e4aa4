"""Traces as Arrow tables: equal to the file, not copied, kept whole, and refused with file and line."""

import contextlib
import subprocess
import sys
import threading

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import freehold

HEX = {
    "kva": {"addr", "vstart", "vend"},
    "pcpu": {"flags"},
    "vma": set(),
    "mt": {"min", "max", "index", "last", "piv", "val"},
}
FAMILIES = {"kva": "kva", "pcpu": "percpu", "vma": "maple", "mt": "maple"}


def text_of(path):
    return pa.input_stream(str(path), compression="zstd").read().decode()


def addresses(table):
    chunks = [chunk for column in table.columns for chunk in column.chunks]
    return [buffer.address for chunk in chunks for buffer in chunk.buffers() if buffer]


def changed(table, name, row, value):
    values = table[name].to_pylist()
    values[row] = value
    return table.set_column(table.column_names.index(name), name, pa.array(values))


def test_there_are_traces_of_every_kind(traces):
    assert {freehold.open(path).kind for path in traces} == set(HEX)


def test_columns_are_those_of_the_file(traces):
    for path in traces:
        trace = freehold.open(path)
        lines = text_of(path).splitlines()
        table = trace.to_arrow()
        names = lines[3].removeprefix("#").split(",")
        assert table.column_names == names
        assert len(trace) == table.num_rows == len(lines) - 4
        assert trace.family == FAMILIES[trace.kind]
        rows = [line.split(",") for line in lines[4:]]
        for at, name in enumerate(names):
            write = (lambda value: format(value, "x")) if name in HEX[trace.kind] else str
            written = ["" if value is None else write(value) for value in table[name].to_pylist()]
            assert written == [row[at] for row in rows], (path.name, name)


def test_the_header_is_told(kva):
    info = freehold.open(kva).info
    assert info["workload"] == "bpfvm"
    assert info["page_bytes"] == 4096
    assert info["cpus"] >= 1 and info["lost_records"] == 0


def test_parquet_is_written_by_the_program_and_read(kva, tmp_path):
    columns, plain = tmp_path / "a.parquet", tmp_path / "a.csv"
    for source, target in ((kva, columns), (columns, plain)):
        subprocess.run([sys.executable, "-m", "freehold", "import", str(source), "-o", str(target)], check=True)
    assert freehold.open(columns).to_arrow().equals(freehold.open(kva).to_arrow())
    assert plain.read_text() == text_of(kva)
    assert pq.read_table(columns).num_rows == len(freehold.open(kva))


def test_columns_are_not_copied(kva):
    trace = freehold.open(kva)
    first, second = trace.to_arrow(), trace.to_arrow()
    assert addresses(first) == addresses(second) != []
    assert addresses(freehold.Trace.from_arrow(first).to_arrow()) == addresses(first)
    rows = first.num_rows
    del trace, second
    assert len(first["dt_ns"].to_pylist()) == rows


def test_lines_that_are_no_events_are_left_out(kva, tmp_path):
    """Every recording since version 2 ends with the names of its tasks."""
    lines = text_of(kva).splitlines()
    noted = tmp_path / "noted.csv"
    noted.write_text("\n".join([*lines[:10], "# lost 3 cpu 0", *lines[10:], "#task 12 kworker/0:1", ""]))
    events = freehold.open(kva).to_arrow()
    assert freehold.open(noted).to_arrow().equals(events)
    columns = tmp_path / "noted.parquet"
    subprocess.run([sys.executable, "-m", "freehold", "import", str(noted), "-o", str(columns)], check=True)
    assert freehold.open(columns).to_arrow().equals(events)
    # It has two rows more, and text where a column's numbers are in hexadecimal digits.
    with pytest.raises(freehold.TraceError, match="freehold.open"):
        freehold.Trace.from_arrow(pq.read_table(columns))


def test_pandas_keeps_addresses(kva):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    table = freehold.open(kva).to_arrow()
    exact = table.to_pandas(types_mapper=pandas.ArrowDtype)
    assert exact["vend"].dropna().tolist() == [end for end in table["vend"].to_pylist() if end is not None]


@pytest.mark.parametrize("name", ["saved.csv", "saved.csv.zst", "saved.parquet"])
def test_what_is_saved_is_the_file(kva, tmp_path, name):
    freehold.open(kva).save(tmp_path / name)
    again = freehold.open(tmp_path / name)
    assert again.to_arrow().equals(freehold.open(kva).to_arrow())
    if name.endswith("parquet"):
        assert pq.read_schema(tmp_path / name).names == [*again.to_arrow().column_names, "comment"]
        return
    text = (tmp_path / name).read_text() if name.endswith("csv") else text_of(tmp_path / name)
    assert text.splitlines()[1:] == text_of(kva).splitlines()[1:]


def test_parquet_both_ways(traces, tmp_path):
    for path in traces:
        trace = freehold.open(path)
        pq.write_table(trace.to_arrow(), tmp_path / "trace.parquet")
        again = freehold.Trace.from_arrow(pq.read_table(tmp_path / "trace.parquet"))
        assert again.header == trace.header
        assert again.to_arrow().equals(trace.to_arrow())


def test_a_table_is_given_a_header(kva):
    trace = freehold.open(kva)
    bare = trace.to_arrow().replace_schema_metadata(None)
    with pytest.raises(freehold.TraceError, match="header="):
        freehold.Trace.from_arrow(bare)
    header = "#vml-trace v2 kind=kva kernel=6.12 ncpu=2 pagesize=4096 clock=mono\n#workload mine: made\n#lost_records=0\n"
    assert freehold.Trace.from_arrow(bare, header).info["workload"] == "mine"
    with pytest.raises(freehold.TraceError, match="memory:2"):
        freehold.Trace.from_arrow(bare, header.replace("#workload", "workload"))
    with pytest.raises(freehold.TraceError, match="columns"):
        freehold.Trace.from_arrow(bare.drop_columns("size"), header)


@pytest.mark.parametrize(
    ("line", "text"),
    [(5, "x,0,0,I,1,,,,,,"), (5, "1,0"), (6, "0,0,0,I,1,,,,,,\n0,0,0,I,1,zz,,,,,"), (5, "0,0,0,I,1,,,,,,,1")],
)
def test_a_bad_line_is_named(kva, tmp_path, line, text):
    bad = tmp_path / "bad.csv"
    bad.write_text("\n".join([*text_of(kva).splitlines()[:4], text, ""]))
    with pytest.raises(freehold.TraceError) as raised:
        freehold.open(bad)
    assert f"{bad}:{line}: " in str(raised.value)
    assert (raised.value.file, raised.value.line) == (str(bad), line)


def test_a_file_that_is_not_there_or_damaged_is_named(kva, tmp_path):
    with pytest.raises(freehold.TraceError, match="nothing.csv"):
        freehold.open(tmp_path / "nothing.csv")
    cut = tmp_path / "cut.csv.zst"
    cut.write_bytes(kva.read_bytes()[:5000])
    with pytest.raises(freehold.TraceError, match=r"cut.csv.zst:\d+: "):
        freehold.open(cut)


def test_ctrl_c_ends_the_reading(kva, tmp_path):
    path = tmp_path / "long.csv"
    rows = "1,0,0,A,1,ffffc90000000000,4096,1,,,\n" * 2_000_000
    path.write_text("\n".join(text_of(kva).splitlines()[:4]) + "\n" + rows)
    program = (
        "import freehold, signal, sys\n"
        "signal.signal(signal.SIGALRM, signal.default_int_handler)\n"
        "signal.setitimer(signal.ITIMER_REAL, 0.05)\n"
        "try: freehold.open(sys.argv[1])\n"
        "except KeyboardInterrupt: print('interrupted')\n"
    )
    ran = subprocess.run([sys.executable, "-c", program, path], capture_output=True, text=True)
    assert (ran.returncode, ran.stdout) == (0, "interrupted\n"), ran.stderr


def test_a_text_that_no_line_holds_is_named_by_its_row(kva, tmp_path):
    table = freehold.open(kva).to_arrow()
    trace = freehold.Trace.from_arrow(pa.concat_tables([table, changed(table, "op", 3, "a,b")]))
    for use in (lambda: trace.save(tmp_path / "saved.csv"), lambda: freehold.inspect(trace)):
        with pytest.raises(freehold.TraceError, match=f"^memory: record {table.num_rows + 4}: op has a comma"):
            use()
    assert list(tmp_path.iterdir()) == []


def test_an_error_in_a_table_names_no_file_that_is_gone(kva):
    trace = freehold.Trace.from_arrow(changed(freehold.open(kva).to_arrow(), "op", 3, "Q"))
    with pytest.raises(freehold.TraceError, match="^memory:8: ") as raised:
        freehold.replay(trace, ["btree:lowest"], rounds=0)
    assert (raised.value.file, raised.value.line) == ("memory", 8)
    # Of several workloads, one that fails is a note.
    results = freehold.replay([kva, trace], ["btree:lowest"], rounds=0)
    assert results.failed and any("memory:8: " in note for note in results.notes), results.notes


def test_an_error_without_a_line_names_no_file_that_is_gone(traces, kva):
    nothing = freehold.Trace.from_arrow(freehold.open(kva).to_arrow().slice(0, 0))
    with pytest.raises(freehold.RunError, match="^memory: .*nothing to replay"):
        freehold.replay(nothing, ["btree:lowest"], rounds=0)
    percpu = next(path for path in traces if path.name.startswith("netns"))
    with pytest.raises(freehold.UsageError, match="^memory: "):
        freehold.predict(freehold.Trace.from_arrow(freehold.open(percpu).to_arrow().slice(0, 100)), ["lazy=off"])


def test_a_trace_is_replayed_from_its_file_wherever_the_program_is(small, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    trace = freehold.open(small.name)
    here = freehold.replay(trace, ["btree:lowest"], rounds=0)
    assert set(here.records()["file"].to_pylist()) == {small.name}
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    # Another file of that name is there.
    trace.save(small.name)
    assert set(freehold.replay(trace, ["btree:lowest"], rounds=0).records()["file"].to_pylist()) == {str(small)}


def test_floats_that_may_be_rounded_are_refused(kva):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    trace = freehold.open(kva)
    with pytest.raises(freehold.TraceError, match="^memory: vstart .* floats.*ArrowDtype"):
        freehold.Trace.from_arrow(trace.to_arrow().to_pandas(), trace.header)
    # Small ones are exact.
    table = trace.to_arrow()
    sizes = pa.array(table["size"].to_pylist(), pa.float64())
    again = table.set_column(table.column_names.index("size"), "size", sizes)
    assert freehold.Trace.from_arrow(again).to_arrow().equals(table)


def test_a_trace_that_is_too_long_to_be_read_is_not_written(kva, tmp_path):
    table = freehold.open(kva).to_arrow()
    columns = [pa.nulls(2**21 - 3, field.type) for field in table.schema]
    trace = freehold.Trace.from_arrow(pa.table(columns, schema=table.schema))
    for name in ("long.csv", "long.csv.zst", "long.parquet"):
        with pytest.raises(freehold.TraceError, match="^memory: record 2097149: "):
            trace.save(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_one_large_batch_is_shared_in_small_ones(kva):
    table = pa.concat_tables([freehold.open(kva).to_arrow()] * 4).combine_chunks()
    batches = freehold.Trace.from_arrow(table).to_arrow().to_batches()
    assert [batch.num_rows for batch in batches] == [2**16, table.num_rows - 2**16]
    assert batches[0].column(0).buffers()[1].address == table["dt_ns"].chunk(0).buffers()[1].address


def test_another_thread_runs_while_a_table_is_written(kva, tmp_path, monkeypatch):
    """It meets the file that a run reads while that grows."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    trace = freehold.Trace.from_arrow(pa.concat_tables([freehold.open(kva).to_arrow()] * 20))
    sizes, ended = set(), threading.Event()

    def look():
        while not ended.is_set():
            with contextlib.suppress(FileNotFoundError):
                sizes.update(file.stat().st_size for file in tmp_path.iterdir())

    looker = threading.Thread(target=look)
    looker.start()
    try:
        with pytest.raises(freehold.TraceError, match="allocated while it is live"):
            freehold.inspect(trace)
    finally:
        ended.set()
        looker.join()
    assert len(sizes) > 1
