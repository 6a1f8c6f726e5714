"""Nothing outside of the root is read, written, listed, moved or deleted, whatever is tried."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from campaigns import campaign
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from dcf.workspace import FileRefused, Files

Operation = Callable[[Files, str], Any]
OPERATIONS: dict[str, Operation] = {
    "list": lambda files, path: files.list_directory(path, recursive=True, include_hidden=True),
    "read": lambda files, path: files.read_file(path),
    "write": lambda files, path: files.write_file(path, "stolen"),
    "append": lambda files, path: files.write_file(path, "stolen", append=True),
    "make": lambda files, path: files.create_directory(path),
    "delete": lambda files, path: files.delete_path(path, recursive=True),
    "move from": lambda files, path: files.move_path(path, "taken"),
    "move to": lambda files, path: files.move_path("inside.txt", path, overwrite=True),
}
SECRET = "not for agents"


class World:
    """A root, and beside it what must stay as it is."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "root"
        self.files = Files(self.root)
        self.outside = folder / "outside"
        self.outside.mkdir()
        (self.outside / "secret.txt").write_text(SECRET)
        (self.outside / "only-outside").touch()
        (folder / "root-other").mkdir()
        (folder / "root-other" / "secret.txt").write_text(SECRET)
        (self.root / "inside.txt").write_text("inside")
        (self.root / "folder").mkdir()
        self.before = self.picture()

    def picture(self) -> list[tuple[str, str]]:
        """Everything beside the root."""
        return sorted(
            (str(path), path.read_text() if path.is_file() else "")
            for path in self.root.parent.rglob("*")
            if self.root not in path.parents and path != self.root
        )

    def attempt(self, operation: Operation, path: str) -> str | None:
        """The error code, None if it worked; whatever it gave holds nothing from outside."""
        try:
            result = operation(self.files, path)
        except FileRefused as error:
            return error.code
        assert SECRET not in repr(result)
        assert "only-outside" not in repr(result)
        return None


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    created = World(tmp_path)
    yield created
    assert created.picture() == created.before


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize(
    "path",
    [
        "..", "../", "../outside", "../outside/secret.txt", "./../outside", "folder/../../outside",
        "folder/../../outside/secret.txt", "a/b/../../../outside", "/", "//", "/etc/passwd",
        "//etc/passwd", "/..", "/../etc/passwd", "../root-other/secret.txt", "../root",
        "folder//..//..//outside", "/proc/self/root",
        "/dev/zero", "/dev/stdin", "~/../../outside/../../..", "../" * 50 + "etc/passwd",
        "inside.txt/../../outside/secret.txt",
    ],
    ids=lambda path: path[:24],
)  # fmt: skip
def test_paths_that_lead_out_are_outside_the_root(world: World, name: str, path: str) -> None:
    assert world.attempt(OPERATIONS[name], path) == "outside_root"


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize(
    "path",
    ["a\0b", "\0", "../\0", "\ud800", "x" * 5000, "/".join("a" * 100)],
    ids=["nul inside", "nul", "nul after", "surrogate", "long", "deep"],
)
def test_paths_that_are_none_are_refused(world: World, name: str, path: str) -> None:
    assert world.attempt(OPERATIONS[name], path) == "invalid_path"


@pytest.mark.parametrize("name", OPERATIONS)
def test_absolute_paths_of_neighbours_are_outside(world: World, name: str) -> None:
    for path in (f"{world.root}-other/secret.txt", f"{world.root}/../outside/secret.txt"):
        assert world.attempt(OPERATIONS[name], path) == "outside_root"


def test_absolute_paths_under_the_root_are_inside(world: World) -> None:
    assert world.files.read_file(f"{world.root}/inside.txt").content == "inside"
    assert world.files.list_directory(str(world.root)).path == "."


def test_a_root_that_is_reached_through_a_link_is_the_root(world: World, tmp_path: Path) -> None:
    other = tmp_path / "root" / "inner"
    other.mkdir()
    link = tmp_path / "root" / "link"
    link.symlink_to(other)
    files = Files(link)
    files.write_file(f"{link}/a", "1")
    assert files.read_file(f"{other}/a").content == "1"


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("below", ["", "/secret.txt", "/new", "/new/er"])
def test_links_on_the_way_are_not_followed(world: World, name: str, below: str) -> None:
    (world.root / "out").symlink_to(world.outside)
    (world.root / "up").symlink_to("..")
    for link in ("out", "up", "up/outside"):
        code = world.attempt(OPERATIONS[name], f"{link}{below}")
        # A link itself can be deleted, replaced by a move, and is there for create_directory.
        itself = not below and "/" not in link
        if name == "move to" and code == "source_not_found":
            assert link != "out"  # the first of them took the place of the link
        elif itself and name in ("delete", "move to"):
            assert code is None
        elif itself and name == "make":
            assert code == "already_exists"
        elif itself and name == "move from":
            assert code == "unsupported_type"
        else:
            assert code == "outside_root" or (code == "path_not_found" and name == "delete")
    assert world.outside.is_dir()


@pytest.mark.parametrize("target", ["/etc/passwd", "../outside/secret.txt", "inside.txt", "loop"])
@pytest.mark.parametrize("name", ["read", "write", "append"])
def test_links_at_the_end_are_not_followed(world: World, name: str, target: str) -> None:
    (world.root / "loop").symlink_to(target)
    assert world.attempt(OPERATIONS[name], "loop") == "outside_root"
    assert world.files.list_directory().entries[-1].type == "symlink"


def test_deleting_a_tree_deletes_links_and_not_what_they_lead_to(world: World) -> None:
    (world.root / "folder" / "out").symlink_to(world.outside)
    world.files.delete_path("folder", recursive=True)
    assert not (world.root / "folder").exists()


def test_a_listing_does_not_descend_into_links(world: World) -> None:
    (world.root / "folder" / "out").symlink_to(world.outside)
    entries = world.files.list_directory(recursive=True).entries
    assert [entry.path for entry in entries] == ["folder", "folder/out", "inside.txt"]


PARTS = st.sampled_from(
    ["..", ".", "", "folder", "out", "up", "inside.txt", "new", "~", "....", "..;", "%2e%2e",
     "\\..", "C:", "root", "outside", "secret.txt", "\u2025", "．．", "-rf", " ", "a\nb"]
)  # fmt: skip
PATHS = st.lists(PARTS, max_size=8).map("/".join) | st.text(max_size=20)


@pytest.fixture(scope="module")
def wild(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    created = World(tmp_path_factory.mktemp("wild"))
    yield created
    assert created.picture() == created.before


@campaign(shares=20)
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(path=PATHS, name=st.sampled_from(sorted(OPERATIONS)), absolute=st.booleans())
@example(path="out/secret.txt", name="delete", absolute=False)
def test_no_path_leads_out(share: int, wild: World, path: str, name: str, absolute: bool) -> None:
    for link, target in (("out", wild.outside), ("up", Path(".."))):
        place = wild.root / link
        if not os.path.lexists(place):
            place.symlink_to(target)
    wild.attempt(OPERATIONS[name], f"{wild.root}/{path}" if absolute else path)
    assert wild.picture() == wild.before


def _write_there(files: Files, path: str) -> Any:
    return files.write_file(path, "stolen", create_parents=False)


def _append_there(files: Files, path: str) -> Any:
    return files.write_file(path, "stolen", append=True, create_parents=False)


def test_a_folder_that_turns_into_a_link_while_it_is_used_leads_nowhere(world: World) -> None:
    """Another process swaps a folder and a link to the outside as fast as it can."""
    swapping = threading.Event()
    swapping.set()
    real, link = world.root / "folder", world.root / "link"
    (real / "secret.txt").write_text("harmless")
    link.symlink_to(world.outside)

    def swap() -> None:
        aside = world.root / "aside"
        while swapping.is_set():
            real.rename(aside)
            link.rename(real)
            real.rename(link)
            aside.rename(real)

    swapper = threading.Thread(target=swap)
    swapper.start()
    codes = set()
    try:
        for _ in range(300):
            for operation in (OPERATIONS["read"], _write_there, _append_there):
                codes.add(world.attempt(operation, "folder/secret.txt"))
    finally:
        swapping.clear()
        swapper.join()
    assert codes <= {
        None, "outside_root", "path_not_found", "parent_missing", "write_failed", "not_a_directory"
    }  # fmt: skip


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("meanwhile", ["link", "file"])
def test_a_folder_that_is_none_only_while_it_is_opened_is_refused(
    world: World, name: str, meanwhile: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The race of the test above, won each time: whoever looks before or after sees a folder."""
    real, aside = world.root / "folder", world.root / "aside"
    (real / "below").mkdir()
    other = world.root / "other"
    if meanwhile == "link":
        other.symlink_to(world.outside)
    else:
        other.touch()
    opened = os.open

    def open_meanwhile(path: Any, flags: int, *arguments: Any, **options: Any) -> int:
        if path != "folder":
            return opened(path, flags, *arguments, **options)
        real.rename(aside)
        other.rename(real)
        try:
            return opened(path, flags, *arguments, **options)
        finally:
            real.rename(other)
            aside.rename(real)

    monkeypatch.setattr(os, "open", open_meanwhile)
    assert world.attempt(OPERATIONS[name], "folder/below") == "not_a_directory"
