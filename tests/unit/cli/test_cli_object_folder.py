"""Objects in a folder: nothing outside of it is read or written."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcf.asl import ObjectRef
from dcf.cli.object_folder import ObjectFolder

OUTSIDE = [
    ("shelf", "../../secret"),
    ("shelf", "/etc/passwd"),
    ("..", "secret"),
    ("../outside", "a"),
    ("", "secret"),
    (".", "secret"),
    ("shelf", ""),
    ("shelf", "."),
    ("shelf", "a\0b"),
    ("link", "secret"),
    ("shelf", "way-out/secret"),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "objects"
    (root / "shelf" / "a").mkdir(parents=True)
    (root / "shelf" / "a" / "one.json").write_text("[1]")
    (root / "shelf" / "b.txt").write_text("text")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("secret")
    (tmp_path / "secret").write_text("secret")
    (root / "link").symlink_to(outside)
    (root / "shelf" / "way-out").symlink_to(outside)
    return root


def test_objects_are_files(folder: Path) -> None:
    store = ObjectFolder(folder)
    store.put("new", "deep/two.json", b"[2]")

    assert store.get(ObjectRef("shelf", "a/one.json")) == b"[1]"
    assert store.get(ObjectRef("new", "deep/two.json")) == b"[2]"
    assert store.get(ObjectRef("shelf", "none")) is None
    assert store.get(ObjectRef("shelf", "a")) is None


def test_a_listing_has_the_keys_with_the_prefix(folder: Path) -> None:
    store = ObjectFolder(folder)

    listed = store.list("shelf", "")

    assert [(one["Key"], one["Size"]) for one in listed] == [("a/one.json", 3), ("b.txt", 4)]
    assert [one["Key"] for one in store.list("shelf", "a/o")] == ["a/one.json"]
    assert store.list("empty", "") == []


@pytest.mark.parametrize(("bucket", "key"), OUTSIDE)
def test_nothing_outside_is_read_or_written(folder: Path, bucket: str, key: str) -> None:
    store = ObjectFolder(folder)

    with pytest.raises(OSError):
        store.get(ObjectRef(bucket, key))
    with pytest.raises(OSError):
        store.put(bucket, key, b"x")
    assert (folder.parent / "secret").read_text() == "secret"
    assert (folder.parent / "outside" / "secret").read_text() == "secret"


def test_a_folder_keeps_no_versions(folder: Path) -> None:
    with pytest.raises(OSError, match="no versions"):
        ObjectFolder(folder).get(ObjectRef("shelf", "b.txt", "v1"))
