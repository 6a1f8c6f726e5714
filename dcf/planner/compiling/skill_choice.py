"""Which skills do a step: those it names, or the one that fits best; and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dcf.planner.compiling.market import Market
from dcf.planner.compiling.tool_results import (
    ToolResults,
    find_member,
    fits,
    required_tools,
    type_of,
)
from dcf.planner.compiling.version_choice import VersionChoice, choose_version
from dcf.problem import Problem
from dcf.skills import Manifest, UnknownSkill, parse_ref
from dcf.skills.discovery import SkillHit
from dcf.sop import Step

RUNNERS_UP = 3
_LOOKED_AT = 8
_WORDS_SHOWN = 5
_DATA = 0.3
"""How much the data counts beside the words: a skill whose tools take what is there, and give what
the step writes, is better by that than one of which neither is so."""

Types = Mapping[str, str | None]
"""What is there when a step begins: JSON types by name, None where the type is not known."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A skill that was found for a step. ``score`` is that of the search, ``data`` from 0 to 1 how
    well it fits the data, ``matched`` the words of the step that it has."""

    skill: Manifest
    score: float
    data: float
    matched: tuple[str, ...]

    @property
    def rank(self) -> float:
        return self.score + _DATA * self.data

    @property
    def why(self) -> str:
        words = ", ".join(self.matched[:_WORDS_SHOWN]) or "its meaning"
        return f"score {self.score:.2f} by {words}; data {self.data:.2f}"


@dataclass(frozen=True, slots=True)
class SkillChoice:
    """The versions that do a step, in order. ``why`` says all of the choice, ``brief`` the gist.
    ``named``: the step names them. ``runners_up`` are the next best that a search found."""

    versions: tuple[VersionChoice, ...]
    why: str
    brief: str
    named: bool
    runners_up: tuple[Candidate, ...] = ()

    @property
    def skills(self) -> tuple[Manifest, ...]:
        return tuple(one.manifest for one in self.versions)


@dataclass(frozen=True, slots=True)
class NoSkill:
    """That no skill covers a step; ``nearest`` are those that come nearest."""

    nearest: tuple[Candidate, ...]


def choose_skills(
    market: Market, step: Step, role: str, have: Types
) -> SkillChoice | NoSkill | list[Problem]:
    """The skills for ``step``, which somebody in ``role`` does with what they ``have``; problems
    where the step names a skill that is not there."""
    if step.skills:
        return _named(market, step)
    candidates = _candidates(market, step, role, have)
    fitting = [one for one in candidates if one.score >= market.threshold]
    if not fitting:
        near = sorted(candidates, key=lambda one: (-one.score, one.skill.name))
        return NoSkill(tuple(near[:RUNNERS_UP]))
    best = fitting[0]
    version = choose_version(market, best.skill, None, best.skill.name)
    others = [one for one in candidates if one is not best][:RUNNERS_UP]
    why = f"{best.why}; {version.why}"
    return SkillChoice(
        (version,), why, f"score {best.score:.2f}", named=False, runners_up=tuple(others)
    )


def _named(market: Market, step: Step) -> SkillChoice | list[Problem]:
    chosen: list[VersionChoice] = []
    problems: list[Problem] = []
    # As the outcomes of its Task say: the name of its first skill.
    task_type = ""
    for ref in step.skills:
        try:
            found = market.catalog.resolve(ref)
        except UnknownSkill as unknown:
            near = ", ".join(unknown.closest)
            hint = f"did you mean {near}?" if near else "see `dcf skills list`"
            message = f"step {step.number} names the skill {ref!r}, which is not there"
            problems.append(Problem("PLAN_UNKNOWN_SKILL", message, hint=hint, line=step.line))
            continue
        wanted = parse_ref(ref).wanted
        task_type = task_type or found.name
        chosen.append(choose_version(market, found, None if wanted == "*" else wanted, task_type))
    if problems:
        return problems
    why = "; ".join(f"the step names {one.manifest.name}; {one.why}" for one in chosen)
    return SkillChoice(tuple(chosen), why, "named", named=True)


def _candidates(market: Market, step: Step, role: str, have: Types) -> list[Candidate]:
    """What a search finds, the best first; equals by name. The role may help and never harm: a
    skill need not say who uses it."""
    query = ". ".join(part for part in (step.title, step.text) if part)
    hits = market.finder.search(market.catalog, query, _LOOKED_AT)
    if role:
        hits += market.finder.search(market.catalog, f"{query}. {role}", _LOOKED_AT)
    best: dict[str, SkillHit] = {}
    for hit in sorted(hits, key=lambda one: -one.score):
        best.setdefault(hit.manifest.manifest_id, hit)
    found = [_candidate(hit, market, step, have) for hit in best.values()]
    return sorted(found, key=lambda one: (-round(one.rank, 6), one.skill.name))


def _candidate(hit: SkillHit, market: Market, step: Step, have: Types) -> Candidate:
    words = dict.fromkeys(word for found in hit.matched.values() for word in found)
    data = data_fit(market, hit.manifest, step, have)
    return Candidate(hit.manifest, round(hit.score, 4), round(data, 4), tuple(words))


def data_fit(market: Market, skill: Manifest, step: Step, have: Types) -> float:
    """From 0 to 1: the share of the arguments its tools must have that are there, and of what the
    step writes that its tools give."""
    shares: list[float] = []
    there = {**have, **{read.target: have.get(read.source) for read in step.reads}}
    arguments = required_arguments(market.results, [skill])
    if arguments:
        met = [name in there and fits(there[name], want) for name, want in arguments.items()]
        shares.append(sum(met) / len(met))
    if step.writes and market.results.is_known(required_tools([skill])):
        roots = [write.root for write in step.writes]
        given = [root for root in roots if find_member(market.results, [skill], root) is not None]
        shares.append(len(given) / len(roots))
    return sum(shares) / len(shares) if shares else 0.0


def required_arguments(results: ToolResults, skills: Sequence[Manifest]) -> Types:
    """The arguments that the tools of a Task must have, with their types, in order; without those
    that a tool called before them gives."""
    return _arguments(results, skills, required=True)


def all_arguments(results: ToolResults, skills: Sequence[Manifest]) -> Types:
    """Every argument that the tools of a Task take from outside, with their types, in order."""
    return _arguments(results, skills, required=False)


def _arguments(results: ToolResults, skills: Sequence[Manifest], *, required: bool) -> Types:
    arguments: dict[str, str | None] = {}
    given: set[str] = set()
    for tool in required_tools(skills):
        properties = tool.input_schema.get("properties", {})
        for name in tool.input_schema.get("required", ()) if required else properties:
            schema = properties.get(name, {})
            if name not in given and not (required and "default" in schema):
                arguments.setdefault(name, type_of(schema))
        given.update(results.members(tool))
    return arguments
