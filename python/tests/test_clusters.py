"""The same fleet on Ray and on Spark. Each is skipped, with the reason, where it is not installed."""

import os
import sys
from pathlib import Path

import idea
import pyarrow.compute as pc
import pytest
from fleets import ENGINES, exact, figures, program_figures

import freehold
import freehold.fleet

SHARED = Path(os.environ.get("FREEHOLD_TRACES", ""))


@pytest.fixture(scope="module")
def files(traces):
    """All recorded traces, or the bundled ones where those are not here."""
    shared = sorted(SHARED.glob("*.csv.zst")) if SHARED.name else []
    return shared or traces


@pytest.fixture(scope="module")
def local(files, tmp_path_factory):
    """What two processes of this machine say of all files; the program says the same."""
    rows = freehold.fleet.replay(files, ENGINES, 0, out=tmp_path_factory.mktemp("local") / "rows", workers=2).to_table()
    assert figures(rows) == program_figures(files)
    return rows


@pytest.fixture(scope="module")
def ray():
    ray = pytest.importorskip("ray", reason="Ray is not installed")
    ray.cloudpickle.register_pickle_by_value(idea)
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield "ray"
    ray.shutdown()


@pytest.fixture(scope="module")
def spark():
    sql = pytest.importorskip("pyspark.sql", reason="PySpark is not installed")
    from pyspark import cloudpickle

    cloudpickle.register_pickle_by_value(idea)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    # Two workers; a task may fail three times.
    builder = sql.SparkSession.builder.master("local[2,4]").config("spark.ui.enabled", "false")
    session = builder.config("spark.sql.execution.pyspark.udf.faulthandler.enabled", "true").getOrCreate()
    yield session
    session.stop()


@pytest.mark.parametrize("engine", ["ray", "spark"])
def test_work_counts_are_the_programs(request, engine, files, local, tmp_path):
    on = request.getfixturevalue(engine)
    rows = freehold.fleet.replay(files, ENGINES, 0, on=on, out=tmp_path / "rows").to_table()
    assert figures(rows) == figures(local)
    assert exact(rows) == exact(local)


@pytest.mark.parametrize("engine", ["ray", "spark"])
def test_a_dead_worker_and_a_corrupt_file_change_nothing_else(request, engine, small, kva, tmp_path, monkeypatch):
    flag = tmp_path / "died"
    # The environment is this process's; the class goes to the workers by value.
    monkeypatch.setattr(idea.Dies, "flag", str(flag))
    monkeypatch.setenv("FREEHOLD_DIES", str(flag))
    on = request.getfixturevalue(engine)
    files = [tmp_path / f"{name}.csv" for name in range(4)]
    for file in files:
        freehold.open(small).save(file)
    corrupt = tmp_path / "corrupt.csv.zst"
    corrupt.write_bytes(kva.read_bytes()[:5000])
    rows = freehold.fleet.replay([*files, corrupt], [idea.Dies], 0, on=on, out=tmp_path / "rows").to_table()
    assert flag.exists()
    whole = freehold.fleet.replay(files, [idea.Dies], 0, out=tmp_path / "whole", workers=2).to_table()
    assert exact(rows) == exact(whole) != []
    failed = {row["path"] for row in rows.filter(pc.field("error").is_valid()).to_pylist()}
    assert failed == {str(corrupt)}
