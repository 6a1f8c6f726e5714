"""What a planner works with: the skills, what is stored, a compiler and a validator."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from dcf.planner.compiling.compile import compile_sop
from dcf.planner.compiling.market import THRESHOLDS, Market
from dcf.planner.compiling.plan import Plan
from dcf.planner.compiling.tool_results import ToolResults
from dcf.planner.conversation.guidance import Guidance, Guide
from dcf.planner.matching.matcher import Matched, Matcher
from dcf.planner.matching.stored import Stored, stored_in
from dcf.problem import Problem
from dcf.search import Embedder, words
from dcf.skills import SkillCatalog
from dcf.skills.discovery import SkillSearch
from dcf.sop import Sop

T = TypeVar("T")
_FOUND = 12


class UseSearch(Protocol):
    """Has ``work`` done with the search of skills, outside the event loop."""

    def __call__(self, work: Callable[[SkillSearch], T], /) -> Awaitable[T]: ...


@dataclass(frozen=True, slots=True)
class Bench:
    """``workflows`` is the folder of stored procedures and workflows, ``generated`` that of the
    skills; ``catalog`` reads them as they are now. ``embedder`` names the one of ``use_search`` and
    of ``matcher``."""

    catalog: Callable[[], Awaitable[SkillCatalog]]
    use_search: UseSearch
    generated: Path
    workflows: Path
    embedder: str
    matcher: Callable[[], Matcher]

    async def stored(self) -> tuple[list[Stored], list[Problem]]:
        """What lies in ``workflows``."""
        return await asyncio.to_thread(stored_in, self.workflows)

    async def match(self, objective: str, stored: Sequence[Stored]) -> Matched:
        """What of ``stored`` fits ``objective``. Raises IndexUnusable."""
        return await asyncio.to_thread(lambda: self.matcher().match(objective, stored))

    async def compile(self, sop: Sop, guidance: Guidance, guide: Guide) -> Plan:
        """The plan of ``sop``. Measures of kinds of tasks are read when the compiler asks for them,
        and it begins again."""
        catalog = await self.catalog()
        results = await asyncio.to_thread(ToolResults.load, self.generated)

        def work(search: SkillSearch) -> Plan:
            market = Market(
                catalog,
                search,
                results,
                THRESHOLDS[self.embedder],
                guidance,
                guidance.guidelines,
                guidance.seed,
            )
            return compile_sop(sop, market)

        plan = await self.use_search(work)
        while guidance.missing and await guide.learn(guidance):
            plan = await self.use_search(work)
        return plan

    async def covering(self, texts: Sequence[str]) -> frozenset[str]:
        """The names of the skills that a search without a model finds to cover one of ``texts``.
        Raises IndexUnusable."""
        catalog = await self.catalog()
        least = THRESHOLDS[self.embedder]

        def found(search: SkillSearch) -> frozenset[str]:
            return frozenset(
                hit.manifest.name
                for text in texts
                if words(text)
                for hit in search.search(catalog, text, _FOUND)
                if hit.score >= least
            )

        return await self.use_search(found)

    async def find_skills(self, query: str) -> list[dict[str, Any]]:
        """Skills for what is to be done: ``{skill, description, risk, egress, secrets, inputs,
        results, score}``."""
        catalog = await self.catalog()
        results = await asyncio.to_thread(ToolResults.load, self.generated)
        hits = await self.use_search(lambda search: search.search(catalog, query, _FOUND))
        return [
            {
                "skill": f"{hit.manifest.name}@{hit.manifest.version}",
                "description": hit.manifest.description,
                "risk": hit.manifest.permissions.risk_level,
                "egress": hit.manifest.permissions.egress,
                "secrets": list(hit.manifest.permissions.secrets),
                "tools": [_tool(tool, results) for tool in hit.manifest.tools],
                "score": round(hit.score, 3),
            }
            for hit in hits
        ]


def _tool(tool: Any, results: ToolResults) -> Mapping[str, Any]:
    taken = tool.input_schema
    return {
        "name": tool.name,
        "takes": {
            name: one.get("type", "any") for name, one in taken.get("properties", {}).items()
        },
        "required": list(taken.get("required", ())),
        "gives": {name: one.type or "any" for name, one in results.members(tool).items()},
    }


def the_embedder(embedder: Embedder, path: Path) -> Callable[[], Matcher]:
    """A matcher that is made when it is first used."""
    made: list[Matcher] = []

    def matcher() -> Matcher:
        if not made:
            made.append(Matcher(path, embedder))
        return made[0]

    return matcher
