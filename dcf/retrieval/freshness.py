"""Whether the files that documents were read from still say what they said then."""

from __future__ import annotations

import asyncio
import hashlib
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from dcf.memory import FileState, is_settled, stamp_of
from dcf.retrieval.backend import DocumentHit, ProjectDocuments

CHANGED = "the file changed since it was added: `dcf documents add` reads it again"
GONE = "the file is gone since it was added: `dcf documents remove` takes the document out"
_LOOKS_S = 1.0
"""A file is looked at no more often."""
_MOST = 10_000
"""Files that are known at a time."""


class Freshness:
    """What is known of files that were looked at shortly before. Any number of callers at once."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """``clock`` tells seconds."""
        self._clock = clock
        self._seen: dict[Path, tuple[float, os.stat_result | None]] = {}
        # By path, stamp and the digest that is asked for: a file is read once after each change.
        self._same: dict[tuple[Path, str, str], bool] = {}

    async def marked(
        self, documents: ProjectDocuments, project: str, hits: Sequence[DocumentHit]
    ) -> list[DocumentHit]:
        """``hits`` of a project, those marked whose file changed since it was read, or is gone. On
        a machine that does not have the project none is."""
        paths = {one.piece.document_id: one.piece.path for one in hits}
        if not paths:
            return []
        states = await documents.files(project, [*paths])
        named = [(one, paths[one], state) for one, state in states.items()]
        outdated = await asyncio.to_thread(self._outdated, Path(project), named)
        return [replace(one, outdated=outdated.get(one.piece.document_id, "")) for one in hits]

    def _outdated(self, root: Path, named: Sequence[tuple[str, str, FileState]]) -> dict[str, str]:
        if not root.is_dir():
            return {}
        for known in (self._seen, self._same):
            if len(known) > _MOST:
                known.clear()
        return {document_id: self._fault(root / path, state) for document_id, path, state in named}

    def _fault(self, file: Path, state: FileState) -> str:
        try:
            status = self._status(file)
            if status is None:
                return GONE
            same = stamp_of(status) == state.stamp or (
                status.st_size == state.size and self._is_same(file, status, state.digest)
            )
        except OSError:
            # It may be there, and nobody here may read it: nothing is known of it.
            return ""
        return "" if same else CHANGED

    def _status(self, file: Path) -> os.stat_result | None:
        """None where it is gone. Raises OSError."""
        at, status = self._seen.get(file, (0.0, None))
        now = self._clock()
        if file not in self._seen or not at <= now < at + _LOOKS_S:
            try:
                status = file.lstat()
            except (FileNotFoundError, NotADirectoryError):
                status = None
            self._seen[file] = now, status
        return status

    def _is_same(self, file: Path, status: os.stat_result, digest: str) -> bool:
        """Whether a file of the same size has the same content. Raises OSError."""
        key = file, stamp_of(status), digest
        if key not in self._same:
            with file.open("rb") as stream:
                same = hashlib.file_digest(stream, "sha256").hexdigest() == digest
            if not is_settled(status):
                return same
            self._same[key] = same
        return self._same[key]
