"""What a task step does: with which skills, what it is given, and what of its result is kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dcf.planner.compiling.expression import names_in_text
from dcf.planner.compiling.market import Market
from dcf.planner.compiling.skill_choice import (
    Candidate,
    NoSkill,
    SkillChoice,
    Types,
    all_arguments,
    choose_skills,
    required_arguments,
)
from dcf.planner.compiling.tool_results import (
    Found,
    find_member,
    fits,
    required_tools,
    sole_tool,
)
from dcf.problem import Problem
from dcf.skills import Manifest
from dcf.sop import Name, Sop, Step, Value, Wait, names_in

WHOLE = Found((), certain=True)
"""All of what a Task answers."""


@dataclass(slots=True)
class Work:
    """The work of one task step. ``results`` says for each name that it writes where its value
    stands in the result; ``derived`` are those of them that the step does not declare, which a
    later step needs."""

    step: Step
    market: Market
    choice: SkillChoice | None = None
    gap: NoSkill | None = None
    problems: list[Problem] = field(default_factory=list)
    results: dict[str, Found] = field(default_factory=dict)
    derived: list[str] = field(default_factory=list)

    @property
    def skills(self) -> tuple[Manifest, ...]:
        return self.choice.skills if self.choice else ()

    @property
    def nearest(self) -> tuple[Candidate, ...]:
        """The skills that come nearest, of a step that none covers."""
        return self.gap.nearest if self.gap else ()

    @property
    def required(self) -> Types:
        """What its tools must be given, with types; nothing where that is said already."""
        if self.step.runs is not None:
            return {}
        return required_arguments(self.market.results, self.skills)

    @property
    def taken(self) -> Types:
        """What its tools can be given, with types."""
        if self.step.runs is not None:
            return {}
        return all_arguments(self.market.results, self.skills)


def plan_work(sop: Sop, market: Market) -> dict[str, Work]:
    """The work of every task step by the step's number."""
    works = _chosen(sop, market)
    _derive(sop, works)
    return works


def _chosen(sop: Sop, market: Market) -> dict[str, Work]:
    """In reading order, so that a choice knows what the steps before it give."""
    have: dict[str, str | None] = {one.name: one.type for one in sop.inputs}
    roles = {role.name: role.description for role in sop.roles}
    works: dict[str, Work] = {}
    for step in sop.all_steps():
        if step.loop is not None:
            have[step.loop.item] = None
        if step.kind == "task":
            work = works[step.number] = Work(step, market)
            role = f"{step.role}: {roles.get(step.role, '')}" if step.role else ""
            found = choose_skills(market, step, role, have)
            if isinstance(found, SkillChoice):
                work.choice = found
                _declare(work)
                work.problems += _not_permitted(work)
            elif isinstance(found, NoSkill):
                work.gap = found
                work.results = {write.target: WHOLE for write in step.writes}
            else:
                work.problems = found
                work.results = {write.target: WHOLE for write in step.writes}
            have |= {name: member.type for name, member in work.results.items()}
        else:
            kind = None if step.kind == "manual" else "array"
            have |= {write.target: write.type or kind for write in step.writes}
    return works


def _declare(work: Work) -> None:
    """Where what the step declares to write stands in the result of its skills."""
    skills = work.skills
    known = work.market.results.is_known(required_tools(skills))
    unknown = []
    for write in work.step.writes:
        parts = tuple(write.source.split("."))
        member = find_member(work.market.results, skills, parts[0])
        if member is not None:
            whole = len(parts) == 1
            kind = member.type if whole else None
            work.results[write.target] = Found(
                (*member.path, *parts[1:]), member.certain and whole, kind
            )
        elif parts[0] in {tool.name for tool in required_tools(skills)}:
            work.results[write.target] = Found(parts, certain=len(parts) == 1)
        else:
            unknown.append(write)
    for write in unknown:
        if known and len(work.step.writes) == 1:
            work.results[write.target] = WHOLE
        else:
            path = tuple(write.source.split("."))
            work.results[write.target] = Found(path, certain=False)
            if known:
                work.problems.append(_not_given(work, write.source))


def _not_permitted(work: Work) -> Iterator[Problem]:
    """The program that the step runs, where its skill may not run it."""
    step = work.step
    allowed = {program for skill in work.skills for program in skill.permissions.commands}
    if step.runs is not None and step.runs.program not in allowed:
        yield Problem(
            "PLAN_COMMAND",
            f"step {step.number} runs {step.runs.program}, and {step.skills[0]} may not run it",
            hint="name a skill that has it in `permissions.commands`",
            line=step.line,
        )


def _not_given(work: Work, source: str) -> Problem:
    step = work.step
    names = ", ".join(f"{one.name}@{one.version}" for one in work.skills)
    return Problem(
        "PLAN_RESULT",
        f"step {step.number} writes `{source}`, which no tool of {names} says that it gives",
        hint="write what the tool gives, or name another skill; a rehearsal leaves it null",
        severity="warning",
        line=step.line,
    )


def _derive(sop: Sop, works: Mapping[str, Work]) -> None:
    """Let steps write what later steps need and nobody declares to write."""
    declared = {one.name for one in sop.inputs}
    for step in sop.all_steps():
        declared |= {write.target for write in step.writes}
        if step.loop is not None:
            declared.add(step.loop.item)
    last = len(list(sop.all_steps()))
    needed: dict[str, int] = {one.name: last for one in sop.outputs}
    for position, step in enumerate(sop.all_steps()):
        for root in needs(step, works.get(step.number)):
            needed[root] = max(position, needed.get(root, 0))
    for position, step in enumerate(sop.all_steps()):
        work = works.get(step.number)
        if work is None or work.choice is None:
            continue
        for name, until in needed.items():
            member = find_member(work.market.results, work.skills, name)
            if name not in declared and member is not None and position < until:
                work.results[name] = member
                work.derived.append(name)


def needs(step: Step, work: Work | None) -> Iterator[str]:
    """The names that ``step`` itself cannot do without, each as often as it is read."""
    yield from (read.root for read in step.reads)
    for branch in step.branches:
        yield from (name.root for name in names_in(branch.condition))
    if step.loop is not None:
        yield step.loop.items.partition(".")[0]
    if isinstance(step.wait, Wait):
        moments = (step.wait.seconds, step.wait.until)
        yield from (one.root for one in moments if isinstance(one, Name))
    if work is not None:
        read = {one.target for one in step.reads}
        yield from (name for name in work.required if name not in read)


@dataclass(frozen=True, slots=True)
class Members:
    """Where the members of inputs and items stand: ``customer_id`` in ``order.customer_id``."""

    paths: Mapping[str, str]

    @classmethod
    def of(cls, values: Sequence[Value]) -> Members:
        return cls(
            {
                member.name: f"{value.name}.{member.name}"
                for value in reversed(values)
                if value.type == "object"
                for member in reversed(value.members)
                if member.required
            }
        )


def arguments_of(
    work: Work, known: frozenset[str], types: Mapping[str, str | None], members: Members
) -> tuple[dict[str, str], list[str]]:
    """What the step is given, dotted names by argument; and what its tools must have and nobody
    gives.

    It is given what it declares to read, what its text has in backticks, and what its tools must
    have, by name; if it declares nothing, all that its tools take.
    """
    step = work.step
    given = {read.target: read.source for read in step.reads}
    for path in names_in_text(f"{step.title} {step.text}"):
        if path.partition(".")[0] in known:
            given.setdefault(path.rpartition(".")[2], path)
    required = work.required
    wanted = required if step.reads else {**required, **work.taken}
    for name, want in wanted.items():
        if name in given:
            continue
        if name in known and fits(types.get(name), want):
            given[name] = name
        elif name in required and members.paths.get(name, "").partition(".")[0] in known:
            given[name] = members.paths[name]
    return given, [name for name in required if name not in given]


def result_schema(work: Work, found: Found) -> Any:
    """The schema of a member of what a Task answers; ``{}`` where its tools do not say."""
    schemas, path = work.market.results.schemas, found.path
    tool = sole_tool(work.skills)
    if tool is None:
        tool = next((one for one in required_tools(work.skills) if one.name in path[:1]), None)
        path = path[1:]
    schema: Any = schemas.get(f"{tool.server_id}:{tool.tool_name}", {}) if tool else {}
    for member in path:
        schema = schema.get("properties", {}).get(member, {})
    return schema
