"""Objects in a folder: ``bucket/key`` is a file below it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from dcf.asl import JSON, ObjectRef


class ObjectFolder:
    """Buckets are the folders of ``root``; nothing outside of it is read or written.

    An ``ObjectStore``: its methods raise OSError where an object cannot be.
    """

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()

    def get(self, ref: ObjectRef) -> bytes | None:
        """The content of a file; None when there is none."""
        if ref.version is not None:
            raise OSError(f"a folder keeps no versions: {ref.bucket}/{ref.key}@{ref.version}")
        file = self._file(ref.bucket, ref.key)
        return file.read_bytes() if file.is_file() else None

    def list(self, bucket: str, prefix: str) -> Sequence[Mapping[str, JSON]]:
        """The files of ``bucket`` whose key begins with ``prefix``, by key."""
        folder = self._bucket(bucket)
        # A link may lead out of the folder.
        inside = [
            file
            for file in folder.rglob("*")
            if file.is_file() and file.resolve().is_relative_to(folder)
        ]
        keys = sorted(file.relative_to(folder).as_posix() for file in inside)
        return [_entry(folder, key) for key in keys if key.startswith(prefix)]

    def put(self, bucket: str, key: str, content: bytes) -> None:
        """Write a file, over one that was there."""
        file = self._file(bucket, key)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)

    def _bucket(self, bucket: str) -> Path:
        return self._below(self._root, bucket, f"the bucket {bucket!r}")

    def _file(self, bucket: str, key: str) -> Path:
        return self._below(self._bucket(bucket), key, f"the key {key!r}")

    def _below(self, folder: Path, name: str, what: str) -> Path:
        """``name`` in ``folder``. Raises OSError when it leads elsewhere."""
        try:
            path = (folder / name).resolve()
        except ValueError as error:  # a NUL in it
            raise OSError(f"{what} is no name of a file") from error
        if path == folder or not path.is_relative_to(folder):
            raise OSError(f"{what} is not below {folder}")
        return path


def _entry(folder: Path, key: str) -> dict[str, JSON]:
    """One file as ``ListObjectsV2`` lists it."""
    file = folder / key
    content = file.read_bytes()
    digest = hashlib.md5(content, usedforsecurity=False).hexdigest()
    return {
        "Etag": f'"{digest}"',
        "Key": key,
        "LastModified": int(file.stat().st_mtime),
        "Size": len(content),
        "StorageClass": "STANDARD",
    }
