"""What was known before a session began."""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from dcf.advisors.strategist import CompanionHistory, SkillHistory
from dcf.knowledge import Knowledge
from dcf.knowledge.asking import sessions_past


@dataclass(frozen=True, slots=True)
class History:
    """How skills and specializations did elsewhere. Nothing of it may be of the session that asks:
    it would be counted twice."""

    skills: tuple[SkillHistory, ...] = ()
    companions: tuple[CompanionHistory, ...] = ()


class Past(Protocol):
    """Somebody who remembers other sessions."""

    async def of(self, session_id: str, task_types: Collection[str], *, before: int) -> History:
        """What was known of tasks of these types ``before`` (ms), without those of ``session_id``.
        May raise anything, and may never answer: nobody waits long for it."""
        ...


class GraphPast:
    """The past as the knowledge graph has it; ``open_graph`` opens it for one question."""

    def __init__(self, open_graph: Callable[[], AbstractAsyncContextManager[Knowledge]]) -> None:
        self._open = open_graph

    async def of(self, session_id: str, task_types: Collection[str], *, before: int) -> History:
        """Raises KnowledgeError."""
        async with self._open() as knowledge:
            found = await sessions_past(
                knowledge.graph,
                excluding=session_id,
                task_types=task_types,
                until=before,
                now=before,
            )
        return History(
            tuple(SkillHistory(one.task_type, one.subject, one.record) for one in found.skills),
            tuple(
                CompanionHistory(one.task_type, one.subject, one.record)
                for one in found.specializations
            ),
        )
