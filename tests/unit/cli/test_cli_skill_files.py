"""Files that commands about skills read: a pipe holds none up, and none is read without measure."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from dcf.cli.settings import Settings
from dcf.cli.skills_diff import diff_skills
from dcf.cli.skills_export import ExportOrder, export_skills
from dcf.cli.skills_lock import LockOrder, lock_tools
from dcf.cli.trouble import BadInput
from dcf.regular_file import LARGEST
from dcf.tools import InvalidDocument
from dcf.worker import read_lock

GENERATED = Path(__file__).parents[3] / "generated"


def huge(path: Path) -> Path:
    path.touch()
    os.truncate(path, LARGEST + 1)
    return path


def refused_lock(src: Path) -> str:
    with pytest.raises(BadInput) as caught:
        lock_tools(LockOrder(src, (), check=True), Settings.from_env({"HOME": str(src)}))
    return caught.value.problems[0].code


def test_a_manifest_to_compare_is_not_read_without_measure(tmp_path: Path) -> None:
    file = str(huge(tmp_path / "manifest.json"))
    with pytest.raises(BadInput) as caught:
        diff_skills(file, file, GENERATED, check=False)
    assert "File too large" in caught.value.problems[0].message


def test_a_lock_of_tools_is_a_regular_file_of_some_measure(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "tools.lock.json")
    assert refused_lock(tmp_path) == "LOCK_JSON"
    (tmp_path / "tools.lock.json").unlink()
    huge(tmp_path / "tools.lock.json")
    assert refused_lock(tmp_path) == "LOCK_JSON"


@pytest.mark.parametrize("text", [None, "[]", '{"tests": [{}]}', '{"tests": 1}', "[" * 100_000])
def test_tests_that_cannot_be_read_are_not_left_out_of_an_export(
    text: str | None, tmp_path: Path
) -> None:
    generated = tmp_path / "generated"
    shutil.copytree(GENERATED, generated)
    tests = generated / "tests" / "skill_tests.json"
    tests.unlink()
    tests.write_text(text) if text is not None else os.mkfifo(tests)
    order = ExportOrder((), tmp_path / "out", generated, tmp_path / "src", everything=True)
    with pytest.raises(BadInput, match="tests of the skills"):
        export_skills(order)
    assert not order.out.exists()


def test_a_lock_of_skills_is_not_read_without_measure(tmp_path: Path) -> None:
    huge(tmp_path / "skills.lock")
    with pytest.raises(InvalidDocument, match="File too large"):
        read_lock(tmp_path)
