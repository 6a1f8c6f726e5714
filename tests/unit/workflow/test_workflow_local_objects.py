"""Objects as files: whole or not at all, and nothing outside the folder."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from dcf.asl import ObjectRef
from dcf.asl.maps import object_store
from dcf.workflow import LocalObjects, local_objects


def test_what_is_put_can_be_got(tmp_path: Path) -> None:
    store = LocalObjects(tmp_path / "objects")
    store.put("shelf", "a/b/c.json", b"[1]")
    assert store.get(ObjectRef("shelf", "a/b/c.json")) == b"[1]"
    assert (tmp_path / "objects" / "shelf" / "a" / "b" / "c.json").read_bytes() == b"[1]"


def test_the_same_again_replaces_it(tmp_path: Path) -> None:
    store = LocalObjects(tmp_path)
    store.put("shelf", "a", b"one")
    store.put("shelf", "a", b"two")
    assert store.get(ObjectRef("shelf", "a")) == b"two"
    assert [file.name for file in (tmp_path / "shelf").iterdir()] == ["a"]


@pytest.mark.parametrize("key", ["missing", "a/missing"])
def test_what_is_not_there_is_none(tmp_path: Path, key: str) -> None:
    store = LocalObjects(tmp_path)
    store.put("shelf", "a/b", b"")
    assert store.get(ObjectRef("shelf", key)) is None


def test_a_listing_has_the_keys_below_a_prefix_in_order(tmp_path: Path) -> None:
    store = LocalObjects(tmp_path)
    for key in ("in/b", "in/a", "in/c/d", "out/x", "inn"):
        store.put("shelf", key, key.encode())
    listed = store.list("shelf", "in/")
    assert [entry["Key"] for entry in listed] == ["in/a", "in/b", "in/c/d"]
    assert [entry["Size"] for entry in listed] == [4, 4, 6]
    assert set(listed[0]) == {"Etag", "Key", "LastModified", "Size", "StorageClass"}


def test_a_bucket_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    for root in (tmp_path, tmp_path / "nowhere"):
        store = LocalObjects(root)
        for act in (lambda: store.get(ObjectRef("other", "a")), lambda: store.list("other", "")):  # noqa: B023
            with pytest.raises(OSError, match="The specified bucket does not exist: other"):
                act()


def test_there_are_no_versions(tmp_path: Path) -> None:
    store = LocalObjects(tmp_path)
    store.put("shelf", "a", b"")
    with pytest.raises(OSError, match="no versions"):
        store.get(ObjectRef("shelf", "a", "v1"))


@pytest.mark.parametrize("name", ["a\ud800", "\udcff/b"])
def test_half_a_character_is_no_name(tmp_path: Path, name: str) -> None:
    store = LocalObjects(tmp_path)
    store.put("shelf", "a", b"")
    for act in (
        lambda: store.get(ObjectRef("shelf", name)),
        lambda: store.get(ObjectRef(name, "a")),
        lambda: store.put("shelf", name, b""),
        lambda: store.list("shelf", name),
    ):
        with pytest.raises(OSError) as caught:
            act()
        str(caught.value).encode()  # it can be told


def test_a_file_whose_name_is_no_text_is_told_where_it_is_listed(tmp_path: Path) -> None:
    store = LocalObjects(tmp_path)
    store.put("shelf", "in/a", b"")
    (tmp_path / "shelf" / "out").mkdir()
    Path(tmp_path, "shelf", "out", os.fsdecode(b"\xff")).touch()
    assert [entry["Key"] for entry in store.list("shelf", "in/")] == ["in/a"]
    with pytest.raises(OSError, match="UTF-8") as caught:
        store.list("shelf", "")
    assert str(tmp_path) not in str(caught.value)


@pytest.mark.parametrize("prefix", ["none/", "in/a/b", "../", "/", "in//a", "link/"])
def test_a_prefix_that_no_key_has_lists_nothing(tmp_path: Path, prefix: str) -> None:
    store = LocalObjects(tmp_path / "objects")
    store.put("shelf", "in/a", b"")
    (tmp_path / "objects" / "shelf" / "link").symlink_to(tmp_path)
    assert list(store.list("shelf", prefix)) == []


def test_only_the_folders_below_the_prefix_are_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, opened = LocalObjects(tmp_path), []
    for key in ("a/b/c/1", "a/x/2", "z/3"):
        store.put("shelf", key, b"")
    enter = os.open
    monkeypatch.setattr(
        os, "open", lambda path, *args, **kw: opened.append(str(path)) or enter(path, *args, **kw)
    )
    assert [entry["Key"] for entry in store.list("shelf", "a/b")] == ["a/b/c/1"]
    assert not {"x", "z"} & set(opened)


def test_a_folder_that_cannot_be_looked_into_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = LocalObjects(tmp_path)
    store.put("shelf", "in/a", b"")

    def refuse(_: int) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(tmp_path))

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(OSError, match=r"^shelf/in/: Permission denied$"):
        store.list("shelf", "in/")


def test_what_is_too_large_or_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_objects, "MAX_READ_BYTES", 3)
    monkeypatch.setattr(object_store, "MAX_LISTED", 2)
    store = LocalObjects(tmp_path)
    for key, content in (("a", b"123"), ("b", b"1234"), ("c", b"")):
        store.put("shelf", key, content)
    assert store.get(ObjectRef("shelf", "a")) == b"123"
    with pytest.raises(OSError, match="more than 3 bytes"):
        store.get(ObjectRef("shelf", "b"))
    with pytest.raises(OSError, match="more than 2 objects"):
        store.list("shelf", "")


@pytest.mark.parametrize(
    "key", ["../x", "a/../../x", "/etc/passwd", "a//b", ".", "a/.", "", "a\0b"]
)
def test_a_key_that_leads_elsewhere_is_refused(tmp_path: Path, key: str) -> None:
    store = LocalObjects(tmp_path / "objects")
    (tmp_path / "x").write_text("secret")
    with pytest.raises(OSError):
        store.get(ObjectRef("shelf", key))
    with pytest.raises(OSError):
        store.put("shelf", key, b"!")
    assert (tmp_path / "x").read_text() == "secret"


@pytest.mark.parametrize("bucket", ["", "..", ".", "a/b", "/", "-x", "a\0"])
def test_a_bucket_that_is_no_name_is_refused(tmp_path: Path, bucket: str) -> None:
    store = LocalObjects(tmp_path)
    for act in (
        lambda: store.get(ObjectRef(bucket, "a")),
        lambda: store.put(bucket, "a", b""),
        lambda: store.list(bucket, ""),
    ):
        with pytest.raises(OSError):
            act()


def test_symbolic_links_are_not_followed(tmp_path: Path) -> None:
    store, outside = LocalObjects(tmp_path / "objects"), tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("secret")
    store.put("shelf", "a", b"")
    (tmp_path / "objects" / "shelf" / "link").symlink_to(outside)
    (tmp_path / "objects" / "shelf" / "file").symlink_to(outside / "secret")
    (tmp_path / "objects" / "bucket").symlink_to(outside)
    for ref in (ObjectRef("shelf", "link/secret"), ObjectRef("bucket", "secret")):
        with pytest.raises(OSError):
            store.get(ref)
    with pytest.raises(OSError):
        store.get(ObjectRef("shelf", "file"))
    with pytest.raises(OSError):
        store.put("shelf", "link/new", b"!")
    with pytest.raises(OSError):
        store.list("bucket", "")
    assert [entry["Key"] for entry in store.list("shelf", "")] == ["a"]
    assert [file.name for file in outside.iterdir()] == ["secret"]


def test_an_error_does_not_name_the_folder(tmp_path: Path) -> None:
    store = LocalObjects(tmp_path)
    store.put("shelf", "a", b"")
    with pytest.raises(OSError) as caught:
        store.get(ObjectRef("shelf", "a/b"))
    assert str(caught.value).startswith("shelf/a/b: ")
    assert str(tmp_path) not in str(caught.value)
