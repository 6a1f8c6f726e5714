"""Objects as files below one folder: ``{root}/{bucket}/{key}``.

Nothing outside the folder is ever reached: names are checked, and every step down is opened without
following symbolic links.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import secrets
import stat
from collections.abc import Iterator, Mapping, MutableSequence, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from control_plane import JSON
from dcf import asl
from dcf.asl.maps import MAX_READ_BYTES, check_count, no_bucket, refuse_version

_BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,254}")
_PART = ".dcf-part-"
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
# What stands on the way down is not there, no folder, or a link, which is as good as not there.
_NO_FOLDER = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})


class LocalObjects:
    """An ``ObjectStore`` on the files below ``root``, which is made when something is written.

    Names are UTF-8. There are no versions.
    """

    def __init__(self, root: Path) -> None:
        self._root = root

    def get(self, ref: asl.ObjectRef) -> bytes | None:
        """See ``ObjectStore.get``."""
        refuse_version(ref)
        try:
            return self._read(ref.bucket, ref.key)
        except FileNotFoundError:
            self._check_there(ref.bucket)
            return None

    def _read(self, bucket: str, key: str) -> bytes:
        *folders, name = _steps(bucket, key)
        with _told(bucket, key), self._inside(folders, create=False) as folder:
            file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
            with os.fdopen(file, "rb") as opened:
                about = os.fstat(file)
                if not stat.S_ISREG(about.st_mode):
                    raise OSError("it is no file")
                # The file may grow meanwhile: no more is read than may be.
                content = opened.read(MAX_READ_BYTES + 1)
                if len(content) > MAX_READ_BYTES:
                    raise OSError(f"it has more than {MAX_READ_BYTES} bytes")
                return content

    def list(self, bucket: str, prefix: str) -> Sequence[Mapping[str, JSON]]:
        """See ``ObjectStore.list``. Only the folders where such keys may be are looked at."""
        _check_bucket(bucket)
        _check_text(prefix)
        self._check_there(bucket)
        *folders, _ = prefix.split("/")
        if not all(map(_is_step, folders)):
            return []  # no key has such a part
        found: list[dict[str, JSON]] = []
        with _told(bucket, prefix):
            todo: list[tuple[str, ...]] = [tuple(folders)]
            while todo:
                below = todo.pop()
                todo += self._list_folder(bucket, below, prefix, found)
        return sorted(found, key=lambda entry: str(entry["Key"]))

    def _list_folder(
        self,
        bucket: str,
        folders: tuple[str, ...],
        prefix: str,
        found: MutableSequence[dict[str, JSON]],
    ) -> Sequence[tuple[str, ...]]:
        """Put the objects in a folder into ``found``; the folders in it that may have more."""
        more: list[tuple[str, ...]] = []
        try:
            with self._inside((bucket, *folders), create=False) as here, os.scandir(here) as all_:
                for entry in all_:
                    key = "/".join((*folders, entry.name))
                    if not key.startswith(prefix) or entry.name.startswith(_PART):
                        continue
                    _check_text(key)
                    if entry.is_dir(follow_symlinks=False):
                        more.append((*folders, entry.name))
                    elif entry.is_file(follow_symlinks=False):
                        with suppress(FileNotFoundError):  # removed meanwhile
                            found.append(_listed(key, entry.stat(follow_symlinks=False)))
                            check_count(len(found))
        except OSError as error:
            if error.errno not in _NO_FOLDER:
                raise
        return more

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

    def _check_there(self, bucket: str) -> None:
        """Raises OSError when there is no such bucket."""
        try:
            with self._inside((bucket,), create=False):
                return
        except OSError as error:
            if error.errno in _NO_FOLDER:
                raise no_bucket(bucket) from error
            raise OSError(f"{bucket}: {error.strerror}") from error

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
    except OSError as error:
        kind = FileNotFoundError if isinstance(error, FileNotFoundError) else OSError
        raise kind(f"{bucket}/{key}: {error.strerror or error}") from error


def _steps(bucket: str, key: str) -> tuple[str, ...]:
    _check_bucket(bucket)
    _check_text(key)
    steps = key.split("/")
    if not all(map(_is_step, steps)):
        raise OSError(f"{key!r} is no key: its parts are names, never empty, . or ..")
    return bucket, *steps


def _is_step(name: str) -> bool:
    """Whether ``name`` may be a part of a key."""
    return name not in ("", ".", "..") and "\0" not in name and not name.startswith(_PART)


def _check_bucket(bucket: str) -> None:
    if not _BUCKET.fullmatch(bucket):
        raise OSError(f"{bucket!r} is no bucket: letters, digits, . _ - only")


def _check_text(name: str) -> None:
    """Raises OSError for what is no text in UTF-8: half a character, or a file's odd name."""
    try:
        name.encode()
    except UnicodeEncodeError as error:
        raise OSError(f"{name!r} is no name in UTF-8") from error


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
