"""Objects that ItemReader reads and ResultWriter writes, as an interpreted execution has them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from dcf.asl.effect import ObjectRef, ReadItems, WriteResults
from dcf.asl.payload import JSON
from dcf.asl.visit import Event, ItemsRead, ItemsUnreadable, ResultsUnwritable, ResultsWritten

MAX_READ_BYTES = 64 * 1024 * 1024
"""Most bytes that all objects of one ItemReader may have together."""

MAX_LISTED = 100_000
"""Most objects that a listing may have, or a reader may read."""


class ObjectStore(Protocol):
    """Where objects are. An OSError says that something cannot be read or written."""

    def get(self, ref: ObjectRef) -> bytes | None:
        """The content of an object; None when there is none in the bucket."""

    def list(self, bucket: str, prefix: str) -> Sequence[Mapping[str, JSON]]:
        """{Key, Size, ETag …} of every object whose key starts with ``prefix``, by key."""

    def put(self, bucket: str, key: str, content: bytes) -> None:
        """Write an object, over one that was there. The bucket is made when it is missing."""


class MemoryObjects:
    """Objects in memory; ``objects`` has them by ``bucket/key``. They have no versions, and are
    all of the moment 0.

    >>> MemoryObjects({"shelf/a.json": b"[1]"}).get(ObjectRef("shelf", "a.json"))
    b'[1]'
    """

    def __init__(self, objects: Mapping[str, bytes] | None = None) -> None:
        self.objects = dict(objects or {})

    def get(self, ref: ObjectRef) -> bytes | None:
        """See ``ObjectStore.get``."""
        refuse_version(ref)
        found = self.objects.get(f"{ref.bucket}/{ref.key}")
        if found is None:
            self._check_bucket(ref.bucket)
        return found

    def list(self, bucket: str, prefix: str) -> Sequence[Mapping[str, JSON]]:
        """See ``ObjectStore.list``."""
        self._check_bucket(bucket)
        start = f"{bucket}/"
        names = sorted(name for name in self.objects if name.startswith(start + prefix))
        return [_entry(name.removeprefix(start), self.objects[name]) for name in names]

    def put(self, bucket: str, key: str, content: bytes) -> None:
        """See ``ObjectStore.put``."""
        self.objects[f"{bucket}/{key}"] = content

    def _check_bucket(self, bucket: str) -> None:
        if not any(name.startswith(f"{bucket}/") for name in self.objects):
            raise no_bucket(bucket)


def read_items(store: ObjectStore, request: ReadItems) -> Event:
    """Answer ``request`` from ``store``, within ``MAX_READ_BYTES`` and ``MAX_LISTED``."""
    try:
        if request.listing is not None:
            listing = tuple(store.list(*request.listing))
            check_count(len(listing))
            return ItemsRead(request, listing=listing)
        check_count(len(request.objects))
        return ItemsRead(request, tuple(_contents(store, request.objects)))
    except OSError as error:
        return ItemsUnreadable(printable(error))


def write_results(store: ObjectStore, request: WriteResults) -> Event:
    """Answer ``request`` by writing into ``store``."""
    try:
        for key, text in request.files.items():
            store.put(request.bucket, key, text.encode("utf-8", "replace"))
    except OSError as error:
        return ResultsUnwritable(printable(error))
    return ResultsWritten(request)


def printable(error: Exception) -> str:
    """What ``error`` says, fit for a cause: names may have halves of characters in them."""
    return str(error).encode("utf-8", "backslashreplace").decode()


def no_bucket(bucket: str) -> OSError:
    """The error of a bucket that is not there."""
    return OSError(f"The specified bucket does not exist: {bucket}")


def refuse_version(ref: ObjectRef) -> None:
    """Raises OSError for one version of an object: only the objects themselves are kept here."""
    if ref.version is not None:
        raise OSError(f"no versions are kept: {ref.bucket}/{ref.key}, VersionId {ref.version}")


def check_count(count: int) -> None:
    """Raises OSError for more than ``MAX_LISTED`` objects."""
    if count > MAX_LISTED:
        raise OSError(f"there are more than {MAX_LISTED} objects; name a longer Prefix")


def _contents(store: ObjectStore, refs: Iterable[ObjectRef]) -> Iterable[bytes]:
    room = MAX_READ_BYTES
    for ref in refs:
        content = store.get(ref)
        if content is None:
            raise FileNotFoundError(f"The specified key does not exist: {ref.bucket}/{ref.key}")
        room -= len(content)
        if room < 0:
            raise OSError(f"the objects have more than {MAX_READ_BYTES} bytes together")
        yield content


def _entry(key: str, content: bytes) -> dict[str, JSON]:
    digest = hashlib.md5(content, usedforsecurity=False).hexdigest()
    return {
        "Etag": f'"{digest}"',
        "Key": key,
        "LastModified": 0,
        "Size": len(content),
        "StorageClass": "STANDARD",
    }
