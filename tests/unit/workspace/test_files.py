"""The file operations, their results and their error codes."""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from dcf.workspace import FileRefused, Files
from dcf.workspace.files import MAX_BYTES


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "root"


@pytest.fixture
def files(root: Path) -> Files:
    return Files(root)


@contextmanager
def refused(code: str) -> Iterator[None]:
    with pytest.raises(FileRefused) as caught:
        yield
    assert caught.value.code == code


def names(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*"))


def test_what_is_written_is_read(files: Files, root: Path) -> None:
    written = files.write_file("notes/größe.txt", "äöü\nzwei\r\n")
    assert (written.path, written.bytes_written, written.mode) == (
        "notes/größe.txt", 13, "overwrite",
    )  # fmt: skip
    read = files.read_file("notes/größe.txt")
    assert (read.content, read.bytes_read, read.truncated) == ("äöü\nzwei\r\n", 13, False)
    assert (root / "notes" / "größe.txt").read_bytes() == "äöü\nzwei\r\n".encode()


def test_offset_and_length_count_bytes_and_cut_no_character(files: Files) -> None:
    files.write_file("a.txt", "aäöb")
    first = files.read_file("a.txt", length=4)
    assert (first.content, first.bytes_read, first.truncated) == ("aä", 3, True)
    rest = files.read_file("a.txt", offset=first.bytes_read)
    assert (rest.content, rest.truncated) == ("öb", False)
    assert files.read_file("a.txt", offset=10**30).content == ""


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "latin-1", "utf-8-sig", "utf-32-be"])
def test_encodings(files: Files, encoding: str) -> None:
    files.write_file("a.txt", "ä1", encoding=encoding)
    assert files.read_file("a.txt", encoding=encoding).content == "ä1"


@pytest.mark.parametrize("encoding", ["rot13", "zlib", "base64", "idna", "none", "", "utf\x008"])
def test_an_encoding_is_one_of_texts(files: Files, encoding: str) -> None:
    with refused("unknown_encoding"):
        files.write_file("a.txt", "a", encoding=encoding)


def test_what_cannot_be_read_is_said(files: Files, root: Path) -> None:
    files.create_directory("folder")
    (root / "binary").write_bytes(b"\xff\xfe\xff")
    for path, code in {
        "missing": "path_not_found",
        "missing/too": "path_not_found",
        "folder": "not_a_file",
        ".": "not_a_file",
        "binary/x": "not_a_directory",
        "binary": "decode_failed",
    }.items():
        with refused(code):
            files.read_file(path)
    with refused("read_failed"):
        files.read_file("binary", offset=-1)
    files.write_file("wide", "ä")
    with refused("decode_failed"):
        files.read_file("wide", length=1)


def test_append_adds_at_the_end(files: Files) -> None:
    files.write_file("log", "one\n", append=True)
    assert files.write_file("log", "two\n", append=True).mode == "append"
    assert files.read_file("log").content == "one\ntwo\n"


def test_overwriting_keeps_the_mode_and_leaves_nothing_beside(files: Files, root: Path) -> None:
    files.write_file("run.sh", "a")
    (root / "run.sh").chmod(0o750)
    files.write_file("run.sh", "b")
    assert stat.S_IMODE((root / "run.sh").stat().st_mode) == 0o750
    assert names(root) == ["run.sh"]


def test_a_write_that_fails_leaves_the_old_file(
    files: Files, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files.write_file("a", "old")

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with refused("write_failed"):
        files.write_file("a", "new")
    monkeypatch.undo()
    assert files.read_file("a").content == "old"
    assert names(root) == ["a"]


def test_what_cannot_be_written_is_said(files: Files) -> None:
    files.write_file("file", "x")
    files.create_directory("folder")
    with refused("parent_missing"):
        files.write_file("no/file", "x", create_parents=False)
    with refused("not_a_directory"):
        files.write_file("file/below", "x")
    with refused("not_a_file"):
        files.write_file("folder", "x")
    with refused("not_a_file"):
        files.write_file("new/", "x")
    with refused("write_failed"):
        files.write_file("a", "ä", encoding="ascii")
    with refused("too_large"):
        files.write_file("a", "x" * (MAX_BYTES + 1))
    with refused("write_failed"):
        files.write_file("n" * 300, "x")


def test_a_listing_is_in_order_and_hides_what_begins_with_a_dot(files: Files) -> None:
    for path in ("b/c.txt", "a.txt", ".hidden", ".git/config", "b/.x"):
        files.write_file(path, "12")
    listing = files.list_directory()
    assert [entry.path for entry in listing.entries] == ["a.txt", "b"]
    assert [entry.type for entry in listing.entries] == ["file", "directory"]
    assert [entry.size for entry in listing.entries] == [2, None]
    below = files.list_directory(recursive=True)
    assert [entry.path for entry in below.entries] == ["a.txt", "b", "b/c.txt"]
    everything = files.list_directory(".", recursive=True, include_hidden=True)
    assert [entry.path for entry in everything.entries] == [
        ".git", ".git/config", ".hidden", "a.txt", "b", "b/.x", "b/c.txt",
    ]  # fmt: skip
    assert files.list_directory("b").entries[0].path == "b/c.txt"


@pytest.mark.parametrize("limit, truncated", [(0, True), (2, True), (3, False), (10**9, False)])
def test_a_listing_says_when_it_is_cut(files: Files, limit: int, truncated: bool) -> None:
    for name in "abc":
        files.write_file(name, "")
    listing = files.list_directory(max_entries=limit)
    assert (len(listing.entries), listing.truncated) == (min(limit, 3), truncated)


def test_what_cannot_be_listed_is_said(files: Files) -> None:
    files.write_file("file", "x")
    with refused("path_not_found"):
        files.list_directory("no")
    with refused("not_a_directory"):
        files.list_directory("file")


def test_names_that_are_no_text_are_listed(files: Files, root: Path) -> None:
    (root / os.fsdecode(b"caf\xe9")).touch()
    assert [entry.name for entry in files.list_directory().entries] == ["caf\ufffd"]


def test_folders_are_made_once(files: Files) -> None:
    assert files.create_directory("a/b").created
    assert not files.create_directory("a/b").created
    assert not files.create_directory(".").created
    files.write_file("file", "x")
    with refused("already_exists"):
        files.create_directory("a/b", exist_ok=False)
    with refused("already_exists"):
        files.create_directory("file")
    with refused("mkdir_failed"):
        files.create_directory("x/y", parents=False)


def test_deleting(files: Files, root: Path) -> None:
    for path in ("a", "b/c", "b/d/e"):
        files.write_file(path, "x")
    assert files.delete_path("a").removed
    with refused("remove_failed"):
        files.delete_path("b")
    files.delete_path("b", recursive=True)
    assert names(root) == []
    with refused("path_not_found"):
        files.delete_path("a")
    with refused("remove_failed"):
        files.delete_path(".", recursive=True)


def test_moving(files: Files, root: Path) -> None:
    files.write_file("a", "1")
    files.move_path("a", "x/y/b")
    assert names(root) == ["x", "x/y", "x/y/b"]
    files.move_path("x/y", "z")
    assert names(root) == ["x", "z", "z/b"]
    with refused("source_not_found"):
        files.move_path("no", "b")
    with refused("destination_parent_missing"):
        files.move_path("z", "n/z", create_parents=False)
    with refused("move_failed"):
        files.move_path("z", "z/inner")
    with refused("move_failed"):
        files.move_path("z", ".")


def test_moving_over_something_needs_overwrite(files: Files, root: Path) -> None:
    for path in ("a", "tree/b", "tree/c/d"):
        files.write_file(path, path)
    with refused("destination_exists"):
        files.move_path("a", "tree")
    files.move_path("a", "tree", overwrite=True)
    assert names(root) == ["tree"]
    assert files.read_file("tree").content == "a"
    with refused("destination_exists"):
        files.write_file("p/q", "x") and files.move_path("p/q", "p", overwrite=True)


@pytest.mark.parametrize("path", ["kept", "kept/a", "kept/new", "up", "up/kept", "KEPT/a", "Up"])
def test_what_is_kept_is_read_and_not_changed(tmp_path: Path, path: str) -> None:
    Files(tmp_path).write_file("kept/a", "1")
    Files(tmp_path).write_file("up/kept/a", "1")
    Files(tmp_path).write_file("other", "1")
    kept = tmp_path / "kept", tmp_path / "up" / "kept"
    files = Files(tmp_path, kept=kept)
    assert files.read_file("kept/a").content == "1"
    before = names(tmp_path)
    for change in (
        lambda: files.delete_path(path, recursive=True),
        lambda: files.move_path(path, "elsewhere"),
        lambda: files.move_path("other", path, overwrite=True),
        lambda: files.write_file(path, "2", append=True),
    ):
        with refused("read_only"):
            change()
    assert names(tmp_path) == before
    assert files.write_file("up/new", "2").bytes_written == 1


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        here = Path.cwd()
        os.chdir(path.parent)
        try:
            server.bind(path.name)
        finally:
            os.chdir(here)


@pytest.mark.parametrize("make", [_pipe, _socket])
def test_pipes_and_sockets_are_refused_at_once(
    files: Files, root: Path, make: Callable[[Path], None]
) -> None:
    make(root / "odd")
    assert files.list_directory().entries[0].type == "other"
    with refused("not_a_file"):
        files.read_file("odd")
    with refused("not_a_file"):
        files.write_file("odd", "x", append=True)
    with refused("not_a_file"):
        files.write_file("odd", "x")
    with refused("unsupported_type"):
        files.delete_path("odd")
    with refused("unsupported_type"):
        files.move_path("odd", "even")


def test_a_tree_deeper_than_any_path_is_listed_and_deleted(files: Files, root: Path) -> None:
    deep = "/".join("d" * 50)
    files.write_file(f"{deep}/bottom", "x")
    for _ in range(40):
        files.create_directory(f"new/{deep}")
        files.move_path("d", f"new/{deep}/d")
        files.move_path("new", "d")
    assert len(files.list_directory(recursive=True).entries) == 65
    files.delete_path("d", recursive=True)
    assert names(root) == []


def test_a_file_that_becomes_a_folder_before_it_is_opened_leaves_nothing_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = Files(tmp_path)
    looked = Files._regular

    def swap(*arguments: Any, **options: Any) -> None:
        looked(*arguments, **options)
        (tmp_path / "a").unlink()
        (tmp_path / "a").mkdir()

    (tmp_path / "a").touch()
    monkeypatch.setattr(Files, "_regular", staticmethod(swap))
    before = len(list(Path("/proc/self/fd").iterdir()))
    with pytest.raises(FileRefused, match="is no file"):
        files.read_file("a")
    assert len(list(Path("/proc/self/fd").iterdir())) == before
