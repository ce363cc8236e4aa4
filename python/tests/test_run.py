"""Replays, verification, inspection and comparison: the program's figures, without the GIL, ended by Ctrl-C."""

import json
import shutil
import subprocess
import sys
import threading
import time

import pyarrow.compute as pc
import pytest
from idea import FirstFit

import freehold
from freehold import _native


def exact(results):
    """The figures that are the same in every run, as rows."""
    table = results.records()
    table = table.filter(pc.field("exact")).select(["workload", "engine", "op", "metric", "stat", "value", "params"])
    return sorted(table.to_pylist(), key=str)


def test_a_replay_has_the_figures_of_the_program(kva):
    engines = ["btree:lowest", "rbtree:linux"]
    results = freehold.replay(kva, engines, rounds=1)
    command = [sys.executable, "-m", "freehold", "replay", kva, "--rounds", "1", "--json"]
    for engine in engines:
        command += ["--engine", engine]
    program = subprocess.run(command, capture_output=True, text=True, check=True)
    document = json.loads(program.stdout)
    assert document["schema"] == json.loads(results.json())["schema"] == "freehold/2"
    of_program = {json.dumps(row, sort_keys=True) for row in document["records"] if row["metric"] == "work"}
    of_ours = {json.dumps(row, sort_keys=True) for row in json.loads(results.json())["records"] if row["metric"] == "work"}
    assert of_program == of_ours and len(of_ours) > 10
    assert not results.failed and results.command == "replay"
    assert {finding["rival"] for finding in results.findings} >= {"rbtree:linux"}


def test_records_are_arrow(kva):
    results = freehold.replay(kva, ["btree:lowest"], rounds=2)
    table = results.records()
    times = table.filter((pc.field("metric") == "time") & (pc.field("op") == "loop") & pc.field("default"))
    assert times.num_rows == 1
    row = times.to_pylist()[0]
    assert row["unit"] == "ns" and 0 < row["lo"] <= row["value"] <= row["hi"]
    assert row["file"] == str(kva) and not row["exact"] and row["compared"]


def test_a_trace_in_memory_is_replayed_like_its_file(kva):
    engines = ["btree:lowest"]
    table = freehold.open(kva).to_arrow()
    in_memory = freehold.replay(freehold.Trace.from_arrow(table), engines, rounds=0)
    assert exact(in_memory) == exact(freehold.replay(kva, engines, rounds=0)) != []
    assert set(in_memory.records()["file"].to_pylist()) == {"memory"}
    assert exact(freehold.replay(freehold.open(kva), engines, rounds=0)) == exact(in_memory)


def test_several_workloads_and_families(traces):
    results = freehold.replay(traces, rounds=0)
    assert {"kva", "percpu", "maple"} <= set(results.records()["suite"].to_pylist())


def test_pages_and_tables(kva):
    results = freehold.replay("churn:200", ["btree:lowest", "gap-list"], rounds=1)
    assert "btree:lowest" in results.text() and "btree:lowest" in str(results)
    assert results.html().startswith("<!doctype html>")
    frame = results._repr_html_()
    assert frame.startswith("<iframe srcdoc=") and frame.count("<iframe") == 1
    assert results.environment["cpus"] >= 1


def test_vectors_are_verified(vectors):
    results = freehold.verify(vectors[:2])
    assert not results.failed
    checked = results.records().filter(pc.field("metric") == "mismatches")["value"].to_pylist()
    assert checked and set(checked) == {0.0}


def test_files_are_inspected(traces):
    for path in traces:
        assert freehold.inspect(path).records().num_rows > 0


def test_results_are_compared(tmp_path):
    before = freehold.replay("churn:100", ["btree:lowest"], rounds=1)
    (tmp_path / "before.json").write_text(before.json())
    after = freehold.replay("churn:100", ["btree:lowest"], rounds=1)
    compared = freehold.compare(tmp_path / "before.json", after)
    assert not compared.failed and "0 differ" in compared.notes[0]
    with pytest.raises(freehold.RunError, match="different commands"):
        freehold.compare(before, freehold.load(_saved(freehold.verify(tmp_path / "nothing.txt"), tmp_path)))


def _saved(results, folder):
    (folder / "other.json").write_text(results.json())
    return folder / "other.json"


def test_addresses_are_predicted_under_settings(kva):
    results = freehold.predict(kva, ["lazy=off"])
    assert results.records().num_rows > 0


def test_bad_input_is_an_error_by_kind(kva, tmp_path):
    with pytest.raises(freehold.UsageError, match="rbtree"):
        freehold.replay(kva, ["rbtre"])
    with pytest.raises(freehold.TraceError, match="nothing.csv"):
        freehold.replay(tmp_path / "nothing.csv")
    with pytest.raises(freehold.UsageError, match="rounds"):
        freehold.replay(kva, rounds=-1)
    with pytest.raises(freehold.UsageError, match="a list of engines"):
        freehold.replay(kva, "rbtree")
    with pytest.raises(freehold.UsageError, match="a list of settings"):
        freehold.predict(kva, "lazy=off")
    with pytest.raises(freehold.UsageError, match="named twice"):
        freehold.verify([kva, kva])
    for run in (freehold.replay, freehold.verify, freehold.predict):
        with pytest.raises(freehold.RunError, match="nothing to run"):
            run([])
    with pytest.raises(freehold.UsageError, match="family"):
        freehold.engines("vmalloc")
    assert "rbtree:linux" in freehold.engines("kva")
    bad = freehold.verify([tmp_path / "nothing.txt"])
    assert bad.failed and any("nothing.txt" in note for note in bad.notes)


def test_a_document_that_cannot_be_read_is_named(tmp_path):
    bad = tmp_path / "bad.json"
    bad.write_text("{")
    for file in (bad, tmp_path / "nothing.json"):
        for read in (freehold.load, lambda path: freehold.compare(path, path)):
            with pytest.raises(freehold.TraceError, match=file.name) as raised:
                read(file)
            assert raised.value.file == str(file)


def test_instructions_of_classes_are_refused():
    with pytest.raises(freehold.UsageError, match="py:FirstFit"):
        freehold.replay("churn:100", [FirstFit], instructions=True)


def test_another_thread_counts_meanwhile():
    ended = threading.Event()

    def replay():
        freehold.replay("churn:40000", ["btree:lowest", "gap-list"], rounds=1)
        ended.set()

    counts = 0
    runner = threading.Thread(target=replay)
    runner.start()
    while not ended.is_set():
        counts += 1
        # The GIL is given up here, so that a replay that held it would go on, once for each count.
        time.sleep(0.001)
    runner.join()
    # Waiting for a GIL that is held throughout, the thread would count once or twice.
    assert counts >= 20, counts


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed")
def test_instructions_are_counted():
    results = freehold.replay("churn:100", ["btree:lowest", "rbtree:linux"], instructions=True)
    rows = results.records().filter(pc.field("metric") == "instructions").to_pylist()
    assert {row["engine"] for row in rows} >= {"btree:lowest", "rbtree:linux"}
    assert all(10 < row["value"] < 100_000 for row in rows if row["engine"] != "floor")


def test_ctrl_c_ends_a_replay():
    program = (
        "import freehold, os, signal, threading, time\n"
        # A shell's job in the background ignores it.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()\n"
        "began = time.monotonic()\n"
        "try: freehold.replay('churn:20000', ['btree:lowest', 'gap-list'], rounds=1000)\n"
        "except KeyboardInterrupt: print('interrupted', time.monotonic() - began < 20)\n"
        "print(freehold.replay('churn:100', ['btree:lowest'], rounds=0).failed)\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert (ran.returncode, ran.stdout) == (0, "interrupted True\nFalse\n"), ran.stderr


def test_a_panic_is_an_exception():
    with pytest.raises(freehold.InternalError, match="as the test wants"):
        _native.panics()
    assert not freehold.replay("churn:100", ["btree:lowest"], rounds=0).failed


def test_the_program_is_there():
    for command in ([sys.executable, "-m", "freehold"], [f"{sys.prefix}/bin/freehold"]):
        ran = subprocess.run([*command, "--version"], capture_output=True, text=True)
        assert ran.returncode == 0 and ran.stdout.startswith("freehold "), ran.stderr
    wrong = subprocess.run([sys.executable, "-m", "freehold", "replay"], capture_output=True, text=True)
    assert wrong.returncode == 2 and "FILE" in wrong.stderr


def test_a_program_without_an_executable_may_contain_it(kva):
    """`sys.executable` is None or empty in a program that contains Python."""
    program = "import sys; sys.executable = {}; import freehold; print(freehold.inspect(sys.argv[1]).command)"
    for name in ("None", "''"):
        ran = subprocess.run([sys.executable, "-c", program.format(name), kva], capture_output=True, text=True, timeout=60)
        assert (ran.returncode, ran.stdout) == (0, "inspect\n"), ran.stderr
