"""Engines in Python are judged like any other."""

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


def test_what_is_no_engine_is_refused(small):
    with pytest.raises(freehold.UsageError, match="subclass"):
        freehold.replay(small, [dict])
    with pytest.raises(freehold.UsageError, match="takes"):
        freehold.replay(small, [type("Odd", (FirstFit,), {"takes": "odd"})])
    with pytest.raises(freehold.UsageError, match="two classes"):
        freehold.replay(small, [FirstFit, type("FirstFit", (FirstFit,), {})])
