"""Where the data of the repository is."""

import os
from pathlib import Path

import pytest

import freehold

DATA = Path(os.environ["FREEHOLD_DATA"]) if "FREEHOLD_DATA" in os.environ else Path(__file__).parents[2] / "data"


@pytest.fixture(scope="session")
def traces():
    return sorted((DATA / "traces").glob("*.csv.zst"))


@pytest.fixture
def kva():
    return DATA / "traces" / "bpfvm.kva.csv.zst"


@pytest.fixture
def small(kva, tmp_path):
    """The first events of a trace of address ranges, in a file of their own."""
    path = tmp_path / "small.kva.csv"
    freehold.Trace.from_arrow(freehold.open(kva).to_arrow().slice(0, 3000)).save(path)
    return path


@pytest.fixture
def vectors():
    files = sorted((DATA / "vectors" / "kva").glob("*.txt.zst"))
    assert files
    return files
