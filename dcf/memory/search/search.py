"""Search over what agents remember."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TypeAlias

from dcf.late_numpy import np
from dcf.memory.access import AccessLog
from dcf.memory.actor import SYSTEM, Actor
from dcf.memory.checking import refuse
from dcf.memory.database import Connection
from dcf.memory.errors import MemoryProblem
from dcf.memory.ledger import Ledger
from dcf.memory.search.cues import cued
from dcf.memory.search.filtering import left
from dcf.memory.search.found import KINDS, LEAST_SIMILARITY, Found, Kind
from dcf.memory.search.hits import Hits, hits
from dcf.memory.search.indexing import rebuild
from dcf.memory.search.meaning import (
    Missing,
    Suffices,
    as_kept,
    embedded,
    keep,
    missing,
    similarities,
)
from dcf.memory.search.nearest import Nearest
from dcf.memory.search.place import CODES, Places, codes_at
from dcf.memory.search.question import LONGEST_QUERY, Question, question_problems
from dcf.memory.search.ranking import Ranked, Scores, ranked
from dcf.memory.search.resolving import found_at, newest, saliences_at
from dcf.memory.search.scope import scope_of
from dcf.problem import Problem, ProblemError
from dcf.search import Embedder, EmbedderMissing, Vectors, embedder_named, without

_log = logging.getLogger(__name__)

_NEAREST = 1.01
"""The similarity of what is the same, in the precision of vectors as they are kept."""
_ALONE = frozenset({"passage", "document"})
"""Kinds of which nothing but words, meaning and salience decides: no neighbours, no cues."""
_AT_ONCE = 64
"""Texts that a search may embed before it answers."""
_BATCH = 512
_FEW = 128
"""Texts that are embedded at once behind searches: these wait a few ms at most."""
_PAUSE_S = 0.2
"""Between two looks for what was written."""
_PATIENCE_S = 1.0
"""How long what is embedded behind searches waits for these."""
Elsewhere: TypeAlias = Callable[[Sequence[str]], Awaitable[Vectors]]
"""Embeds texts, as this embedder does, in another process; raises a ProblemError."""
_BEHIND = "new texts are found by words alone for now: %s"


class Search:
    """Finds blocks, messages, passages, observations, turns of threads and entries of nodes.

    A text that is written is found by its words as soon as the write is done, and by its meaning
    after the catching up that searches begin with: each takes up to 64 texts, oldest first, and
    ``catch_up`` all; while ``keep_up`` runs, it alone does. Without the packages of the embedder
    words alone decide.
    """

    def __init__(
        self,
        ledger: Ledger,
        embedder: str,
        named: Callable[[str], Embedder] = embedder_named,
        *,
        access: AccessLog | None = None,
    ) -> None:
        """``embedder`` is wordllama, minilm or none; it is loaded with the first search. What is
        found in nodes is noted in ``access``."""
        self._ledger = ledger
        self._access = access
        self._name = embedder
        self._named = named
        self._loaded: Embedder | None = None
        self._without: EmbedderMissing | None = None
        self._loading = asyncio.Lock()
        self._nearest = Nearest()
        self._is_kept_up = False
        self._searches = 0
        self._is_quiet = asyncio.Event()
        self._is_quiet.set()

    async def find(
        self,
        query: str,
        *,
        k: int = 10,
        agent_ids: Sequence[str] | None = None,
        projects: Sequence[str] | None = None,
        node: str | None = None,
        nodes: Sequence[str] | None = None,
        entry_kinds: Sequence[str] = (),
        having: Sequence[str] = (),
        verified: bool = False,
        kinds: Sequence[Kind] = KINDS,
        labels: Sequence[str] = (),
        tags: Sequence[str] = (),
        ended: Sequence[tuple[str | None, int]] = (),
        since: int | None = None,
        until: int | None = None,
        roles: Sequence[str] = (),
        session_id: str | None = None,
        types: Sequence[str] = (),
        concepts: Sequence[str] = (),
        source_types: Sequence[str] = (),
        source_ids: Sequence[str] = (),
        workflows: Sequence[str] = (),
        turn: int | None = None,
        topic: str | None = None,
        pinned: bool | None = None,
        weights: Mapping[str, float] | None = None,
        by: Actor | None = None,
    ) -> tuple[Found, ...]:
        """The ``k`` texts that fit best, the best first, as ``Question`` says; ``by`` is who asks,
        for the record of what is read of nodes.

        Stop words are left out unless the query has no others. A query without any word (empty,
        punctuation) gives the newest texts. Of a longer query only the first 10,000 characters are
        looked for. Raises InvalidEntry with all that is wrong, UnknownNode.
        """
        question = Question(
            query[:LONGEST_QUERY],
            k,
            agent_ids=agent_ids,
            projects=projects,
            node=node,
            nodes=nodes,
            entry_kinds=entry_kinds,
            having=having,
            verified=verified,
            kinds=kinds,
            labels=labels,
            tags=tags,
            ended=ended,
            since=since,
            until=until,
            roles=roles,
            session_id=session_id,
            types=types,
            concepts=concepts,
            source_types=source_types,
            source_ids=source_ids,
            workflows=workflows,
            turn=turn,
            topic=topic,
            pinned=pinned,
            weights=weights or {},
        )
        refuse("the search", question_problems(question))
        self._searches += 1
        self._is_quiet.clear()
        try:
            found = await self._answered(question)
        finally:
            self._searches -= 1
            if not self._searches:
                self._is_quiet.set()
        read = [(one.node_id, one.ref) for one in found if one.node_id is not None]
        if self._access is not None and (read or question.is_of_nodes):
            self._access.note(by, "search", question.node, read)
        return found

    async def _answered(self, question: Question) -> tuple[Found, ...]:
        embedder = await self.embedder() if question.words else None
        if self._is_kept_up:
            return await self._ledger.read(
                lambda connection: _answer(connection, question, embedder, self._nearest)
            )
        texts, found = await self._ledger.read(
            lambda connection: _answer_unless_late(connection, question, embedder, self._nearest)
        )
        if embedder is None or not texts:
            return found
        await self._catch_up_some(embedder, texts)
        return await self._ledger.read(
            lambda connection: _answer(connection, question, embedder, self._nearest)
        )

    async def catch_up(self) -> int:
        """Embed every text that has no vector yet; how many it was."""
        embedder = await self.embedder()
        total = count = 0
        while embedder is not None and (count := await self._embed(embedder, _BATCH)):
            total += count
        return total

    async def keep_up(self, elsewhere: Elsewhere | None = None) -> None:
        """Embed what is written, a moment after it is, until this is cancelled: searches need not
        begin with it meanwhile. They go first, and what is embedded, here or ``elsewhere``, takes
        two thirds of the time at most."""
        self._is_kept_up = True
        embedder = await self.embedder()
        try:
            while True:
                began, count = time.monotonic(), 0
                try:
                    if embedder is not None:
                        count = await self._embed(embedder, _FEW, elsewhere)
                except ProblemError as error:
                    _log.warning(_BEHIND, error)
                took = time.monotonic() - began
                await asyncio.sleep(took / 2 if count == _FEW else _PAUSE_S)
                await self._let_search()
        finally:
            self._is_kept_up = False

    async def _let_search(self) -> None:
        """Wait for a moment without a search, but not for ever."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._is_quiet.wait(), _PATIENCE_S)

    def leave_behind(self) -> None:
        """Another process keeps up: searches here need not begin with it."""
        self._is_kept_up = True

    async def rebuild(self) -> int:
        """Make the index anew from what is kept; how many texts are in it."""
        return await self._ledger.change(SYSTEM, lambda journal: rebuild(journal.connection))

    async def limits(self) -> tuple[Problem, ...]:
        """Why meanings are not compared, if so: a warning."""
        await self.embedder()
        if self._without is None:
            return ()
        return (
            Problem(
                "memory_search_words_only",
                f"search goes by words alone: {self._without}",
                hint=self._without.hint,
                severity="warning",
            ),
        )

    async def embedder(self) -> Embedder | None:
        """What compares meanings, loaded by the first who asks; None if words alone decide."""
        if self._name == "none" or self._without is not None:
            return None
        async with self._loading:
            if self._loaded is None and self._without is None:
                try:
                    self._loaded = await asyncio.to_thread(self._named, self._name)
                except EmbedderMissing as error:
                    self._without = error
                    _log.info("search goes by words alone: %s", error)
        return self._loaded

    async def _catch_up_some(self, embedder: Embedder, texts: list[Missing]) -> None:
        try:
            await self._keep(embedder, texts)
        except MemoryProblem as error:
            # A full disk or a busy file is no reason not to find what there is.
            _log.warning(_BEHIND, error)

    async def _embed(
        self, embedder: Embedder, limit: int, elsewhere: Elsewhere | None = None
    ) -> int:
        texts = await self._ledger.read(lambda connection: missing(connection, embedder, limit))
        if texts:
            await self._keep(embedder, texts, elsewhere)
        return len(texts)

    async def _keep(
        self, embedder: Embedder, texts: list[Missing], elsewhere: Elsewhere | None = None
    ) -> None:
        if elsewhere is None:
            made = await asyncio.to_thread(embedded, embedder, texts)
        else:
            made = as_kept(texts, await elsewhere([one.text for one in texts]))
        await self._ledger.database.write(lambda connection: keep(connection, embedder, made))


def _answer_unless_late(
    connection: Connection, question: Question, embedder: Embedder | None, nearest: Nearest
) -> tuple[list[Missing], tuple[Found, ...]]:
    """Texts that are to be embedded first; the answer if there are none."""
    texts = [] if embedder is None else missing(connection, embedder, _AT_ONCE)
    return texts, () if texts else _answer(connection, question, embedder, nearest)


def _answer(
    connection: Connection, question: Question, embedder: Embedder | None, nearest: Nearest
) -> tuple[Found, ...]:
    words = question.words
    if not words:
        return tuple(newest(connection, question))
    scope = scope_of(connection, question)
    if not scope.documents:
        return ()
    found = hits(connection, [*words, *question.beginnings], scope)
    # Of English texts no beginnings are known: what nobody says takes nothing from the words.
    found = [*found[: len(words)], *(one for one in found[len(words) :] if len(one.text))]
    best = ranked(connection, found, words, scope, all_of_them=question.is_filtered)
    if embedder is None:
        near = np.full(len(best.places), np.nan)
        score = cued(connection, question, best.places, best.words)
        return _best(connection, question, best, near, score)
    part = embedder.weights.part_of_words(question.query)
    places, similar = similarities(
        connection,
        embedder,
        _readings(question, found[: len(words)]),
        scope,
        best.places,
        nearest=nearest,
        left=lambda places: left(connection, places, question),
        least=4 * question.k,
        suffices=_enough(question, best, part),
    )
    best, near = _joined(best, places, similar)
    score = part * best.words + (1 - part) * np.nan_to_num(near)
    said = (best.words > 0) | (np.nan_to_num(near) >= LEAST_SIMILARITY)
    best, near = best.only(said), near[said]
    score = cued(connection, question, best.places, score[said])
    return _best(connection, question, best, near, score)


def _enough(question: Question, best: Ranked, part: float) -> Suffices | None:
    """Whether so many of ``best`` have a higher score than any text has that says no word of the
    query: then none of those need be looked for."""
    if question.is_filtered or not _ALONE.issuperset(question.wanted):
        return None

    def suffice(places: Places, near: Scores) -> bool:
        words = best.words[np.searchsorted(best.places, places)]
        above = part * words + (1 - part) * near > (1 - part) * _NEAREST
        return int(np.count_nonzero(above)) >= 2 * question.k

    return suffice


def _readings(question: Question, found: Sequence[Hits]) -> list[str]:
    """The query as it is asked, and without the names of senders, if something is left: all that
    one said is near to the own name. ``found`` has the hits of each word."""
    message = CODES["message"]
    said = zip(question.words, found, strict=True)
    names = {word for word, one in said if (codes_at(one.about) == message).any()}
    if not names or not set(question.words) - names:
        return [question.query]
    return [question.query, without(question.query, names)]


def _joined(best: Ranked, places: Places, similar: Scores) -> tuple[Ranked, Scores]:
    """What words found and what meanings found, together; NaN where there is no similarity."""
    every = np.union1d(best.places, places)
    words, own, near = np.zeros(len(every)), np.zeros(len(every)), np.full(len(every), np.nan)
    at = np.searchsorted(every, best.places)
    words[at], own[at] = best.words, best.own
    near[np.searchsorted(every, places)] = similar
    return Ranked(every, words, own), near


def _best(
    connection: Connection, question: Question, best: Ranked, near: Scores, score: Scores
) -> tuple[Found, ...]:
    """The first ``k`` that the filters leave."""
    order = np.argsort(-score, kind="stable")
    if question.wanted == ("passage",):
        found = _of_passages(connection, question, best, score, order)
    else:
        found = _of_all(connection, question, best, score, order)
    return tuple(
        replace(
            one,
            score=weighed,
            words=float(best.words[row]),
            near=float(best.words[row] - best.own[row]),
            similarity=None if np.isnan(near[row]) else float(near[row]),
        )
        for weighed, row, one in found[: question.k]
    )


def _of_all(
    connection: Connection, question: Question, best: Ranked, score: Scores, order: Places
) -> list[tuple[float, int, Found]]:
    """What is found, with its score and its row, the best first. Labels' weights and salience move
    what is near the top: as many are weighed as could change places."""
    found: list[tuple[float, int, Found]] = []
    moved = question.weights or "passage" in question.wanted
    enough = 2 * question.k if moved else question.k
    for start in range(0, len(order), enough):
        rows = order[start : start + enough]
        at = found_at(connection, best.places[rows].tolist(), question)
        found += [
            (float(score[row]) * _weight(one, salience, question), row, one)
            for row, (one, salience) in zip(rows.tolist(), at, strict=True)
            if one is not None
        ][: enough - len(found)]
        if len(found) >= enough:
            break
    return sorted(found, key=lambda one: -one[0])


def _of_passages(
    connection: Connection, question: Question, best: Ranked, score: Scores, order: Places
) -> list[tuple[float, int, Found]]:
    """The same of passages, of which only what is answered is read."""
    weighed: list[tuple[float, int]] = []
    enough = 2 * question.k
    for start in range(0, len(order), enough):
        rows = order[start : start + enough].tolist()
        known = saliences_at(connection, best.places[rows], question)
        weighed += [
            (float(score[row]) * _by_salience(known[place]), row)
            for row, place in zip(rows, best.places[rows].tolist(), strict=True)
            if place in known
        ][: enough - len(weighed)]
        if len(weighed) >= enough:
            break
    first = sorted(weighed, key=lambda one: -one[0])[: question.k]
    at = found_at(connection, best.places[[row for _, row in first]].tolist(), question)
    return [
        (worth, row, one)
        for (worth, row), (one, _) in zip(first, at, strict=True)
        if one is not None
    ]


def _weight(one: Found, salience: float, question: Question) -> float:
    """What the score is multiplied with."""
    if one.kind == "block":
        return question.weights.get(one.label or "", 1.0)
    return _by_salience(salience)


def _by_salience(salience: float) -> float:
    """From three quarters for a passage that hardly matters to five quarters."""
    return 0.75 + 0.5 * salience
