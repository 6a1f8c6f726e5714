"""The note that a starter leaves."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from control_plane.embedded.record import Record


def test_what_is_written_is_read(tmp_path: Path) -> None:
    record = Record("unix:///s?db=0", 17, "ticks:99")
    record.write(tmp_path / "server.json")
    assert Record.read(tmp_path / "server.json") == record


def test_only_its_owner_can_read_it(tmp_path: Path) -> None:
    Record("redis://:pw@127.0.0.1:1/0").write(tmp_path / "server.json")
    assert stat.S_IMODE((tmp_path / "server.json").stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["server.json"]


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"url": 7}', "null", '"url"'])
def test_a_damaged_record_is_no_record(tmp_path: Path, text: str) -> None:
    (tmp_path / "server.json").write_text(text)
    assert Record.read(tmp_path / "server.json") is None


@pytest.mark.parametrize("rest", ['"pid": "7", "born": "x"', '"pid": 7', '"born": "x"'])
def test_a_pid_counts_only_with_its_birth(tmp_path: Path, rest: str) -> None:
    (tmp_path / "server.json").write_text('{"url": "unix:///s", ' + rest + "}")
    assert Record.read(tmp_path / "server.json") == Record("unix:///s")


def test_no_file_is_no_record(tmp_path: Path) -> None:
    assert Record.read(tmp_path / "server.json") is None
