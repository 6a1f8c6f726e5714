"""Code that answers a question, out of the files of one folder."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from dcf.code import rows, vectors
from dcf.code.errors import CodeProblem, InvalidSearch
from dcf.code.files import checked_root, listed
from dcf.code.hit import CodeHit
from dcf.code.index_file import IndexFile
from dcf.code.literal import Mentions, mentions
from dcf.code.question import Question, problems_of
from dcf.code.ranking import candidates, ranked
from dcf.code.syncing import Synced, remove_files, sync_files
from dcf.code.telling import hits
from dcf.problem import Problem
from dcf.search import Embedder

_FILES = 200
_PIECES = 512


class CodeRetriever:
    """The code below ``root`` that git does not ignore, indexed in the file ``index_path``.

    With an ``embedder`` what pieces mean counts too; where it fails, words and names decide alone.
    Several processes may use one index.
    """

    def __init__(self, root: Path, index_path: Path, embedder: Embedder | None = None) -> None:
        """Raises ``RootMissing``."""
        self.root = checked_root(root)
        self._embedder = embedder
        self._index = IndexFile(index_path, str(self.root))
        self._syncing = asyncio.Lock()

    async def sync(self, progress: Callable[[int, int], None] | None = None) -> Synced:
        """Bring the index up to date with the files. ``progress`` is told how many files are done,
        and of how many, now and then. What is done when this is cancelled stays done.

        Raises ``RipgrepMissing``, ``RipgrepFailed``, ``TooManyFiles`` and ``IndexTrouble``. What is
        wrong with single files is in the answer.
        """
        async with self._syncing:
            paths = await listed(self.root)
            known = await asyncio.to_thread(self._known)
            gone = sorted(known.keys() - set(paths))
            total = await asyncio.to_thread(self._remove, gone) if gone else Synced()
            for first in range(0, len(paths), _FILES):
                some = paths[first : first + _FILES]
                total += await asyncio.to_thread(self._sync, some, known)
                if progress is not None:
                    progress(min(first + _FILES, len(paths)), len(paths))
            return total + await self._embed()

    async def ready(self, question: str) -> tuple[Problem, ...]:
        """Bring the index up to date for ``question``."""
        await self.sync()
        return ()

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
        question, ``RipgrepMissing``, ``RipgrepFailed`` and ``IndexTrouble``.
        """
        asked = Question(question, limit, tokens, tuple(paths), near)
        problems = tuple(problems_of(asked))
        if problems:
            raise InvalidSearch(problems)
        said = await mentions(self.root, asked.names, asked.folders)
        return await asyncio.to_thread(self._find, asked, said)

    def _known(self) -> Mapping[str, rows.KnownFile]:
        with self._index.reading() as connection:
            return rows.files(connection)

    def _remove(self, paths: Sequence[str]) -> Synced:
        with self._index.writing() as connection:
            return remove_files(connection, paths)

    def _sync(self, paths: Sequence[str], known: Mapping[str, rows.KnownFile]) -> Synced:
        with self._index.writing() as connection:
            return sync_files(connection, self.root, paths, known)

    async def _embed(self) -> Synced:
        total = Synced()
        while self._embedder is not None:
            try:
                done = await asyncio.to_thread(self._embed_some, self._embedder)
            except CodeProblem:
                raise
            # It runs a model that we do not know. Without it the index is whole.
            except Exception as error:  # noqa: BLE001
                return total + Synced(problems=(_unembedded(self._embedder, error),))
            if not done:
                break
            total += Synced(embedded=done)
        return total

    def _embed_some(self, embedder: Embedder) -> int:
        with self._index.reading() as connection:
            some = vectors.missing(connection, embedder, _PIECES)
        made = vectors.embedded(embedder, some)
        if made:
            with self._index.writing() as connection:
                vectors.keep(connection, embedder, made)
        return len(made)

    def _find(self, question: Question, said: Mentions) -> tuple[CodeHit, ...]:
        with self._index.reading() as connection:
            found = candidates(connection, question, said)
            meaning = self._meaning(connection, question, found.ids)
            return hits(connection, question, ranked(connection, question, found, meaning))

    def _meaning(
        self, connection: sqlite3.Connection, question: Question, ids: Sequence[int]
    ) -> Mapping[int, float]:
        if self._embedder is None:
            return {}
        try:
            (asked,) = self._embedder.embed_queries([question.text])
        # As above: words and names are left.
        except Exception:  # noqa: BLE001
            return {}
        return vectors.similarities(connection, self._embedder, asked, ids)


def _unembedded(embedder: Embedder, error: Exception) -> Problem:
    return Problem(
        "code_embedder",
        f"the embedder {embedder.name!r} failed: {error}",
        hint="words and names are searched all the same; synchronise again to try it again",
        severity="warning",
    )
