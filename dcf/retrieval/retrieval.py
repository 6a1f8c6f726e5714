"""Memory, code and documents of a project in one answer."""

from __future__ import annotations

import asyncio
import posixpath
from collections.abc import Sequence
from dataclasses import dataclass, replace

from dcf.code import CodeHit, CodeProblem
from dcf.memory import Clock, Found
from dcf.personal_form import PersonalSetting
from dcf.problem import Problem
from dcf.retrieval.bundle import Bundle, bundled, with_costs
from dcf.retrieval.candidate import Scored, candidates_of
from dcf.retrieval.errors import InvalidQuestion
from dcf.retrieval.item import Item, NewItem, Recalled
from dcf.retrieval.items import MOST, Items
from dcf.retrieval.question import ContextQuestion, faults_of
from dcf.retrieval.ranking import by_guide, fused
from dcf.retrieval.shelves import CodeShelf, DocumentHit, DocumentShelf, ObservationShelf
from dcf.search import words

_CANDIDATES = 50
"""Of memory, of code and of documents each, which are ranked together."""
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
    """What was logged about projects, their code, documents and observations; each of these three
    is None where none are searched."""

    def __init__(
        self,
        items: Items,
        code: CodeShelf | None,
        clock: Clock,
        documents: DocumentShelf | None = None,
        personal: PersonalSetting | None = None,
        observations: ObservationShelf | None = None,
    ) -> None:
        """``personal`` is what is taken out of what is logged."""
        self.items = items
        self.code = code
        self.documents = documents
        self.observations = observations
        self._clock = clock
        self._personal = personal or PersonalSetting()

    async def log(self, project: str, new: NewItem) -> Item:
        """Keep an item. Raises InvalidItem."""
        path = None if new.file_path is None else path_in(project, new.file_path)
        clean = self._personal.without
        # A long text takes its time, in which others are answered; a thread takes some as well.
        is_short = len(new.text) <= _SHORT
        text = clean(new.text) if is_short else await asyncio.to_thread(clean, new.text)
        tags, source = tuple(map(clean, new.tags)), new.source and clean(new.source)
        return await self.items.remember(project, NewItem(text, tags, source, path))

    async def context(self, question: ContextQuestion) -> Answered:
        """The items and pieces of code and documents that answer a question best. Code that
        cannot be searched is a warning: what is remembered is told all the same. Raises
        InvalidQuestion."""
        faults = list(faults_of(question))
        if faults:
            raise InvalidQuestion(text="; ".join(faults))
        project = question.project
        path = None if question.file_path is None else path_in(project, question.file_path)
        recalled, (code, problems), documents, observations = await asyncio.gather(
            self._recalled(question, path),
            self._code(question, path),
            self._documents(question),
            self._observations(question),
        )
        candidates = candidates_of(recalled, code, documents, observations)
        if question.mode == "guide":
            ranked = by_guide(question.query, candidates, self._clock())
        else:
            ranked = await asyncio.to_thread(fused, question.query, candidates)
        if question.budget is not None:
            told = await asyncio.to_thread(bundled, ranked, question.budget, question.limit)
            return Answered(told.found, told.left_out, problems, told)
        found = await asyncio.to_thread(with_costs, ranked[: question.limit])
        behind = f"behind the first {question.limit}"
        left_out = (replace(one, left_out=behind) for one in ranked[question.limit :])
        return Answered(tuple(found), tuple(left_out), problems)

    async def _recalled(self, question: ContextQuestion, path: str | None) -> Sequence[Recalled]:
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
        if self.code is None or not words(question.query):
            return (), ()
        # A file outside of the folder has no code here that it could be near to.
        near = path if path is not None and _is_inside(path) else None
        try:
            retriever = self.code.of(question.project)
            problems = await retriever.ready(question.query)
            limit = min(max(2 * question.limit, 20), 100)
            return await retriever.find(question.query, limit=limit, near=near), problems
        except CodeProblem as error:
            return (), (error.problem,)

    async def _documents(self, question: ContextQuestion) -> Sequence[DocumentHit]:
        if self.documents is None or not words(question.query):
            return ()
        limit = max(_CANDIDATES, question.limit)
        return await self.documents.find(question.project, question.query, limit=limit)

    async def _observations(self, question: ContextQuestion) -> Sequence[Found]:
        # The formula of the guide knows none; none is about one file alone.
        if self.observations is None or question.mode == "guide" or not words(question.query):
            return ()
        limit = max(_CANDIDATES, question.limit)
        return await self.observations.find(question.project, question.query, limit=limit)


def path_in(project: str, path: str) -> str:
    """``path`` as the files of a project are named: relative to its folder where it lies in it;
    any other stays as it is."""
    plain = posixpath.normpath(path) if path.strip() else path
    if plain == project:
        return "."
    return plain.removeprefix(f"{project.rstrip('/')}/")


def _is_inside(path: str) -> bool:
    return not path.startswith(("../", "/")) and path not in ("..", ".")
