"""Code that answers a question, out of the files of one folder."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from dcf.code import rows, vectors
from dcf.code.errors import IndexDamaged, InvalidSearch
from dcf.code.files import checked_root
from dcf.code.hit import CodeHit, hits
from dcf.code.index_file import IndexFile
from dcf.code.indexer import PATIENCE_S, Indexer, unembedded
from dcf.code.question import CodeQuestion, problems_of
from dcf.code.ranking import candidates, ranked
from dcf.code.syncing import Synced
from dcf.problem import Problem
from dcf.search import Embedder

_log = logging.getLogger(__name__)


class CodeRetriever:
    """The code below ``root`` that git does not ignore, indexed in the file ``index_path``.

    With an ``embedder`` what pieces mean counts too; where it fails, words and names decide alone.
    Several processes may use one index.
    """

    def __init__(
        self,
        root: Path,
        index_path: Path,
        embedder: Embedder | None = None,
        *,
        goes_on: bool = True,
    ) -> None:
        """Without ``goes_on`` nothing is indexed behind answers, as in a process that ends with
        its answer: each spends all of its patience on the index. Raises ``RootMissing``."""
        self.root = checked_root(root)
        self._embedder = embedder
        self._index = IndexFile(index_path, str(self.root))
        self._indexer = Indexer(self.root, self._index, embedder, goes_on=goes_on)
        self._unasked: Problem | None = None

    async def ready(self, question: str, patience_s: float = PATIENCE_S) -> tuple[Problem, ...]:
        """Bring the index up to date before an answer to ``question``. Where that takes long, it
        goes on behind (until ``close``), and only the files that are likely to answer are waited
        for, no longer than for ``patience_s`` of a core's time: on a machine that does other work
        as many files are read. Then the answer is a warning that says so.

        Raises ``RipgrepMissing``, ``RipgrepFailed``, ``TooManyFiles`` and ``IndexTrouble``.
        """
        problems = await self._indexer.ready(question, patience_s)
        return problems if self._unasked is None else (*problems, self._unasked)

    async def sync(self, progress: Callable[[str], None] | None = None) -> Synced:
        """Bring the index up to date with the files. ``progress`` is told, in words, what is done,
        now and then. What is done when this is cancelled stays done.

        Raises ``RipgrepMissing``, ``RipgrepFailed``, ``TooManyFiles`` and ``IndexTrouble``. What is
        wrong with single files is in the answer.
        """
        return await self._indexer.sync(progress)

    async def close(self) -> None:
        """End what goes on behind an answer; what is indexed stays."""
        await self._indexer.close()
        self._index.close()

    async def find(
        self,
        question: str,
        *,
        limit: int = 10,
        tokens: int = 400,
        paths: Sequence[str] = (),
        near: str | None = None,
    ) -> tuple[CodeHit, ...]:
        """The pieces of code that answer ``question`` best, as of the last ``sync``, at most
        ``limit``, each of at most ``tokens`` tokens.

        ``paths``: only in these files and folders, relative to the root. ``near``: a file whose
        code comes a little earlier: 0.1 is added to what it is worth, 0.05 to what else is in its
        folder, where the best words are worth 1. Raises ``InvalidSearch`` with all problems of the
        question, and ``IndexTrouble``.
        """
        asked = CodeQuestion(question, limit, tokens, tuple(paths), near)
        problems = tuple(problems_of(asked))
        if problems:
            raise InvalidSearch(problems)
        try:
            found = await asyncio.to_thread(self._find, asked)
        except IndexDamaged as error:
            self._indexer.begin_anew(error)
            await self._indexer.sync()
            found = await asyncio.to_thread(self._find, asked)
        self._indexer.look_if_due()
        return found

    async def digests(self, paths: Sequence[str]) -> Mapping[str, str]:
        """The SHA-256 (hex) of the content with which those of ``paths`` are indexed, by path.
        Raises ``IndexTrouble``."""
        return await asyncio.to_thread(self._digests, paths)

    def _digests(self, paths: Sequence[str]) -> Mapping[str, str]:
        with self._index.reading() as connection:
            return {path: digest.hex() for path, digest in rows.digests(connection, paths).items()}

    def _find(self, question: CodeQuestion) -> tuple[CodeHit, ...]:
        with self._index.reading() as connection:
            found = candidates(connection, question)
            meaning = self._meaning(connection, question, found.ids)
            return hits(connection, question, ranked(connection, question, found, meaning))

    def _meaning(
        self, connection: sqlite3.Connection, question: CodeQuestion, ids: Sequence[int]
    ) -> Mapping[int, float]:
        if self._embedder is None:
            return {}
        try:
            (asked,) = self._embedder.embed_queries([question.text])
        # It runs a model that we do not know. Words and names are left.
        except Exception as error:  # noqa: BLE001
            if self._unasked is None:
                _log.warning("questions are not embedded: %s", error)
            self._unasked = unembedded(self._embedder, error)
            return {}
        self._unasked = None
        return vectors.similarities(connection, self._embedder, asked, ids)
