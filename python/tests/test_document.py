"""What docs/python.md tells a newcomer to type runs, block after block."""

import os
import re
from pathlib import Path

from conftest import DATA

DOCUMENT = Path(os.environ.get("FREEHOLD_DOCUMENT", Path(__file__).parents[2] / "docs" / "python.md"))


def test_every_block_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").symlink_to(DATA.resolve())
    blocks = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)
    assert len(blocks) >= 6
    names = {}
    for block in blocks:
        exec(compile(block, DOCUMENT.name, "exec"), names)
    printed = capsys.readouterr().out
    assert "0 mismatches" in printed and "btree:lowest" in printed
    assert (tmp_path / "results.parquet" / "family=kva").is_dir()
