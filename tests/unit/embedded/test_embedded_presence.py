"""Whether a server that loads alone is done: its log says so, for as long as there is one."""

from __future__ import annotations

from pathlib import Path

import pytest

from control_plane.embedded.filelock import try_lock
from control_plane.embedded.folder import DataFolder
from control_plane.embedded.presence import Presence
from control_plane.embedded.record import Record

BEFORE = "1:M * Ready to accept connections unix\n"
READY = "2:M * Ready to accept connections unix\n"


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    """One with the log of an earlier server, and the hidden socket and the record of a new one."""
    made = DataFolder(tmp_path)
    made.log.write_text(BEFORE)
    (tmp_path / "new-1").touch()
    url = f"unix://{tmp_path}/redis.sock?db=0"
    Record(url, 7, "b", len(BEFORE), str(tmp_path / "new-1")).write(made.record)
    return made


def loads(folder: DataFolder, presence: Presence | None = None) -> bool:
    record = Record.read(folder.record)
    assert record is not None
    return (presence or Presence(folder, "graph", 1)).loads(record)


def add(folder: DataFolder, text: str) -> None:
    with folder.log.open("a") as file:
        file.write(text)


@pytest.mark.parametrize("lost", ["cut", "cut and longer again", "removed"])
@pytest.mark.parametrize("noted", [True, False])
def test_once_let_out_it_does_not_load_whatever_becomes_of_its_log(
    folder: DataFolder, lost: str, noted: bool
) -> None:
    presence = Presence(folder, "graph", 1)
    assert loads(folder, presence)
    add(folder, READY)
    # While somebody starts or stops a server, the record is not changed.
    held = None if noted else try_lock(folder.start_lock)
    assert not loads(folder, presence)
    assert (folder.path / "redis.sock").exists() and not (folder.path / "new-1").exists()
    record = Record.read(folder.record)
    assert record is not None and record.pid == 7
    assert (record.log_start is None) == (held is None)
    folder.log.unlink()
    if lost != "removed":
        folder.log.write_text("2:M * Background\n" * (9 if "longer" in lost else 1))
    for asker in (presence, Presence(folder, "graph", 1)):
        assert not loads(folder, asker)


@pytest.mark.parametrize("lost", ["cut", "removed"])
def test_one_whose_log_is_lost_before_it_was_let_out_is_let_out(
    folder: DataFolder, lost: str
) -> None:
    folder.log.unlink()
    if lost == "cut":
        folder.log.write_text("2:M * Loading\n")
    assert not loads(folder)
    assert (folder.path / "redis.sock").exists()


def test_one_with_a_port_is_noted_to_be_done(folder: DataFolder) -> None:
    Record("redis://:pw@127.0.0.1:1/0", 7, "b", len(BEFORE)).write(folder.record)
    assert loads(folder)
    add(folder, READY)
    assert not loads(folder)
    folder.log.write_text("2:M * Background\n" * 9)
    assert not loads(folder)


def test_what_was_read_of_the_log_is_not_read_again(folder: DataFolder) -> None:
    presence, loading = Presence(folder, "graph", 1), "2:M * Loading".ljust(len(READY)) + "\n"
    add(folder, loading)
    assert loads(folder, presence)
    # Whoever reads that again finds what was never said.
    with folder.log.open("r+") as file:
        file.seek(len(BEFORE))
        file.write(READY)
    assert loads(folder, presence)
    add(folder, READY[:20])
    assert loads(folder, presence)
    add(folder, READY[20:])
    assert not loads(folder, presence)
