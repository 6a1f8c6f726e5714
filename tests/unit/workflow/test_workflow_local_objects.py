"""Objects as files: whole or not at all, and nothing outside the folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcf.asl import ObjectRef
from dcf.workflow import LocalObjects


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
    assert store.get(ObjectRef("other", key)) is None


def test_a_listing_has_the_keys_below_a_prefix_in_order(tmp_path: Path) -> None:
    store = LocalObjects(tmp_path)
    for key in ("in/b", "in/a", "in/c/d", "out/x", "inn"):
        store.put("shelf", key, key.encode())
    listed = store.list("shelf", "in/")
    assert [entry["Key"] for entry in listed] == ["in/a", "in/b", "in/c/d"]
    assert [entry["Size"] for entry in listed] == [4, 4, 6]
    assert set(listed[0]) == {"Etag", "Key", "LastModified", "Size", "StorageClass"}


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
