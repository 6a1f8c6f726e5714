"""Sources that hold a reader up: special files, patterns without end, values without measure."""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path

import pytest
from skill_samples import SKILL, SKILL_FILE, TOOLS, TOOLS_FILE, write_sources

from dcf.problem import Problem
from dcf.regular_file import LARGEST, read_regular
from dcf.skills import validate_sources
from dcf.skills.errors import UnknownSkill
from dcf.skills.version import newest, parse_ref


def problems_of(root: Path) -> set[str]:
    started = time.process_time()
    found = {problem.code for problem in validate_sources(root)}
    assert time.process_time() - started < 3
    return found


@pytest.mark.parametrize("name", ["skills/pipe.skill.yaml", "policy.yaml", "tools.lock.json"])
def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path, name: str) -> None:
    root = write_sources(tmp_path)
    os.mkfifo(root / name)
    assert "SKILL_FILE_UNREADABLE" in problems_of(root)


def test_devices_sockets_and_folders_are_no_sources(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write_sources(tmp_path)
    (root / "skills/zero.skill.yaml").symlink_to("/dev/zero")
    (root / "skills/folder.skill.yaml").mkdir()
    monkeypatch.chdir(root / "skills")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket.skill.yaml")  # a path of a socket has at most 107 bytes
    found = [one for one in validate_sources(root) if one.code == "SKILL_FILE_UNREADABLE"]
    assert len(found) == 3


def test_a_regular_file_is_read_through_links(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"text")
    (tmp_path / "b").symlink_to("a")
    assert read_regular(tmp_path / "b") == b"text"
    assert read_regular(tmp_path / "b", 2) == b"te"


def test_a_folder_is_named_and_not_left_open(tmp_path: Path) -> None:
    descriptors = Path("/proc/self/fd")
    before = len(list(descriptors.iterdir()))
    with pytest.raises(IsADirectoryError) as refused:
        read_regular(tmp_path)
    assert str(refused.value.filename) == str(tmp_path)
    assert len(list(descriptors.iterdir())) == before


def test_a_file_without_measure_is_refused_before_it_is_read(tmp_path: Path) -> None:
    huge = tmp_path / "huge"
    huge.touch()
    os.truncate(huge, LARGEST + 1)
    with pytest.raises(OSError, match="File too large"):
        read_regular(huge)
    assert read_regular(huge, 3) == bytes(3)


def test_a_pattern_of_a_schema_that_is_too_slow_is_a_problem(tmp_path: Path) -> None:
    tools = TOOLS.replace("label: { type: string }", 'label: { pattern: "^(a+)+$" }', 1)
    case = f"response: {{ degrees: 60 }}\n            arguments: {{ label: '{'a' * 40_000}#' }}"
    tools = tools.replace("response: { degrees: 60 }", case, 1)
    root = write_sources(tmp_path)
    (root / TOOLS_FILE).write_text(tools)
    assert "TOOL_SCHEMA_SLOW" in problems_of(root)


@pytest.mark.parametrize("pattern", ["^(a|aa)+$", "^ORD-([0-9]|[0-9]{2})+$", "^(\\w|\\w\\w)+$"])
def test_a_slow_pattern_of_a_case_is_warned_of(tmp_path: Path, pattern: str) -> None:
    match = f"strategy: regex, path: label, value: '{pattern}'"
    root = write_sources(tmp_path)
    (root / TOOLS_FILE).write_text(TOOLS.replace("strategy: exact, path: cups, value: 9", match))
    found = [one for one in validate_sources(root) if one.code == "TOOL_CASE_REGEX_SLOW"]
    assert [one.severity for one in found] == ["warning"]


@pytest.mark.parametrize("pattern", ["^ORD-[0-9]{4}$", "refund|return", ".*late.*", "^a+$"])
def test_a_usual_pattern_is_not_warned_of(tmp_path: Path, pattern: str) -> None:
    match = f"strategy: regex, path: label, value: '{pattern}'"
    root = write_sources(tmp_path)
    (root / TOOLS_FILE).write_text(TOOLS.replace("strategy: exact, path: cups, value: 9", match))
    assert "TOOL_CASE_REGEX_SLOW" not in problems_of(root)


def test_a_problem_quotes_little_of_a_large_value(tmp_path: Path) -> None:
    root = write_sources(tmp_path)
    (root / SKILL_FILE).write_text(SKILL.replace("kettle:boil", "k" * 500_000 + ":boil"))
    assert all(len(one.message) + len(one.hint) < 2_500 for one in validate_sources(root))
    assert len(Problem("X", "a" * 9_000_000).message) < 500
    assert Problem("X", "a" * 900).message == "a" * 900


def test_an_empty_version_is_no_version() -> None:
    assert newest(["1.0.0"], parse_ref("tea.brew@").wanted) is None
    assert newest(["1.0.0"], parse_ref("tea.brew").wanted) == "1.0.0"
    assert "leave @ out" in str(UnknownSkill("tea.brew@"))
