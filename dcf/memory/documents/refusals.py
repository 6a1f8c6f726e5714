"""Files that were refused after long work, remembered so that it is not done again."""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

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
    all are tried again."""

    def __init__(self, kept: Path, *, again: bool = False) -> None:
        self._kept = kept
        self._again = again
        self._known: dict[str, Any] | None = None

    def of(self, project: Path, path: str) -> Refusal | None:
        """That of the file at ``path`` of the project, if what reads documents is as it was."""
        match None if self._again else self._rows().get(_name(project, path)):
            case [int(size), str(stamp), str(digest), str(code), str(message), str(hint)]:
                problem = Problem(code, message, hint=hint)
                return Refusal(FileState(size, stamp, digest), problem)
        return None

    def note(self, project: Path, path: str, state: FileState, problem: Problem) -> None:
        """Remember it, if to find it out takes long."""
        if problem.code in _REMEMBERED:
            rows, name = self._rows(), _name(project, path)
            # The newest stands last.
            rows.pop(name, None)
            rows[name] = [*astuple(state), problem.code, problem.message, problem.hint]
            self._write(dict([*rows.items()][-_MOST:]))

    def drop(self, project: Path, path: str) -> None:
        """It is read now."""
        if self._rows().pop(_name(project, path), None) is not None:
            self._write(self._rows())

    def _write(self, rows: Mapping[str, Any]) -> None:
        draft = self._kept.with_name(f".{self._kept.name}.{os.getpid()}")
        try:
            self._kept.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            draft.write_text(json.dumps({"reader": READER, "refused": rows}))
            draft.replace(self._kept)
        except OSError as error:
            draft.unlink(missing_ok=True)
            _log.warning("what was refused is not remembered: %s", error)

    def _rows(self) -> dict[str, Any]:
        if self._known is None:
            self._known = _read(self._kept)
        return self._known


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
