"""Objects of an interpreted execution: what is missing or too much is an answer."""

from __future__ import annotations

import pytest

from dcf.asl import (
    ItemsRead,
    ItemsUnreadable,
    MemoryObjects,
    ObjectRef,
    ReadItems,
    ResultsUnwritable,
    WriteResults,
    read_items,
    write_results,
)
from dcf.asl.maps import object_store

STORE = MemoryObjects({"shelf/a": b"12", "shelf/b": b"345"})


def reading(*keys: str) -> ReadItems:
    return ReadItems(tuple(ObjectRef("shelf", key) for key in keys))


def test_all_objects_are_read() -> None:
    assert read_items(STORE, reading("a", "b")) == ItemsRead(reading("a", "b"), (b"12", b"345"))


def test_a_missing_key_and_a_missing_bucket_are_told_apart() -> None:
    key = read_items(STORE, reading("c"))
    bucket = read_items(STORE, ReadItems((ObjectRef("other", "a"),)))
    listing = read_items(STORE, ReadItems((), ("other", "")))
    assert key == ItemsUnreadable("The specified key does not exist: shelf/c")
    assert bucket == ItemsUnreadable("The specified bucket does not exist: other")
    assert listing == bucket


def test_there_are_no_versions() -> None:
    event = read_items(STORE, ReadItems((ObjectRef("shelf", "a", "v7"),)))
    assert isinstance(event, ItemsUnreadable)
    assert "no versions" in event.cause


def test_objects_may_only_have_so_many_bytes_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(object_store, "MAX_READ_BYTES", 4)
    event = read_items(STORE, reading("a", "b"))
    assert event == ItemsUnreadable("the objects have more than 4 bytes together")
    assert isinstance(read_items(STORE, reading("b")), ItemsRead)


@pytest.mark.parametrize("request_", [reading("a", "b"), ReadItems((), ("shelf", ""))])
def test_only_so_many_objects_are_read_or_listed(
    request_: ReadItems, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(object_store, "MAX_LISTED", 1)
    event = read_items(STORE, request_)
    assert isinstance(event, ItemsUnreadable)
    assert "more than 1 objects" in event.cause


def test_causes_are_text_whatever_the_names() -> None:
    class Full(MemoryObjects):
        def put(self, bucket: str, key: str, content: bytes) -> None:
            raise OSError(f"{bucket}/{key}: no space")

    read = read_items(STORE, reading("\ud800"))
    written = write_results(Full(), WriteResults("shelf", {"\ud800": ""}, None))
    assert isinstance(read, ItemsUnreadable)
    assert isinstance(written, ResultsUnwritable)
    for event in (read, written):
        event.cause.encode()


def test_a_listing_says_what_one_of_s3_says() -> None:
    event = read_items(STORE, ReadItems((), ("shelf", "b")))
    assert isinstance(event, ItemsRead)
    (entry,) = event.listing
    assert list(entry) == ["Etag", "Key", "LastModified", "Size", "StorageClass"]
    assert (entry["Key"], entry["Size"]) == ("b", 3)
