"""Logged items, observations, threads, playbooks, code, documents and facts of a project in one
answer."""

from __future__ import annotations

import asyncio
import logging
import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from dcf.code import CodeHit, CodeProblem
from dcf.memory import (
    SYSTEM,
    Clock,
    DocumentFiles,
    Found,
    PlaybookMatch,
    ThreadHit,
)
from dcf.personal_form import PersonalSetting
from dcf.problem import Problem
from dcf.retrieval.audit_log import NOBODY, AuditLog, Caller
from dcf.retrieval.backend import MOST, DocumentHit, Items, ProjectDocuments
from dcf.retrieval.bundle import SHARES, Bundle, Share, bundled
from dcf.retrieval.candidate import Candidate, Kind, Scored, candidates_of, is_among, permitted
from dcf.retrieval.cut import with_costs
from dcf.retrieval.errors import FactsAway, InvalidQuestion
from dcf.retrieval.freshness import Freshness
from dcf.retrieval.item import Item, NewItem, Recalled
from dcf.retrieval.question import ContextQuestion, faults_of
from dcf.retrieval.ranking import boosted, by_guide, current_first, fused, merged
from dcf.retrieval.reranker import Reranker, reranked
from dcf.retrieval.retrievers import (
    CodeRetrievers,
    FactHit,
    FactRetriever,
    ObservationRetriever,
    PlaybookRetriever,
    ThreadRetriever,
)
from dcf.search import words
from dcf.secret_form import without_secrets

_log = logging.getLogger(__name__)

_CANDIDATES = 50
"""Of items, documents, observations, turns and facts each; of more only if more are asked for."""
_MORE = 4

_TIME = Caller("time is over")
_FILE = Caller("its file is gone")
_PATHS = 4_096
"""Paths without their secrets that are known: most of what is logged is about the same files."""
_SHORT = 1_000
"""Characters from which what names people is taken out within a millisecond."""


@dataclass(frozen=True, slots=True)
class Answered:
    """``found`` are the best ``limit``, or what a budget had room for (then ``bundle`` says how it
    was spent); ``left_out`` are the others that were ranked. ``problems`` are warnings: what was
    not looked at, and why."""

    found: tuple[Scored, ...]
    left_out: tuple[Scored, ...] = ()
    problems: tuple[Problem, ...] = ()
    bundle: Bundle | None = None


class Retrieval:
    """What was logged about projects, their code, documents, observations, threads, playbooks and
    facts; each of these six is None where none are searched."""

    def __init__(
        self,
        items: Items,
        code: CodeRetrievers | None,
        clock: Clock,
        *,
        documents: ProjectDocuments | None = None,
        personal: PersonalSetting | None = None,
        observations: ObservationRetriever | None = None,
        threads: ThreadRetriever | None = None,
        playbooks: PlaybookRetriever | None = None,
        reranker: Reranker | None = None,
        shares: Mapping[Kind, Share] = SHARES,
        facts: FactRetriever | None = None,
        audit: AuditLog | None = None,
    ) -> None:
        """``personal`` is what is taken out of what is logged, ``shares`` what each kind gets of a
        budget; who reads and deletes is noted in the ``audit``, if there is one."""
        self.items = items
        self.code = code
        self.documents = documents
        self.observations = observations
        self.threads = threads
        self.playbooks = playbooks
        self.audit = audit
        self._clock = clock
        self._personal = personal or PersonalSetting()
        self._reranker = reranker
        self._shares = shares
        self._facts = facts
        self._freshness = Freshness()

    async def log(self, project: str, new: NewItem) -> Item:
        """Keep an item. Raises InvalidItem."""
        # First: what makes a path plain hides an address with a password in it.
        named = new.file_path and _clean_path(new.file_path)
        path = None if named is None else path_in(project, named)
        clean = self._personal.without
        # A long text takes its time, in which others are answered; a thread takes some as well.
        is_short = len(new.text) <= _SHORT
        text = clean(new.text) if is_short else await asyncio.to_thread(clean, new.text)
        tags, source = tuple(map(clean, new.tags)), new.source and clean(new.source)
        return await self.items.remember(project, NewItem(text, tags, source, path))

    async def forget(self, project: str, item_id: str, by: Caller = NOBODY) -> None:
        """Give an item up. Raises UnknownItem."""
        await self.items.forget(project, item_id)
        if self.audit is not None:
            await self.audit.keep("delete", by, project, [item_id], 1)

    async def sweep(self, project: str) -> int:
        """Give up the items whose time is over; how many they were."""
        count = await self.items.sweep(project)
        if count and self.audit is not None:
            await self.audit.keep("sweep", _TIME, project, [], count)
        return count

    async def refresh(self, project: str) -> tuple[int, int]:
        """Read documents again whose file changed, and give up those whose file is gone; how many
        they were. What cannot be read is logged, and stays as it was."""
        if self.documents is None:
            return 0, 0
        changed = removed = 0
        files = DocumentFiles(self.documents)
        async for report in files.refresh(project, by=SYSTEM, personal=self._personal):
            changed += report.outcome == "changed"
            if report.outcome == "removed" and report.document is not None:
                removed += 1
                if self.audit is not None:
                    ids = [report.document.citation]
                    await self.audit.keep("delete", _FILE, project, ids, 1)
            if report.outcome == "refused":
                for problem in report.problems:
                    _log.warning("a document of %s is not read again: %s", project, problem)
        if changed:
            await self.documents.catch_up()
        return changed, removed

    async def context(self, question: ContextQuestion, by: Caller = NOBODY) -> Answered:
        """What answers a question best, of all its kinds. That ``by`` read it is noted. Raises
        InvalidQuestion."""
        answered = await self._answered(question)
        if self.audit is not None:
            ids = [name for one in answered.found for name in one.candidate.addresses]
            self.audit.note_read(by, question.project, ids)
        return answered

    async def _answered(self, question: ContextQuestion) -> Answered:
        """Code that cannot be searched is a warning: what is remembered is told all the same."""
        faults = list(faults_of(question))
        if faults:
            raise InvalidQuestion(text="; ".join(faults))
        project = question.project
        path = None if question.file_path is None else path_in(project, question.file_path)
        (
            recalled,
            (code, problems),
            documents,
            (observations, threads, playbooks),
            (facts, away),
        ) = await asyncio.gather(
            self._recalled(question, path),
            self._code(question, path),
            self._documents(question),
            self._experience(question),
            self._known_facts(question),
        )
        same, unknown = await self._same_files(project, code, documents)
        problems = (*_wordless(question), *problems, *unknown, *away)
        candidates, refused = permitted(
            candidates_of(
                *(recalled, code, documents, observations, playbooks, facts, threads), same=same
            ),
            question.files,
        )
        if question.mode == "guide":
            ranked = await asyncio.to_thread(by_guide, question.query, candidates, self._clock())
        else:
            ranked = await asyncio.to_thread(_ranked, question, path, candidates)
            if self._reranker is not None:
                ranked, unused = await reranked(self._reranker, question.query, ranked)
                problems = (*problems, *unused)
        ranked = current_first(ranked)
        if question.budget is not None:
            told = await asyncio.to_thread(
                bundled,
                *(ranked, question.budget, question.limit, self._shares),
                query=question.query,
                in_order=question.mode == "guide",
            )
            problems = (*problems, *_missed(told))
            return Answered(told.found, (*told.left_out, *refused), problems, told)
        found = await asyncio.to_thread(with_costs, ranked[: question.limit])
        behind = f"behind the first {question.limit}"
        left_out = (replace(one, left_out=behind) for one in ranked[question.limit :])
        return Answered(tuple(found), (*left_out, *refused), problems)

    async def _recalled(self, question: ContextQuestion, path: str | None) -> Sequence[Recalled]:
        if "memory" not in question.kinds:
            return ()
        # The formula of the guide judges all there is, the newest before what is beyond the limit.
        query, limit = (
            ("", MOST)
            if question.mode == "guide"
            else (question.query, max(_CANDIDATES, question.limit))
        )
        return await self.items.recall(question.project, query, file_path=path, limit=limit)

    async def _code(
        self, question: ContextQuestion, path: str | None
    ) -> tuple[Sequence[CodeHit], tuple[Problem, ...]]:
        if self.code is None or "code" not in question.kinds or not words(question.query):
            return (), ()
        # A file outside of the folder has no code here that it could be near to.
        near = path if path is not None and _is_inside(path) else None
        try:
            retriever = self.code.of(question.project)
            problems = await retriever.ready(question.query)
            limit = min(max(2 * question.limit, 20), 100)
            found = await retriever.find(question.query, limit=limit, near=near)
            if question.files and any(not is_among(hit.path, question.files) for hit in found):
                paths = question.files
                more = await retriever.find(question.query, limit=limit, near=near, paths=paths)
                found = (*more, *(hit for hit in found if not is_among(hit.path, paths)))
            return found, problems
        except CodeProblem as error:
            return (), (error.problem,)

    async def _documents(self, question: ContextQuestion) -> Sequence[DocumentHit]:
        if self.documents is None or "document" not in question.kinds or not words(question.query):
            return ()
        limit = max(_CANDIDATES, question.limit)
        if question.files is not None:
            # Most of what is found first may be in files that are not permitted.
            limit *= _MORE
        found = await self.documents.find(question.project, question.query, limit=limit)
        return await self._freshness.marked(self.documents, question.project, found)

    async def _same_files(
        self, project: str, code: Sequence[CodeHit], documents: Sequence[DocumentHit]
    ) -> tuple[frozenset[str], tuple[Problem, ...]]:
        """The paths of the files that were found as code and as documents, and that both have with
        the same content."""
        found = {hit.path for hit in code}
        path_of = {
            one.piece.document_id: one.piece.path for one in documents if one.piece.path in found
        }
        if self.code is None or self.documents is None or not path_of:
            return frozenset(), ()
        try:
            digests = await self.code.of(project).digests([*path_of.values()])
        except CodeProblem as error:
            return frozenset(), (error.problem,)
        states = await self.documents.files(project, [*path_of])
        return frozenset(
            path_of[one]
            for one, state in states.items()
            if state.digest == digests.get(path_of[one])
        ), ()

    async def _experience(
        self, question: ContextQuestion
    ) -> tuple[Sequence[Found], Sequence[ThreadHit], Sequence[PlaybookMatch]]:
        return await asyncio.gather(
            self._observations(question), self._threads(question), self._playbooks(question)
        )

    async def _observations(self, question: ContextQuestion) -> Sequence[Found]:
        # The formula of the guide knows none; none is about one file alone.
        if self.observations is None or question.mode == "guide" or not words(question.query):
            return ()
        if "observation" not in question.kinds:
            return ()
        limit = max(_CANDIDATES, question.limit)
        return await self.observations.find(
            question.project, question.query, limit=limit, workflow=question.workflow
        )

    async def _threads(self, question: ContextQuestion) -> Sequence[ThreadHit]:
        # The formula of the guide knows none; none is about one file alone.
        if self.threads is None or question.mode == "guide" or "thread" not in question.kinds:
            return ()
        limit = max(_CANDIDATES, question.limit)
        # Tools tell of files, and nobody knows of which.
        return await self.threads.find(
            question.project, question.query, limit=limit, tools=question.files is None
        )

    async def _playbooks(self, question: ContextQuestion) -> Sequence[PlaybookMatch]:
        if self.playbooks is None or question.mode == "guide" or "playbook" not in question.kinds:
            return ()
        return await self.playbooks.find(question.project, question.query)

    async def _known_facts(
        self, question: ContextQuestion
    ) -> tuple[Sequence[FactHit], tuple[Problem, ...]]:
        if self._facts is None or question.mode == "guide" or not words(question.query):
            return (), ()
        if "fact" not in question.kinds:
            return (), ()
        limit = max(_CANDIDATES, question.limit)
        try:
            return await self._facts.find(question.project, question.query, limit=limit), ()
        except FactsAway as error:
            return (), (replace(error.problem, severity="warning"),)


def _ranked(
    question: ContextQuestion, path: str | None, candidates: Sequence[Candidate]
) -> list[Scored]:
    return merged(boosted(fused(question.query, candidates), question.tags, path))


def _wordless(question: ContextQuestion) -> tuple[Problem, ...]:
    if words(question.query):
        return ()
    message = "the query has no word to look for: what was logged last is answered, and no more"
    return (Problem("CLI_RETRIEVAL_WORDLESS", message, severity="warning"),)


def _missed(made: Bundle) -> tuple[Problem, ...]:
    one = made.missed
    if one is None:
        return ()
    message = (
        f"the best answer, {one.candidate.citation}, is left out: it costs {one.tokens:,} tokens,"
        f" and the budget of {made.budget:,} has no room for it"
    )
    return (
        Problem(
            "CLI_RETRIEVAL_MISSED", message, hint="ask with a larger budget", severity="warning"
        ),
    )


def path_in(project: str, path: str) -> str:
    """``path`` as the files of a project are named: relative to its folder where it lies in it;
    any other stays as it is."""
    plain = posixpath.normpath(path) if path.strip() else path
    if plain == project:
        return "."
    return plain.removeprefix(f"{project.rstrip('/')}/")


@lru_cache(_PATHS)
def _clean_path(path: str) -> str:
    return without_secrets(path)


def _is_inside(path: str) -> bool:
    return not path.startswith(("../", "/")) and path not in ("..", ".")
