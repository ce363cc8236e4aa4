"""What docs/python.md tells a newcomer to type runs, block after block."""

import os
import re
from pathlib import Path

from conftest import DATA

DOCUMENT = Path(os.environ.get("FREEHOLD_DOCUMENT", Path(__file__).parents[2] / "docs" / "python.md"))


def test_every_block_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").symlink_to(DATA.resolve())
    (tmp_path / "venv").mkdir()
    blocks = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)
    assert len(blocks) >= 6
    # The fleet starts only in the program itself.
    names = {"__name__": "__main__"}
    for block in blocks:
        exec(compile(block, DOCUMENT.name, "exec"), names)
    printed = capsys.readouterr().out
    assert "0 mismatches" in printed and "btree:lowest" in printed
    ratios = [line for line in printed.splitlines() if line.startswith("[{'path'")]
    assert len(ratios) == 1 and "bpfvm.kva" in ratios[0] and "netns.pcpu" in ratios[0]
    assert (tmp_path / "venv" / "results.parquet" / "family=kva").is_dir()
    # Nothing is left where the repository has files.
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "venv"]
