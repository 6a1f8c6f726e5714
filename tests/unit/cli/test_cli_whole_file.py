"""Files that a command writes are there whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
import threading
from pathlib import Path

import pytest

from dcf.cli.whole_file import whole_file


@pytest.fixture(params=["links", "no links"])
def links(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """File systems with hard links, and without."""

    def refuse(*_: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    if request.param == "no links":
        monkeypatch.setattr(os, "link", refuse)


@pytest.mark.usefixtures("links")
def test_a_file_appears_at_the_end_for_its_owner_alone(tmp_path: Path) -> None:
    file = tmp_path / "folder" / "out.txt"
    with whole_file(file, overwrite=False) as stream:
        stream.write(b"text")
        stream.flush()
        assert not file.exists()
    assert file.read_bytes() == b"text"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(file.parent.iterdir()) == [file]


@pytest.mark.parametrize("overwrite", [False, True])
def test_nothing_is_left_of_a_block_that_raises(tmp_path: Path, overwrite: bool) -> None:
    file = tmp_path / "out.txt"
    if overwrite:
        file.write_bytes(b"old")
    with (
        pytest.raises(RuntimeError, match="broken"),
        whole_file(file, overwrite=overwrite) as stream,
    ):
        stream.write(b"half")
        raise RuntimeError("broken")
    assert [one.read_bytes() for one in tmp_path.iterdir()] == [b"old"] * overwrite


@pytest.mark.usefixtures("links")
def test_a_file_that_somebody_made_meanwhile_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "out.txt"
    with (
        pytest.raises(FileExistsError) as caught,
        whole_file(file, overwrite=False) as stream,
    ):
        stream.write(b"mine")
        file.write_bytes(b"theirs")
    assert caught.value.filename == str(file)
    assert file.read_bytes() == b"theirs"
    assert list(tmp_path.iterdir()) == [file]


def test_an_error_names_the_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    place = tmp_path / "file" / "out.txt"
    with pytest.raises(OSError) as caught, whole_file(place, overwrite=False):
        pytest.fail("there is no such folder")
    assert caught.value.filename == str(place)


def test_a_pipe_is_written_to_and_stays_one(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    with whole_file(pipe, overwrite=True) as stream:
        stream.write(b"text")
    reader.join()
    assert read == [b"text"]
    assert pipe.is_fifo()


def test_what_a_link_links_to_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    file, link = tmp_path / "far" / "out.txt", tmp_path / "link"
    file.write_bytes(b"old")
    link.symlink_to(file)
    with whole_file(link, overwrite=True) as stream:
        stream.write(b"new")
    assert link.is_symlink()
    assert file.read_bytes() == b"new"
    with pytest.raises(FileExistsError), whole_file(link, overwrite=False) as stream:
        stream.write(b"other")
    assert file.read_bytes() == b"new"


def test_what_a_process_has_open_is_written_to(tmp_path: Path) -> None:
    with (tmp_path / "out.txt").open("wb") as opened:
        with whole_file(Path(f"/proc/self/fd/{opened.fileno()}"), overwrite=True) as stream:
            stream.write(b"text")
        assert os.fstat(opened.fileno()).st_size == 4


def test_an_error_of_something_else_does_not_name_the_file(tmp_path: Path) -> None:
    with (
        pytest.raises(TimeoutError, match="no answer"),
        whole_file(tmp_path / "out.txt", overwrite=False),
    ):
        raise TimeoutError("no answer")
