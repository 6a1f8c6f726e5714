"""Files that were refused after long work, remembered so that it is not done again."""

from __future__ import annotations

import fcntl
import hashlib
import json
import logging
import os
import time
from collections.abc import Callable
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any, Self

from dcf.documents import READER, DocumentProblem
from dcf.memory.documents.kept_document import FileState
from dcf.problem import Problem
from dcf.regular_file import read_regular

_log = logging.getLogger(__name__)

_REMEMBERED = frozenset(
    f"document_{what}" for what in ("slow", "memory", "deep", "deadly", "much_text", "scanned")
)
"""Codes of what is found out after reading for long. Others are found at once, and a program may be
installed meanwhile."""
_PASSING = frozenset({"document_slow", "document_deadly"})
"""Codes of what a busy machine, or one whose memory was full, may have been the reason of."""
_DAY = 86_400.0
"""Seconds for which these are remembered."""
_MOST = 10_000
"""Refusals that are kept, the newest."""


class RefusedBefore(DocumentProblem):
    """It was refused before and has not changed since: {why}"""

    def __init__(self, before: Problem) -> None:
        super().__init__(why=before.message)
        self.code = before.code
        again = "`dcf documents add --again` tries it anew"
        self.hint = f"{before.hint}; {again}" if before.hint else again


@dataclass(frozen=True, slots=True)
class Refusal:
    """``problem`` is why a file in this ``state`` was refused."""

    state: FileState
    problem: Problem


class Refusals:
    """Refusals of files, kept in the file ``kept``, which may be deleted: then they are tried
    again. It has digests of paths, as a file may be called by a person's name. With ``again``
    all are tried again. To be entered with ``with``, at whose end they are kept, beside those of
    other processes."""

    def __init__(
        self, kept: Path, *, again: bool = False, now: Callable[[], float] = time.time
    ) -> None:
        self._kept = kept
        self._again = again
        self._now = now
        self._known: dict[str, Any] | None = None
        self._changed: dict[str, list[Any] | None] = {}
        """What was found out by this one; None for what is read now."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if not self._changed:
            return
        try:
            self._kept.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._merge()
        except OSError as error:
            _log.warning("what was refused is not remembered: %s", error)

    def of(self, project: Path, path: str) -> Refusal | None:
        """That of the file at ``path`` of the project, if what reads documents is as it was."""
        match None if self._again else self._rows().get(_name(project, path)):
            case [
                int(size),
                str(stamp),
                str(digest),
                str(code),
                str(message),
                str(hint),
                float(at),
            ]:
                if code in _PASSING and not 0 <= self._now() - at < _DAY:
                    return None
                problem = Problem(code, message, hint=hint)
                return Refusal(FileState(size, stamp, digest), problem)
        return None

    def note(self, project: Path, path: str, state: FileState, problem: Problem) -> None:
        """Remember it, if to find it out takes long."""
        if problem.code in _REMEMBERED:
            found = (problem.code, problem.message, problem.hint, self._now())
            self._change(_name(project, path), [*astuple(state), *found])

    def drop(self, project: Path, path: str) -> None:
        """It is read now."""
        if (name := _name(project, path)) in self._rows():
            self._change(name, None)

    def _change(self, name: str, row: list[Any] | None) -> None:
        self._changed[name] = row
        _put(self._rows(), name, row)

    def _merge(self) -> None:
        """Put what changed among what others kept meanwhile. Raises OSError."""
        folder = os.open(self._kept.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        draft = self._kept.with_name(f".{self._kept.name}.{os.getpid()}")
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            rows = _read(self._kept)
            for name, row in self._changed.items():
                _put(rows, name, row)
            newest = dict([*rows.items()][-_MOST:])
            draft.write_text(json.dumps({"reader": READER, "refused": newest}))
            draft.replace(self._kept)
        finally:
            draft.unlink(missing_ok=True)
            os.close(folder)

    def _rows(self) -> dict[str, Any]:
        if self._known is None:
            self._known = _read(self._kept)
        return self._known


def _put(rows: dict[str, Any], name: str, row: list[Any] | None) -> None:
    # The newest stands last.
    rows.pop(name, None)
    if row is not None:
        rows[name] = row


def _read(kept: Path) -> dict[str, Any]:
    try:
        told = json.loads(read_regular(kept))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        _log.warning("%s is not read, files that were refused are tried again: %s", kept, error)
        return {}
    match told:
        case {"reader": reader, "refused": dict(rows)} if reader == READER:
            return dict(rows)
    return {}


def _name(project: Path, path: str) -> str:
    return hashlib.sha256(f"{project}\0{path}".encode()).hexdigest()
