"""Engines in Python are judged like any other."""

import gc
import subprocess
import sys
import threading
import traceback
import weakref

import idea
import pyarrow.compute as pc
import pytest
from idea import FirstFit, Overlaps, Raises

import freehold


def test_twenty_lines_pass_a_vector(vectors):
    vector = next(path for path in vectors if path.name == "churn_n100.txt.zst")
    results = freehold.verify(vector, [FirstFit])
    assert not results.failed, results.notes
    rows = results.records().filter(pc.field("metric") == "checked").to_pylist()
    assert [row["engine"] for row in rows] == ["py:FirstFit"] and rows[0]["value"] > 1000
    wrong = freehold.verify(vector, [Overlaps])
    assert wrong.failed and any("py:Overlaps" in note for note in wrong.notes)


def test_beside_the_others_in_a_replay(small):
    results = freehold.replay(small, ["btree:lowest", FirstFit], rounds=2)
    rows = results.records().to_pylist()
    work = {row["engine"]: row["value"] for row in rows if (row["metric"], row["stat"], row["op"]) == ("work", "mean", "alloc")}
    assert set(work) == {"btree:lowest", "py:FirstFit"} and work["py:FirstFit"] > 1
    times = [row for row in rows if row["engine"] == "py:FirstFit" and row["metric"] == "time"]
    assert times and not any(row["compared"] for row in times)
    assert not any("py:" in finding["rival"] for finding in results.findings)
    assert any("not compared" in note for note in results.notes)


def test_wrong_answers_and_exceptions_end_a_replay(small):
    with pytest.raises(freehold.RunError, match="py:Overlaps"):
        freehold.replay(small, [Overlaps])
    with pytest.raises(freehold.RunError, match="ZeroDivisionError: as the test wants"):
        freehold.replay(small, [Raises])
    with pytest.raises(freehold.RunError, match="NotImplementedError"):
        freehold.replay(small, [type("Empty", (freehold.KvaEngine,), {})])
    # As what a class raises later.
    raises = {"__init__": lambda self, spans, granule: 1 / 0}
    with pytest.raises(freehold.RunError, match="ZeroDivisionError: division by zero in __init__"):
        freehold.replay(small, [type("Early", (FirstFit,), raises)])


def test_what_a_class_raised_is_the_cause(small):
    with pytest.raises(freehold.RunError, match="ZeroDivisionError") as raised:
        freehold.replay(small, [Raises])
    cause = raised.value.__cause__
    assert isinstance(cause, ZeroDivisionError)
    assert traceback.extract_tb(cause.__traceback__)[-1].filename == idea.__file__
    with pytest.raises(freehold.RunError, match="py:Overlaps") as wrong:
        freehold.replay(small, [Overlaps])
    assert wrong.value.__cause__ is None


def test_threads_have_each_their_own_class_of_a_name(small):
    """Each of two threads replays its own class, many times; their names are one."""
    asked, raised = set(), []

    def replays(number):
        class Numbered(FirstFit):
            def alloc(self, *request):
                asked.add(number)
                return super().alloc(*request)

        try:
            for _ in range(20):
                asked.discard(number)
                freehold.replay(small, [Numbered], rounds=0)
                assert number in asked, "another class was replayed"
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=replays, args=(number,)) for number in (1, 2)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert raised == []


def test_ctrl_c_ends_a_class_that_never_answers(small):
    program = (
        "import freehold, os, signal, sys, threading\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "class Endless(freehold.KvaEngine):\n"
        "    def alloc(self, *asked):\n"
        "        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
        "        while True: pass\n"
        "try: freehold.replay(sys.argv[1], [Endless], rounds=0)\n"
        "except KeyboardInterrupt: print('interrupted')\n"
    )
    ran = subprocess.run([sys.executable, "-c", program, small], capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stdout) == (0, "interrupted\n"), ran.stderr


def test_a_class_is_freed_after_its_run(small):
    left = []
    for base in (FirstFit, Raises):
        engine = type("Once", (base,), {})
        left.append(weakref.ref(engine))
        try:
            freehold.replay(small, [engine], rounds=0)
        except freehold.RunError:
            assert base is Raises
    del engine
    gc.collect()
    assert [engine() for engine in left] == [None, None]


def test_the_end_of_the_process_ends_a_class_on_a_daemon_thread(small):
    program = (
        "import freehold, sys, threading, time\n"
        "asked = threading.Event()\n"
        "class Endless(freehold.KvaEngine):\n"
        "    def alloc(self, *_):\n"
        "        asked.set()\n"
        "        while True: time.sleep(0.001)\n"
        "def replays():\n"
        "    while True:\n"
        "        try: freehold.replay(sys.argv[1], [Endless], rounds=0)\n"
        "        except freehold.FreeholdError: pass\n"
        "threading.Thread(target=replays, daemon=True).start()\n"
        "asked.wait()\n"
        "print('ends')\n"
    )
    ran = subprocess.run([sys.executable, "-c", program, small], capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "ends\n", "")


def test_a_program_runs_while_its_process_ends(small):
    program = (
        "import atexit, sys\n"
        "atexit.register(lambda: print(freehold.replay(sys.argv[1], [idea.FirstFit], rounds=0).command))\n"
        "import freehold, idea\n"
    )
    ran = subprocess.run([sys.executable, "-c", program, small], capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stdout) == (0, "replay\n"), ran.stderr


def test_what_is_no_engine_is_refused(small):
    with pytest.raises(freehold.UsageError, match="subclass"):
        freehold.replay(small, [dict])
    with pytest.raises(freehold.UsageError, match="takes"):
        freehold.replay(small, [type("Odd", (FirstFit,), {"takes": "odd"})])
    with pytest.raises(freehold.UsageError, match="two classes"):
        freehold.replay(small, [FirstFit, type("FirstFit", (FirstFit,), {})])
