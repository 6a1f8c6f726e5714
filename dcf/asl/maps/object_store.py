"""Objects that ItemReader reads and ResultWriter writes, as an interpreted execution has them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from dcf.asl.effect import ObjectRef, ReadItems, WriteResults
from dcf.asl.payload import JSON
from dcf.asl.visit import Event, ItemsRead, ItemsUnreadable, ResultsUnwritable, ResultsWritten


class ObjectStore(Protocol):
    """Where objects are. An OSError says that something cannot be read or written."""

    def get(self, ref: ObjectRef) -> bytes | None:
        """The content of an object; None when there is none."""

    def list(self, bucket: str, prefix: str) -> Sequence[Mapping[str, JSON]]:
        """{Key, Size, ETag …} of every object whose key starts with ``prefix``, by key."""

    def put(self, bucket: str, key: str, content: bytes) -> None:
        """Write an object, over one that was there."""


class MemoryObjects:
    """Objects in memory; ``objects`` has them by ``bucket/key``.

    >>> MemoryObjects({"shelf/a.json": b"[1]"}).get(ObjectRef("shelf", "a.json"))
    b'[1]'
    """

    def __init__(self, objects: Mapping[str, bytes] | None = None) -> None:
        self.objects = dict(objects or {})

    def get(self, ref: ObjectRef) -> bytes | None:
        return self.objects.get(f"{ref.bucket}/{ref.key}")

    def list(self, bucket: str, prefix: str) -> Sequence[Mapping[str, JSON]]:
        start = f"{bucket}/"
        names = sorted(name for name in self.objects if name.startswith(start + prefix))
        return [_entry(name.removeprefix(start), self.objects[name]) for name in names]

    def put(self, bucket: str, key: str, content: bytes) -> None:
        self.objects[f"{bucket}/{key}"] = content


def read_items(store: ObjectStore, request: ReadItems) -> Event:
    """Answer ``request`` from ``store``."""
    try:
        if request.listing is not None:
            return ItemsRead(request, listing=tuple(store.list(*request.listing)))
        return ItemsRead(request, tuple(_contents(store, request.objects)))
    except OSError as error:
        return ItemsUnreadable(str(error))


def write_results(store: ObjectStore, request: WriteResults) -> Event:
    """Answer ``request`` by writing into ``store``."""
    try:
        for key, text in request.files.items():
            store.put(request.bucket, key, text.encode("utf-8", "replace"))
    except OSError as error:
        return ResultsUnwritable(str(error))
    return ResultsWritten(request)


def _contents(store: ObjectStore, refs: Iterable[ObjectRef]) -> Iterable[bytes]:
    for ref in refs:
        content = store.get(ref)
        if content is None:
            raise FileNotFoundError(f"The specified key does not exist: {ref.bucket}/{ref.key}")
        yield content


def _entry(key: str, content: bytes) -> dict[str, JSON]:
    digest = hashlib.md5(content, usedforsecurity=False).hexdigest()
    return {"Etag": f'"{digest}"', "Key": key, "Size": len(content), "StorageClass": "STANDARD"}
