"""What a planner works with: the skills, what is stored, a compiler and a validator."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Any, Protocol, TypeVar

from dcf.planner.compiling.binding import with_bindings
from dcf.planner.compiling.command_steps import CommandSteps, command_steps
from dcf.planner.compiling.compile import compile_sop
from dcf.planner.compiling.gap import Gap, domain_of
from dcf.planner.compiling.market import THRESHOLDS, Market
from dcf.planner.compiling.people import with_people
from dcf.planner.compiling.plan import Plan
from dcf.planner.compiling.skill_offers import (
    LEAST_OFFERED,
    SkillFinder,
    uncovered,
    with_skills,
    with_tasks,
)
from dcf.planner.compiling.tool_results import ToolResults
from dcf.planner.conversation.guidance import Guidance, Guide
from dcf.planner.matching.matcher import Matched, Matcher
from dcf.planner.matching.stored import Stored, stored_in
from dcf.problem import Problem
from dcf.search import Embedder, words
from dcf.skills import SkillCatalog
from dcf.skills.discovery import SkillSearch
from dcf.sop import Draft, NoDraft, Sop, Source, draft_of, form_of, parse

T = TypeVar("T")
_FOUND = 12


class UseSearch(Protocol):
    """Has ``work`` done with the search of skills, outside the event loop."""

    def __call__(self, work: Callable[[SkillSearch], T], /) -> Awaitable[T]: ...


@dataclass(frozen=True, slots=True)
class PlannedDraft:
    """``plan`` is that of ``draft``, in which people do what no skill covers: ``gaps`` are these
    steps. ``problems`` are those of the reading, of what was bound, and of the plan."""

    draft: Draft
    plan: Plan
    problems: tuple[Problem, ...]
    gaps: tuple[Gap, ...] = ()


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

    async def compile(
        self, sop: Sop, guidance: Guidance, guide: Guide, *, only_named: bool = False
    ) -> Plan:
        """The plan of ``sop``. Measures of kinds of tasks are read when the compiler asks for them,
        and it begins again. With ``only_named`` no skill is found that a step does not name."""
        catalog = await self.catalog()
        results = await asyncio.to_thread(ToolResults.load, self.generated)

        def work(search: SkillSearch) -> Plan:
            market = Market(
                catalog,
                search,
                results,
                math.inf if only_named else THRESHOLDS[self.embedder],
                guidance,
                guidance.guidelines,
                guidance.seed,
            )
            return compile_sop(sop, market)

        plan = await self.use_search(work)
        while guidance.missing and await guide.learn(guidance):
            plan = await self.use_search(work)
        return plan

    async def draft(self, source: Source, answers: Mapping[str, str]) -> Draft:
        """The draft of the procedure or runbook ``source``, with the skills that fit its steps; by
        ``answers`` to its questions. Raises NoDraft, IndexUnusable."""
        found = await asyncio.to_thread(_drafted, source, answers)
        catalog = await self.catalog()
        if found.exact or not len(catalog):
            return found
        results = await asyncio.to_thread(ToolResults.load, self.generated)
        least = LEAST_OFFERED[self.embedder]
        return await self.use_search(
            lambda search: with_skills(found, catalog, search, results, least, answers)
        )

    async def with_commands(self, found: Draft) -> tuple[Draft, CommandSteps]:
        """``found`` with a task for each command that is an argument list, where the skill that is
        to run them is there and may; and which commands there are."""
        steps = command_steps(found.sop)
        if not steps.lists or not steps.covered_by(await self.catalog()):
            return found, steps
        return replace(found, sop=steps.sop), replace(steps, is_bound=True)

    async def open_to_drafts(self, found: Draft) -> Draft:
        """``found`` with tasks without a skill for those steps of a runbook that a skill could do,
        and none does or fits. Raises IndexUnusable."""
        if found.exact:
            return found
        catalog = await self.catalog()
        least, domain = LEAST_OFFERED[self.embedder], domain_of(found.sop)
        numbers = await self.use_search(
            lambda search: uncovered(found, SkillFinder(catalog, search, least, domain))
        )
        return replace(found, sop=with_tasks(found.sop, numbers))

    async def plan(
        self,
        found: Draft,
        guidance: Guidance,
        guide: Guide,
        bind: Mapping[str, str],
        *,
        people: bool = True,
    ) -> PlannedDraft:
        """The plan of a draft, whose arguments take what ``bind`` says, by ``STEP.ARGUMENT``. With
        ``people`` they do what no skill covers."""
        # The skills of a runbook's steps were found when it was drafted.
        only_named = not found.exact
        plan = await self.compile(found.sop, guidance, guide, only_named=only_named)
        gaps = plan.gaps
        if plan.document is None and people:
            theirs = {gap.step.number for gap in gaps}
            if not found.exact:
                theirs |= {step.number for step in found.sop.all_steps()}
            found = replace(found, sop=with_people(found.sop, theirs))
            plan = await self.compile(found.sop, guidance, guide, only_named=only_named)
        wrong: tuple[Problem, ...] = ()
        if bind:
            bound, wrong = with_bindings(found.sop, plan, bind)
            found = replace(found, sop=bound)
            plan = await self.compile(bound, guidance, guide, only_named=only_named)
        return PlannedDraft(found, plan, (*wrong, *plan.problems), gaps)

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


def _drafted(source: Source, answers: Mapping[str, str]) -> Draft:
    text, file = source.text, source.file
    if not PurePath(file).suffix and not text.lstrip().startswith("---"):
        # A text without a name that is meant to be YAML is no runbook.
        reading = parse(text, file)
        if reading.sop is None and form_of(file, text) == "yaml":
            raise NoDraft(reading.problems)
    return draft_of(source, answers)


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
