"""What the tests of fleets have in common."""

import json
import subprocess
import sys

import pyarrow.compute as pc

#: An engine of each family, and a rival of two of them. No two families have one of these names.
ENGINES = ["btree:lowest", "rbtree:linux", "bitmap", "bitmap-linux", "std-btreemap"]
_FAMILIES = {"kva": ENGINES[:2], "pcpu": ENGINES[2:4], "vma": ENGINES[4:], "mt": ENGINES[4:]}


def exact(rows):
    """The figures that are the same in every run, whoever ran them."""
    kept = ["path", "engine", "op", "metric", "stat", "value", "params"]
    return sorted(map(str, rows.filter(pc.field("exact")).select(kept).to_pylist()))


def figures(rows):
    """The work of operations, by file: a line each, in order."""
    work = rows.filter(pc.field("metric") == "work").to_pylist()
    return sorted(f"{row['path']} {row['engine']} {row['op']} {row['stat']} {row['value']} {row['samples']}" for row in work)


def program_figures(paths):
    """The same as the program tells them."""
    lines = []
    for path in paths:
        engines = [word for engine in _FAMILIES[path.name.split(".")[1]] for word in ("--engine", engine)]
        command = [sys.executable, "-m", "freehold", "replay", str(path), "--rounds", "1", "--json", *engines]
        document = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        for row in document["records"]:
            engine = row.get("engine", "") + (":" + row["placement"] if "placement" in row else "")
            if row["metric"] == "work":
                lines.append(f"{path} {engine} {row['op']} {row['stat']} {float(row['value'])} {row['samples']}")
    return sorted(lines)
