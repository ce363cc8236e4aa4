"""A fleet on processes of this machine: the program's figures; dead workers and unreadable files change nothing else."""

from pathlib import Path

import pyarrow.compute as pc
import pytest
from fleets import ENGINES, exact, figures, program_figures
from idea import Dies

import freehold
import freehold.fleet


def test_work_counts_are_the_programs(traces, tmp_path):
    rows = freehold.fleet.replay(traces, ENGINES, 0, out=tmp_path / "rows", workers=2).to_table()
    assert figures(rows) == program_figures(traces)
    assert set(rows["error"].to_pylist()) == {None}


def test_rows_are_partitioned_and_carry_the_machine(small, tmp_path):
    rows = freehold.fleet.replay([small], ["btree:lowest", "rbtree:linux"], 1, out=tmp_path / "rows").to_table()
    assert [folder.name for folder in (tmp_path / "rows").iterdir()] == ["family=kva"]
    assert set(rows.column_names) == set(freehold.fleet.SCHEMA.names)
    assert all(rows["version"].to_pylist()) and all(rows["cpus"].to_pylist())
    loops = rows.filter((pc.field("op") == "loop") & (pc.field("metric") == "time")).to_pylist()
    ratio = {row["engine"]: row["ratio"] for row in loops}
    assert ratio["btree:lowest"] == 1.0 and ratio["rbtree:linux"] > 0


def test_a_dead_worker_changes_nothing(small, tmp_path, monkeypatch):
    monkeypatch.setenv("FREEHOLD_DIES", str(tmp_path / "died"))
    files = [tmp_path / f"{name}.csv" for name in range(4)]
    for file in files:
        freehold.open(small).save(file)
    (tmp_path / "died").touch()
    whole = freehold.fleet.replay(files, [Dies], 0, out=tmp_path / "whole", workers=2).to_table()
    (tmp_path / "died").unlink()
    killed = freehold.fleet.replay(files, [Dies], 0, out=tmp_path / "killed", workers=2).to_table()
    assert (tmp_path / "died").exists()
    assert exact(killed) == exact(whole) != []
    assert set(killed["error"].to_pylist()) == {None}


def test_a_file_that_cannot_be_read_is_a_row(small, kva, tmp_path):
    corrupt = tmp_path / "corrupt.csv.zst"
    corrupt.write_bytes(kva.read_bytes()[:5000])
    missing = tmp_path / "missing.csv"
    files = [corrupt, small, missing]
    rows = freehold.fleet.replay(files, ["btree:lowest"], 0, out=tmp_path / "rows", workers=2).to_table()
    failed = {row["path"]: row["error"] for row in rows.to_pylist() if row["error"]}
    assert set(failed) == {str(corrupt), str(missing)}
    assert "corrupt.csv.zst:" in failed[str(corrupt)] and "missing.csv" in failed[str(missing)]
    assert rows.filter(pc.field("path") == str(small)).num_rows > 10


def test_engines_of_other_families_are_passed_over(traces, tmp_path):
    rows = freehold.fleet.replay(traces, ["rbtree:linux", "rbtre"], 0, out=tmp_path / "rows", workers=2).to_table()
    errors = [row["error"] for row in rows.to_pylist()]
    assert len(errors) == len(traces) and all("rbtre" in error for error in errors)
    rows = freehold.fleet.replay(traces, ["rbtree:linux"], 0, out=tmp_path / "more", workers=2).to_table()
    errors = {row["family"]: row["error"] for row in rows.to_pylist()}
    assert errors["kva"] is None and "none of rbtree:linux" in errors["percpu"]


def test_settings_are_swept(small, tmp_path):
    sweep = [["lazy=off"], ["pools=off"]]
    rows = freehold.fleet.replay([small], ["btree:lowest"], 0, out=tmp_path / "rows", settings=sweep).to_table()
    assert set(rows["settings"].to_pylist()) == {None, "lazy=off", "pools=off"}


def test_what_is_asked_wrongly_is_refused(small, tmp_path):
    with pytest.raises(freehold.UsageError, match="twice"):
        freehold.fleet.replay([small, small], out=tmp_path / "rows")
    with pytest.raises(freehold.UsageError, match="is there already"):
        freehold.fleet.replay([small], out=tmp_path)
    with pytest.raises(freehold.UsageError, match="no file"):
        freehold.fleet.replay([], out=tmp_path / "rows")


def test_the_questions_of_the_example_are_answered(small, tmp_path, monkeypatch):
    duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed")
    missing = tmp_path / "missing.csv"
    engines = ["btree:lowest", "rbtree:linux"]
    freehold.fleet.replay([small, missing], engines, 2, out=tmp_path / "results.parquet", workers=2)
    monkeypatch.chdir(tmp_path)
    text = (Path(__file__).parents[1] / "examples" / "fleet.sql").read_text()
    view, fastest, behind, outliers, errors = [one for one in text.split(";") if one.strip()]
    rows = duckdb.connect()
    rows.execute(view)
    assert rows.execute(fastest).fetchall()[0][2:] in [(engine, 2) for engine in engines]
    assert all(engine == "rbtree:linux" for _, engine, _ in rows.execute(behind).fetchall())
    assert isinstance(rows.execute(outliers).fetchall(), list)
    assert [path for path, _ in rows.execute(errors).fetchall()] == [str(missing)]


def test_a_text_where_a_list_is_wanted_is_refused(small, tmp_path):
    given = {"paths": [small], "out": tmp_path / "rows"}
    for name, wrong in [
        ("paths", small),
        ("paths", str(small)),
        ("engines", "btree:lowest"),
        ("engines", Dies),
        ("settings", "lazy=off"),
        ("settings", ["lazy=off"]),
    ]:
        with pytest.raises(freehold.UsageError, match=f"^{name}: "):
            freehold.fleet.replay(**{**given, name: wrong})
    assert not (tmp_path / "rows").exists()
