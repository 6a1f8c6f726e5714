"""Skills that fit the steps of a runbook that names none: taken, or asked about."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from dcf.planner.compiling.gap import action_of, domain_of
from dcf.planner.compiling.tool_results import ToolResults, fits, required_tools, type_of
from dcf.search import words
from dcf.skills import Manifest, SkillCatalog, UnknownSkill
from dcf.skills.discovery import SkillHit, SkillSearch
from dcf.sop import VALUE_TYPES, Draft, Question, Sop, Step, Value, question_id

LEAST_OFFERED: Mapping[str, float] = {"wordllama": 0.6, "minilm": 0.56, "none": 0.45}
"""The score of a search, by embedder, below which no skill is offered for a stranger's step; chosen
by ``benchmarks/runbook_skills.py``."""
MOST_CLOSE = 0.1
"""A skill has to be so much ahead of the next one: of two that fit alike, neither is meant."""
FEWEST_MATCHED = 2
"""Words of the step that the skill has to have: one word fits by chance."""
PERSON = "person"
"""The answer that leaves a step to a person."""

_ASKS = "a skill may do this step"


def fitting(hits: list[SkillHit], least: float) -> SkillHit | None:
    """The first of ``hits``, the best first, where it may be what a step means."""
    if not hits or hits[0].score < least:
        return None
    best = hits[0]
    matched = {word for found in best.matched.values() for word in found}
    is_ahead = len(hits) == 1 or best.score - hits[1].score >= MOST_CLOSE
    return best if is_ahead and len(matched) >= FEWEST_MATCHED else None


def with_skills(
    draft: Draft,
    catalog: SkillCatalog,
    search: SkillSearch,
    results: ToolResults,
    least: float,
    answers: Mapping[str, str],
) -> Draft:
    """``draft`` whose manual steps are done by skills where one fits: without asking where all that
    it must be given is an input and its risk is not high; else where ``answers`` say so, and what
    it must be given becomes an input. Each of them is a question, whose other answer is ``PERSON``.
    A step that shows commands is done by these, and one that asks something by whom it asks."""
    find = SkillFinder(catalog, search, least, domain_of(draft.sop))
    offers = _Offers(find, results, answers, list(draft.sop.inputs))
    steps = tuple(offers.steps(draft.sop.steps))
    return replace(
        draft,
        sop=replace(draft.sop, steps=steps, inputs=tuple(offers.inputs)),
        questions=(*draft.questions, *offers.questions),
        answered=(*draft.answered, *offers.answered),
    )


def is_open_to_skills(step: Step) -> bool:
    """Whether a skill could do ``step`` of a runbook: work of a person without an answer, that the
    text does not say the commands for."""
    return step.kind == "manual" and not (step.choices or step.writes or step.commands)


def with_tasks(sop: Sop, numbers: Collection[str]) -> Sop:
    """``sop`` whose manual steps of these ``numbers`` are tasks, for skills to be drafted."""
    return replace(sop, steps=tuple(_tasks(sop.steps, numbers)))


def _tasks(steps: tuple[Step, ...], numbers: Collection[str]) -> Iterator[Step]:
    for step in steps:
        if step.number in numbers:
            yield replace(step, kind="task", role=None)
        else:
            lanes = tuple(
                replace(lane, steps=tuple(_tasks(lane.steps, numbers))) for lane in step.lanes
            )
            yield replace(step, steps=tuple(_tasks(step.steps, numbers)), lanes=lanes)


@dataclass(frozen=True, slots=True)
class SkillFinder:
    """Finds the skill that a step of one runbook means; ``domain`` is that of skills which were
    drafted for its steps."""

    catalog: SkillCatalog
    search: SkillSearch
    least: float
    domain: str

    def of(self, step: Step) -> Found | None:
        """The skill that was drafted for ``step``, else the one that fits its title."""
        try:
            drafted = self.catalog.resolve(f"{self.domain}.{action_of(step)}")
            return Found(drafted, "drafted for it")
        except UnknownSkill:
            pass
        if not words(step.title):
            return None
        best = fitting(self.search.search(self.catalog, step.title, 2), self.least)
        return None if best is None else Found(best.manifest, f"score {best.score:.2f}")


@dataclass(frozen=True, slots=True)
class Found:
    """A skill for a step, and why."""

    skill: Manifest
    why: str


def uncovered(draft: Draft, find: SkillFinder) -> frozenset[str]:
    """The numbers of the steps of ``draft`` that a skill could do, and none does or fits."""
    return frozenset(
        step.number
        for step in draft.sop.all_steps()
        if is_open_to_skills(step) and find.of(step) is None
    )


@dataclass(slots=True)
class _Offers:
    find: SkillFinder
    results: ToolResults
    answers: Mapping[str, str]
    inputs: list[Value]
    questions: list[Question] = field(default_factory=list)
    answered: list[str] = field(default_factory=list)
    _seen: dict[str, int] = field(default_factory=dict)

    def steps(self, steps: tuple[Step, ...]) -> Iterator[Step]:
        for step in steps:
            lanes = tuple(replace(one, steps=tuple(self.steps(one.steps))) for one in step.lanes)
            inside = replace(step, steps=tuple(self.steps(step.steps)), lanes=lanes)
            yield self._offered(inside) if is_open_to_skills(step) else inside

    def _offered(self, step: Step) -> Step:
        found = self.find.of(step)
        missing = None if found is None else self._missing(found.skill)
        if found is None or missing is None:
            return step
        name = found.skill.name
        is_safe = found.skill.permissions.risk_level != "high"
        assumed = name if is_safe and not missing else PERSON
        if self._said(step, found, tuple(one.name for one in missing), assumed) != name:
            return step
        self.inputs += missing
        return replace(step, kind="task", skills=(name,), role=None)

    def _missing(self, skill: Manifest) -> list[Value] | None:
        """What the tools of ``skill`` must be given and no input has, as inputs; None where an
        input has the name of one and another type. A default of a tool is none of the runbook's:
        what it is about has to be said."""
        types = {one.name: one.type for one in self.inputs}
        missing: dict[str, Value] = {}
        given: set[str] = set()
        for tool in required_tools([skill]):
            properties = tool.input_schema.get("properties", {})
            for name in tool.input_schema.get("required", ()):
                schema = properties.get(name, {})
                if name in types and not fits(types[name], type_of(schema)):
                    return None
                if name not in types and name not in given:
                    missing.setdefault(name, _input(name, schema))
            given.update(self.results.members(tool))
        return list(missing.values())

    def _said(self, step: Step, found: Found, missing: tuple[str, ...], assumed: str) -> str:
        """What somebody answered, else ``assumed``."""
        again = self._seen.get(step.title, 0)
        self._seen[step.title] = again + 1
        id_ = question_id((), step.title, _ASKS, again)
        name = found.skill.name
        said = self.answers.get(id_, "").strip()
        if said in (name, PERSON):
            self.answered.append(id_)
            return said
        needs = f"; {', '.join(missing)} then become inputs" if missing else ""
        risk = found.skill.permissions.risk_level
        asks = f"{name} may do step {step.number} ({found.why}, risk {risk}){needs}"
        self.questions.append(Question(id_, step.line, step.title, asks, assumed, (name, PERSON)))
        return assumed


def _input(name: str, schema: Mapping[str, Any]) -> Value:
    """An input of the runbook for an argument of a tool."""
    kind = next((one for one in VALUE_TYPES if one == type_of(schema)), None)
    return Value(
        name,
        kind or "string",
        str(schema.get("description") or ""),
        required="default" not in schema,
        default=schema.get("default"),
        enum=tuple(schema.get("enum") or ()),
        is_typed=kind is not None,
    )
