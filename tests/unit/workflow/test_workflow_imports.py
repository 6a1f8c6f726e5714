"""Files that a workflow document imports."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dcf.skills import SkillCatalog
from dcf.workflow.imports import Folders, read_imports


@pytest.mark.parametrize("kind", ["af_imports", "skill_imports"])
def test_a_pipe_is_refused_and_not_waited_for(kind: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    raw = {kind: [{"uri": "pipe.json"}]}
    read = read_imports(raw, Folders(tmp_path, tmp_path), SkillCatalog([]))
    (imported,) = (*read.agent_files, *read.skill_files)
    assert imported.error == "it is no regular file"


def test_a_file_above_the_limit_is_refused(tmp_path: Path) -> None:
    most = 16 * 1024 * 1024
    (tmp_path / "large.json").write_bytes(b" " * (most + 1))
    raw = {"skill_imports": [{"uri": "large.json"}]}
    (imported,) = read_imports(raw, Folders(tmp_path, tmp_path), SkillCatalog([])).skill_files
    assert imported.error == f"it has more than {most} bytes"
