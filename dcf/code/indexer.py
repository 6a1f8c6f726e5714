"""The index of a folder's code, kept up to date with its files beside the questions."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TypeVar

from dcf.code import rows, vectors
from dcf.code.errors import CodeProblem, IndexDamaged
from dcf.code.files import as_known, likely, listed, written_by_people
from dcf.code.index_file import IndexFile
from dcf.code.question import CodeQuestion, problems_of
from dcf.code.syncing import Synced, remove_files, sync_files
from dcf.problem import Problem
from dcf.search import Embedder
from dcf.stopping import stop

_log = logging.getLogger(__name__)

Out = TypeVar("Out")

_FILES = 25
_STEP_S = 0.2
"""Files of one transaction, and how long it may take: what is done when a process ends stays, so
few are done twice, and who waits for an answer does not wait for many large files."""
_MANY = 100
_PIECES = 512
_FEW = 64
"""Files that are read before an answer, however many there are besides."""
_FIRST = 100
"""Files that are read first for a question, where many are not indexed yet."""
_BATCH = 4
_LOOKS = (4, 19)
"""For how many times as long as a look at all files took there is no other one, at least and at
most: ``_LATE_S`` decides between them. Looking takes a twentieth of the time where a look is short,
and never more than a fifth."""
_LATE_S = 1.0
_EARLY = 0.8
"""From this part of that time on a look is begun behind an answer, before somebody waits for it."""
PATIENCE_S = 1.2
"""Of a core's time: how much an index that is being made gets before an answer."""
_LONGEST_S = 10.0
"""How long an answer waits for it where the machine does other work."""


class Indexer:
    """Brings ``index`` up to date with the code below ``root`` that git does not ignore, at most
    one look at the files at a time. Where much has changed it goes on behind answers."""

    def __init__(
        self, root: Path, index: IndexFile, embedder: Embedder | None, *, goes_on: bool
    ) -> None:
        """Without ``goes_on`` nothing is indexed behind answers, as in a process that ends with
        its answer: each spends all of its patience on the index, and no more."""
        self._root = root
        self._index = index
        self._embedder = embedder
        self._goes_on = goes_on
        # Files are read while vectors are made: edits are seen, however long those take.
        self._reading, self._embedding = asyncio.Lock(), asyncio.Lock()
        self._reads = 0
        self._following: asyncio.Task[None] | None = None
        self._look_soon = self._look_again = 0.0
        self._behind: asyncio.Task[Synced] | None = None
        self._pending: dict[str, None] = {}
        self._first: list[str] = []
        self._spent_s = 0.0
        self._stepped = asyncio.Condition()
        self._is_embedded = self._is_checked = False
        self._listed = 0
        self._nameless: tuple[Problem, ...] = ()

    async def ready(self, question: str, patience_s: float) -> tuple[Problem, ...]:
        """As ``CodeRetriever.ready``, without what is wrong with the embedder."""
        try:
            return await self._ready(question, patience_s)
        except IndexDamaged as error:
            self.begin_anew(error)
            return await self._ready(question, patience_s)

    async def _ready(self, question: str, patience_s: float) -> tuple[Problem, ...]:
        self._reap()
        if time.monotonic() >= self._look_again:
            self._look()
            if self._following is not None:
                await self._looked(self._following)
        if self._pending:
            await self._read_first(CodeQuestion(question), patience_s)
        elif self._behind is not None and not self._goes_on:
            await self._wait(self._behind, patience_s)
        self._reap()
        return (_partial(self._root, len(self._pending)),) if self._pending else ()

    def begin_anew(self, error: IndexDamaged) -> None:
        """Let the next look find that nothing is indexed."""
        _log.warning("%s It is made anew.", error)
        self._look_soon = self._look_again = 0.0
        self._pending = {}
        self._is_embedded = self._is_checked = False

    def look_if_due(self) -> None:
        """Begin a look between an answer and the next question, which would wait for it."""
        if self._goes_on and 0 < self._look_soon <= time.monotonic():
            self._look()

    def _look(self) -> None:
        """Begin a look at the files, unless there is one, or they are read."""
        if self._following is None and (self._behind is None or not self._pending):
            self._following = asyncio.create_task(self._follow())

    async def _looked(self, look: asyncio.Task[None]) -> None:
        """Wait for a look, which others may wait for too. Raises as it ended."""
        try:
            await asyncio.shield(look)
        finally:
            if look.done() and self._following is look:
                self._following = None

    async def _follow(self) -> None:
        """Index what changed, unless that is much."""
        began = time.monotonic()
        changed, gone = await self._changes()
        now = time.monotonic()
        # Many who ask at once share a look, and looking takes a small part of the time.
        fewest, most = (times * (now - began) for times in _LOOKS)
        wait = min(most, max(fewest, _LATE_S))
        self._look_again, self._look_soon = now + wait, now + _EARLY * wait
        if len(changed) + len(gone) > _FEW:
            self._pending = dict.fromkeys(changed or gone)
        elif (changed or gone) and self._behind is not None:
            # Whoever makes vectors makes those of these files too.
            await self._read(None)
        elif changed or gone:
            await self.sync()
        elif not self._is_checked and self._behind is None:
            # Whoever made the index may have ended before the last vectors.
            self._is_checked = True
            if await asyncio.to_thread(self._lacks_vectors):
                self._behind = asyncio.create_task(self.sync())

    async def _read_first(self, question: CodeQuestion, patience_s: float) -> None:
        """Let what is likely to answer be indexed first, of all that is indexed behind."""
        asks = not tuple(problems_of(question))
        first = await likely(self._root, list(self._pending), question) if asks else []
        self._first = first[:_FIRST]
        if self._behind is None or self._behind.done():
            self._behind = asyncio.create_task(self.sync())
        await self._wait(self._behind, patience_s)

    async def _wait(self, behind: asyncio.Task[Synced], patience_s: float) -> None:
        """Until ``behind`` ends or took so much of a core's time, or what is likely to answer is
        there and the rest goes on."""
        until, first = self._spent_s + patience_s, self._first

        def is_enough() -> bool:
            if self._spent_s >= until:
                return True
            return self._goes_on and not any(path in self._pending for path in first)

        waiting = asyncio.create_task(self._until(is_enough))
        try:
            await asyncio.wait(
                {behind, waiting}, timeout=_LONGEST_S, return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            await stop(waiting)
        if not self._goes_on:
            # The process ends with its answer, and would wait for the step that goes on.
            await stop(behind)

    async def _until(self, is_enough: Callable[[], bool]) -> None:
        async with self._stepped:
            await self._stepped.wait_for(is_enough)

    async def _step(self, work: Callable[[], Out]) -> Out:
        """A part of what goes on behind answers, of which whoever waits for it is told."""

        def measured() -> tuple[Out, float]:
            began = time.thread_time()
            return work(), time.thread_time() - began

        done, spent = await asyncio.to_thread(measured)
        self._spent_s += spent
        return done

    def _reap(self) -> None:
        """Take note of the end of what goes on behind. Raises as it ended."""
        # Files may have changed since: a question that comes late needs another look.
        if self._following is not None and self._following.done():
            looked, self._following = self._following, None
            looked.result()
        if self._behind is not None and self._behind.done():
            ended, self._behind = self._behind, None
            if ended.cancelled():
                self._is_checked = False
                return
            self._pending = {}
            ended.result()

    async def close(self) -> None:
        """End what goes on behind an answer; what is indexed stays."""
        if self._following is not None:
            await stop(self._following)
            self._following = None
        if self._behind is not None:
            await stop(self._behind)
            self._behind = None

    async def sync(self, progress: Callable[[str], None] | None = None) -> Synced:
        """As ``CodeRetriever.sync``."""
        try:
            return await self._synced(progress)
        except IndexDamaged as error:
            self.begin_anew(error)
            return await self._synced(progress)

    async def _synced(self, progress: Callable[[str], None] | None) -> Synced:
        total = await self._read(progress)
        async with self._embedding:
            return total + await self._embed(progress)

    async def _read(self, progress: Callable[[str], None] | None) -> Synced:
        """Index all files as they are now, without vectors."""
        async with self._reading:
            return await self._read_alone(progress)

    async def _read_alone(self, progress: Callable[[str], None] | None) -> Synced:
        changed, gone = await self._changes()
        if changed:
            self._reads, self._is_embedded = self._reads + 1, False
        total = await asyncio.to_thread(self._remove, gone) if gone else Synced()
        unchanged = self._listed - len(changed)
        self._pending = dict.fromkeys(changed)
        while some := self._next():
            done, synced = await self._step(partial(self._sync, some))
            total += synced
            for path in some[:done]:
                del self._pending[path]
            await self._tell_waiting()
            if progress is not None:
                indexed = self._listed - len(self._pending)
                progress(f"{indexed:,} of {self._listed:,} files are indexed")
        if len(changed) >= _MANY:
            await asyncio.to_thread(self._tidy)
        problems = (*self._nameless, *await self._old_problems(changed))
        return total + Synced(unchanged=unchanged, problems=problems)

    async def _tell_waiting(self) -> None:
        async with self._stepped:
            self._stepped.notify_all()

    async def _changes(self) -> tuple[list[str], list[str]]:
        """The files that are not as they are indexed, and those that are gone."""
        looked = asyncio.create_task(asyncio.to_thread(self._compared))
        try:
            found = await listed(self._root)
            paths = await asyncio.to_thread(written_by_people, self._root, found.paths)
        finally:
            await asyncio.wait([looked])
        known, same = looked.result()
        self._listed, self._nameless = len(paths), found.problems
        return [one for one in paths if one not in same], sorted(known - set(paths))

    def _compared(self) -> tuple[set[str], set[str]]:
        """The files that are indexed, and those of them that are still the same."""
        with self._index.reading() as connection:
            known = rows.stamps(connection)
        return {path for path, _, _ in known}, as_known(self._root, known)

    def _next(self) -> list[str]:
        """The files that are read next: those that somebody waits for, a few at a time."""
        if not self._pending:
            return []
        first = [path for path in self._first if path in self._pending]
        return first[:_BATCH] or list(islice(self._pending, _FILES))

    async def _old_problems(self, changed: Sequence[str]) -> tuple[Problem, ...]:
        """Those of files that did not change."""

        def read() -> tuple[Problem, ...]:
            with self._index.reading() as connection:
                return rows.known_problems(connection)

        found = await asyncio.to_thread(read)
        new = set(changed)
        return tuple(one for one in found if one.file not in new)

    def _remove(self, paths: Sequence[str]) -> Synced:
        with self._index.writing() as connection:
            return remove_files(connection, paths)

    def _sync(self, paths: Sequence[str]) -> tuple[int, Synced]:
        """How many of ``paths`` there was time for, at least one, and what became of them."""
        total, until = Synced(), time.monotonic() + _STEP_S
        with self._index.writing() as connection:
            known = rows.files(connection, paths)
            for number, path in enumerate(paths, start=1):
                total += sync_files(connection, self._root, [path], known)
                if time.monotonic() >= until:
                    return number, total
        return len(paths), total

    def _tidy(self) -> None:
        """Let the words of many new files be in one place: each search looks in all of them."""
        with self._index.writing() as connection:
            connection.execute("INSERT INTO words (words) VALUES ('optimize')")

    def _lacks_vectors(self) -> bool:
        if self._embedder is None:
            return False
        with self._index.reading() as connection:
            return vectors.are_missing(connection, self._embedder)

    async def _embed(self, progress: Callable[[str], None] | None) -> Synced:
        """Make vectors of all pieces without one. Many files that changed meanwhile are read
        first."""
        total = Synced()
        while self._embedder is not None and not self._is_embedded:
            if self._pending:
                await self._read(progress)
            reads = self._reads
            try:
                done = await self._step(partial(self._embed_some, self._embedder))
                await self._tell_waiting()
            except CodeProblem:
                raise
            # It runs a model that we do not know. Without it the index is whole.
            except Exception as error:  # noqa: BLE001
                if self._pending:
                    await self._read(progress)
                return total + Synced(problems=(unembedded(self._embedder, error),))
            self._is_embedded = not done.embedded and not self._pending and reads == self._reads
            total += done
            if done.embedded and progress is not None:
                progress(f"{total.embedded:,} pieces are embedded")
        return total

    def _embed_some(self, embedder: Embedder) -> Synced:
        with self._index.reading() as connection:
            some = vectors.missing(connection, embedder, _PIECES)
        made = vectors.embedded(embedder, some)
        if made:
            with self._index.writing() as connection:
                vectors.keep(connection, embedder, some, made)
        return Synced(embedded=len(made))


def unembedded(embedder: Embedder, error: Exception) -> Problem:
    """That words and names alone are searched."""
    return Problem(
        "code_embedder",
        f"the embedder {embedder.name!r} failed: {error}",
        hint="words and names are searched all the same; the next question or look at the files"
        " tries it again",
        severity="warning",
    )


def _partial(root: Path, left: int) -> Problem:
    return Problem(
        "code_index_partial",
        f"{left:,} files of {root} are not indexed yet; those with most of the words came first;"
        " `dcf retrieval index` indexes all",
        hint="or ask again: each question goes on where the one before ended",
        severity="warning",
    )
