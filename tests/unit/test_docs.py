"""The generated pages are what the code says now."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]


def test_generated_pages_are_current(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-I", str(TOP / "docs/generate.py"), str(tmp_path)], check=True)
    made = {str(path.relative_to(tmp_path)): path.read_text(encoding="utf-8") for path in tmp_path.rglob("*.md")}
    kept = {
        str(path.relative_to(TOP / "docs")): path.read_text(encoding="utf-8")
        for path in (TOP / "docs").rglob("*.md")
        if "written by bin/docs" in path.read_text(encoding="utf-8")
    }
    assert sorted(made) == sorted(kept), "run bin/docs"
    assert [name for name in made if made[name] != kept[name]] == [], "run bin/docs"
