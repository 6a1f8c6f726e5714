"""Which files of a folder are searched, what is in them, and which are likely to answer a
question."""

from __future__ import annotations

import asyncio
import json
import logging
import math
import os
import stat
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from dcf.code.errors import RootMissing, TooManyFiles
from dcf.code.question import CodeQuestion
from dcf.code.ripgrep import records
from dcf.code.traces import meant_paths, named_places
from dcf.problem import Problem
from dcf.regular_file import open_below

MOST_FILES = 200_000
LARGEST = 4 * 1024 * 1024
"""Bytes: what is larger was made by a program, and is no text that one reads."""
_BEGINNING = 8_192
_MAIL = (".eml", ".mbox", ".mht", ".mhtml")
"""Letters are encoded: what they say, secrets too, is not to be seen in what is written."""
_PDF = b"%PDF-"
"""A file of this format is binary, also where each byte of it is ASCII."""
_WRITTEN = 500
"""Bytes of a line on average: a program made what has longer ones, for programs."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

_log = logging.getLogger(__name__)

_LOCK = "skills.lock"
"""Stands beside what `dcf skills generate` wrote, and names each file of it under ``artefacts``."""
_LARGEST_LOCK = 16 * 1024 * 1024
_MINIFIED = (".min.js", ".min.mjs", ".min.css", ".js.map", ".mjs.map", ".css.map")
"""Endings by which the tools that minify name what they write."""

_MOST_WORDS = 4
"""Words that are looked for: each is a look into every file."""
_SHORTEST_WORD = 3
_LONGEST_WORD = 1_000
"""Characters of a word: a command line has no room for any."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """By which a file that did not change is known without reading it."""

    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class Listing:
    """The ``paths`` of files, relative to their root and in order. ``problems`` name those that are
    left out."""

    paths: tuple[str, ...]
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class FileContent:
    """A file as it was read. ``data`` is None where it is no text that is searched; ``problem``
    says why, or what is odd about it."""

    stamp: Stamp
    data: bytes | None
    problem: Problem | None = None


def checked_root(root: Path) -> Path:
    """The folder itself, links resolved. Raises ``RootMissing``."""
    try:
        real = root.resolve(strict=True)
        os.close(os.open(real, _FOLDER))
    except (OSError, ValueError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise RootMissing(root=root, reason=reason) from error
    return real


async def listed(root: Path) -> Listing:
    """All files below ``root`` that git does not ignore, whether it knows them already or not;
    without hidden ones and links. Paths that are no UTF-8 are left out: nobody could cite them.

    Raises ``RipgrepMissing``, ``RipgrepFailed``, ``TooManyFiles``.
    """
    arguments = ["--files", "--null", *ignoring(root)]
    found, more = await records(arguments, root, end=b"\0", most=MOST_FILES)
    if more:
        raise TooManyFiles(root=root, most=MOST_FILES)
    paths = tuple(sorted(path for one in found if (path := path_text(one)) is not None))
    nameless = sorted(one for one in found if path_text(one) is None)
    return Listing(paths, tuple(map(_no_path, nameless)))


def ignoring(root: Path) -> list[str]:
    """The options by which ripgrep ignores what git does, and nothing else."""
    options = ["--no-ignore-dot"]
    # In a folder that is not git's, its own .gitignore files are asked, not those of folders above.
    if not any((folder / ".git").exists() for folder in (root, *root.parents)):
        options += ["--no-require-git", "--no-ignore-parent"]
    return options


def path_text(path: bytes) -> str | None:
    """A path as ripgrep prints it; None if it is no UTF-8."""
    try:
        return path.decode().removeprefix("./")
    except UnicodeDecodeError:
        return None


def as_known(root: Path, known: Iterable[tuple[str, int, int]]) -> set[str]:
    """Which of the files ``known``, each by its path, size and time of change in ns, are still so:
    thousands are looked at for an answer."""
    folder, same = str(root), set[str]()
    for path, size, mtime_ns in known:
        try:
            status = os.lstat(f"{folder}/{path}")
        except (OSError, ValueError):
            continue
        if status.st_mtime_ns == mtime_ns and status.st_size == size:
            same.add(path)
    return same


def read(root: Path, path: str, known: Stamp | None) -> FileContent | None:
    """The file at ``path`` below ``root``, or None if it is as it was ``known``.

    No link is followed on the way, so nothing outside of the root is read, whoever changes it
    meanwhile. Raises ``OSError`` for what is not there or may not be read.
    """
    descriptor = open_below(root, path)
    with os.fdopen(descriptor, "rb") as stream:
        status = os.fstat(descriptor)
        stamp = Stamp(status.st_size, status.st_mtime_ns)
        if stamp == known:
            return None
        if not stat.S_ISREG(status.st_mode):
            return _refused(stamp, path, "code_file_odd", "it is no regular file", "")
        if status.st_size > LARGEST:
            return _too_large(stamp, path)
        data = stream.read(LARGEST + 1)
    if len(data) > LARGEST:
        return _too_large(stamp, path)
    if b"\0" in data[:_BEGINNING] or data.startswith(_PDF) or path.lower().endswith(_MAIL):
        # No problem of anybody's: pictures and programs stand beside sources everywhere.
        return FileContent(stamp, None)
    if len(data) > _BEGINNING and len(data) > _WRITTEN * (data.count(b"\n") + 1):
        message = f"its lines have over {_WRITTEN} bytes on average: it is minified, or data"
        return _refused(stamp, path, "code_file_minified", message, "")
    return FileContent(stamp, data, _not_utf8(data, path))


def _no_path(path: bytes) -> Problem:
    message = "its path is no UTF-8: it is not searched"
    hint = "rename the file: what is found is cited by its path"
    shown = path.decode("utf-8", "backslashreplace").removeprefix("./")
    return Problem("code_file_name", message, "", hint, "warning", shown)


def _too_large(stamp: Stamp, path: str) -> FileContent:
    return _refused(
        stamp,
        path,
        "code_file_large",
        f"it has over {LARGEST:,} bytes and is not searched",
        "if it is generated, let .gitignore name it",
    )


def _refused(stamp: Stamp, path: str, code: str, message: str, hint: str) -> FileContent:
    return FileContent(stamp, None, Problem(code, message, "", hint, "warning", path))


def _not_utf8(data: bytes, path: str) -> Problem | None:
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = "it is no UTF-8: the bytes that are none are read as �"
        return Problem("code_file_encoding", message, "", "", "warning", path, line)
    return None


def written_by_people(root: Path, paths: Sequence[str]) -> list[str]:
    """Those of ``paths``, files below ``root``, that no lock of skills names and no tool that
    minifies wrote. What is generated says what its sources say, and is no code to change."""
    locks = [path for path in paths if path.rpartition("/")[2] == _LOCK]
    generated = {*locks, *(name for lock in locks for name in _artefacts(root, lock))}
    return [one for one in paths if one not in generated and not one.lower().endswith(_MINIFIED)]


def _artefacts(root: Path, lock: str) -> Iterator[str]:
    folder = PurePosixPath(lock).parent
    return (str(folder / name) for name in _named_in(root, lock))


def _named_in(root: Path, lock: str) -> Iterable[str]:
    try:
        with os.fdopen(open_below(root, lock), "rb") as stream:
            document: Any = json.loads(stream.read(_LARGEST_LOCK))
    except (OSError, ValueError, RecursionError) as error:
        # Then what it would name is searched as any other file.
        _log.warning("%s/%s does not say what is generated: %s", root, lock, error)
        return ()
    named = document.get("artefacts") if isinstance(document, dict) else None
    return [*named] if isinstance(named, dict) else ()


async def likely(root: Path, paths: Sequence[str], question: CodeQuestion) -> list[str]:
    """Those of ``paths`` that say a word of ``question`` or have it in their name, the best first:
    a word that few files say counts more. Files that a stack trace names come before all others.
    Raises ``RipgrepMissing``, ``RipgrepFailed``."""
    # The longest: they are in the fewest files.
    fitting = [one for one in question.words if _SHORTEST_WORD <= len(one) <= _LONGEST_WORD]
    words = sorted(fitting, key=len)[-_MOST_WORDS:]
    saying = await asyncio.gather(*(_saying(root, word) for word in words))
    worth: dict[str, float] = defaultdict(float)
    for word, found in zip(words, saying, strict=True):
        named = {path for path in paths if word in path.lower()}
        for some in (found, named):
            for path in some:
                worth[path] += math.log(1 + len(paths) / len(some))
    first = dict.fromkeys(meant_paths(paths, named_places(question.text)))
    known = set(paths)
    rest = sorted((one for one in worth if one in known), key=lambda path: (-worth[path], path))
    return list(dict.fromkeys((*first, *rest)))


async def _saying(root: Path, word: str) -> set[str]:
    arguments = [
        *("--files-with-matches", "--null", "--ignore-case", "--fixed-strings"),
        *(f"--max-filesize={LARGEST}", *ignoring(root)),
        *(f"--regexp={word}", "--", "."),
    ]
    found, _ = await records(arguments, root, end=b"\0", most=MOST_FILES)
    return {path for one in found if (path := path_text(one)) is not None}
