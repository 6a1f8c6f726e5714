"""Objects as files below one folder: ``{root}/{bucket}/{key}``.

Nothing outside the folder is ever reached: names are checked, and every step down is opened without
following symbolic links.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from control_plane.payload import JSON
from dcf import asl

LARGEST_OBJECT = 256 * 1024 * 1024
_BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,254}")
_PART = ".dcf-part-"
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW


class LocalObjects:
    """An ``ObjectStore`` on the files below ``root``, which is made when something is written."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def get(self, ref: asl.ObjectRef) -> bytes | None:
        """See ``ObjectStore.get``."""
        try:
            return self._read(ref.bucket, ref.key)
        except FileNotFoundError:
            return None

    def _read(self, bucket: str, key: str) -> bytes:
        *folders, name = _steps(bucket, key)
        with _told(bucket, key), self._inside(folders, create=False) as folder:
            file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
            with os.fdopen(file, "rb") as opened:
                about = os.fstat(file)
                if not stat.S_ISREG(about.st_mode):
                    raise OSError("it is no file")
                if about.st_size > LARGEST_OBJECT:
                    raise OSError(
                        f"it has {about.st_size} bytes; at most {LARGEST_OBJECT} are read"
                    )
                return opened.read()

    def list(self, bucket: str, prefix: str) -> Sequence[Mapping[str, JSON]]:
        """See ``ObjectStore.list``."""
        _check_bucket(bucket)
        root = self._root / bucket
        if root.is_symlink() or not root.is_dir():
            raise OSError(f"there is no bucket {bucket}")
        found = []
        for folder, _, names in os.walk(root):
            for name in names:
                file = Path(folder, name)
                key = file.relative_to(root).as_posix()
                if key.startswith(prefix) and not name.startswith(_PART) and not file.is_symlink():
                    found.append(_listed(key, file.stat()))
        return sorted(found, key=lambda entry: str(entry["Key"]))

    def put(self, bucket: str, key: str, content: bytes) -> None:
        """See ``ObjectStore.put``: whole or not at all."""
        *folders, name = _steps(bucket, key)
        part = _PART + secrets.token_hex(8)
        with _told(bucket, key):
            self._root.mkdir(parents=True, exist_ok=True)
            with self._inside(folders, create=True) as folder:
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
                file = os.open(part, flags, 0o644, dir_fd=folder)
                try:
                    with os.fdopen(file, "wb") as opened:
                        opened.write(content)
                        opened.flush()
                        os.fsync(file)
                    os.rename(part, name, src_dir_fd=folder, dst_dir_fd=folder)
                except BaseException:
                    with suppress(OSError):
                        os.unlink(part, dir_fd=folder)
                    raise

    @contextmanager
    def _inside(self, folders: Sequence[str], *, create: bool) -> Iterator[int]:
        """A descriptor of the folder that ``folders`` lead to, one step at a time."""
        here = os.open(self._root, os.O_RDONLY | os.O_DIRECTORY)
        try:
            for name in folders:
                if create:
                    with suppress(FileExistsError):
                        os.mkdir(name, dir_fd=here)
                below = os.open(name, _FOLDER, dir_fd=here)
                os.close(here)
                here = below
            yield here
        finally:
            os.close(here)


@contextmanager
def _told(bucket: str, key: str) -> Iterator[None]:
    """What the file system refuses, without its paths."""
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as error:
        reason = error.strerror or str(error)
        raise OSError(f"{bucket}/{key}: {reason}") from error


def _steps(bucket: str, key: str) -> tuple[str, ...]:
    _check_bucket(bucket)
    steps = key.split("/")
    if any(step in ("", ".", "..") or "\0" in step or step.startswith(_PART) for step in steps):
        raise OSError(f"{key!r} is no key: its parts are names, never empty, . or ..")
    return bucket, *steps


def _check_bucket(bucket: str) -> None:
    if not _BUCKET.fullmatch(bucket):
        raise OSError(f"{bucket!r} is no bucket: letters, digits, . _ - only")


def _listed(key: str, about: os.stat_result) -> dict[str, JSON]:
    # No file is read for a listing; size and time tell versions apart well enough.
    mark = hashlib.sha256(f"{key}/{about.st_size}/{about.st_mtime_ns}".encode()).hexdigest()[:32]
    return {
        "Etag": f'"{mark}"',
        "Key": key,
        "LastModified": int(about.st_mtime),
        "Size": about.st_size,
        "StorageClass": "STANDARD",
    }
