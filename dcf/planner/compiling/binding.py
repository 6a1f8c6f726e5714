"""Arguments that no value has the name of: which value may be meant, as a question."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from dcf.planner.compiling.tool_results import Schema, required_tools
from dcf.planner.compiling.value_schema import value_schema
from dcf.planner.compiling.work import Work, result_schema
from dcf.problem import Problem
from dcf.skills import Kinship, Namesake, best_of, namesakes, shape_words
from dcf.sop import Sop, Step, Transfer

if TYPE_CHECKING:
    from dcf.planner.compiling.plan import Plan

_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_OFFERED = 4


@dataclass(frozen=True, slots=True)
class Offer:
    """A value that may be meant: ``shape`` in words, ``origin`` says where it comes from."""

    path: str
    shape: str
    origin: str

    def __str__(self) -> str:
        return f"`{self.path}` ({self.shape}; {self.origin})"


@dataclass(frozen=True, slots=True)
class BindingQuestion:
    """``step`` must be given ``argument``, and nothing has this name; ``offers`` have its shape and
    a related name, the best first. ``is_plain``: one of them is better than the others."""

    step: str
    argument: str
    wanted: str
    offers: tuple[Offer, ...]
    is_plain: bool
    line: int

    @property
    def name(self) -> str:
        """As an answer names it: ``3.shipping_address``."""
        return f"{self.step}.{self.argument}"

    @property
    def text(self) -> str:
        offered = " or ".join(map(str, self.offers))
        has = "has" if len(self.offers) == 1 else "have"
        return (
            f"step {self.step} takes `{self.argument}` ({self.wanted}), which nobody writes; "
            f"{offered} {has} its shape"
        )

    @property
    def problem(self) -> Problem:
        best = self.offers[0].path
        hint = (
            f"if it is meant: --bind {self.name}={best}, or add to step {self.step} "
            f"`- Reads: {reads_text(best, self.argument)}`"
        )
        return Problem(
            "PLAN_BINDING", self.text, hint=hint, severity="warning", line=self.line or None
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "step": self.step,
            "argument": self.argument,
            "wanted": self.wanted,
            "offers": [
                {"value": one.path, "shape": one.shape, "origin": one.origin} for one in self.offers
            ],
            "proposed": self.offers[0].path if self.is_plain else None,
        }


def reads_text(path: str, argument: str) -> str:
    return f"`{path}` as `{argument}`"


def known_schemas(sop: Sop, works: Mapping[str, Work]) -> dict[str, tuple[Schema, str]]:
    """Of every value whose schema is known, by dotted name: the schema, and where it comes from.
    The members of records count, those that are records themselves are not looked into."""
    found: dict[str, tuple[Schema, str]] = {}
    for value in sop.inputs:
        found[value.name] = (value_schema(value), "an input")
    lists = {join.name for step in sop.all_steps() for join in step.joins if join.keep == "every"}
    for step in sop.all_steps():
        work = works.get(step.number)
        for name, member in work.results.items() if work is not None else ():
            if name not in lists:
                schema = result_schema(work, member)  # type: ignore[arg-type]
                found.setdefault(name, (schema, f"written in step {step.number}"))
        if step.loop is not None and step.loop.items in found:
            items = found[step.loop.items][0].get("items", {})
            found.setdefault(step.loop.item, (items, f"the item of step {step.number}"))
    return {**dict(_members(found)), **found}


def _members(
    values: Mapping[str, tuple[Schema, str]],
) -> Iterator[tuple[str, tuple[Schema, str]]]:
    for name, (schema, origin) in values.items():
        for member, inner in (schema.get("properties") or {}).items():
            if _NAME.fullmatch(member):
                yield f"{name}.{member}", (inner, origin)


def settle(
    work: Work, missing: Iterable[str], known: Mapping[str, tuple[Schema, str]]
) -> tuple[dict[str, str], list[BindingQuestion]]:
    """What of ``missing`` is bound to a ``known`` value, dotted names by argument, and what is to
    be asked. Bound without asking is only what has the same words written in another way, the same
    shape, and no rival: ``orderId`` for ``order_id``."""
    bound: dict[str, str] = {}
    asked: list[BindingQuestion] = []
    schemas = {path: schema for path, (schema, _) in known.items()}
    for argument in missing:
        wanted = _wanted(work, argument)
        found = namesakes(argument, wanted, schemas)
        best = best_of(found)
        if not found or not _NAME.fullmatch(argument):
            continue
        if best is not None and best.kinship is Kinship.SAME:
            bound[argument] = best.path
        else:
            asked.append(_question(work.step, argument, wanted, found, known))
    return bound, asked


def _wanted(work: Work, argument: str) -> Schema:
    for tool in required_tools(work.skills):
        schema = tool.input_schema.get("properties", {}).get(argument)
        if isinstance(schema, Mapping):
            return schema
    return {}


def _question(
    step: Step,
    argument: str,
    wanted: Schema,
    found: Sequence[Namesake],
    known: Mapping[str, tuple[Schema, str]],
) -> BindingQuestion:
    offers = tuple(
        Offer(one.path, shape_words(known[one.path][0]), known[one.path][1])
        for one in found[:_OFFERED]
    )
    is_plain = best_of(found) is not None
    words = shape_words(wanted)
    return BindingQuestion(step.number, argument, words, offers, is_plain, step.line)


def with_bindings(
    sop: Sop, plan: Plan, wanted: Mapping[str, str]
) -> tuple[Sop, tuple[Problem, ...]]:
    """``sop`` whose steps read what ``wanted`` says: dotted names by ``STEP.ARGUMENT``. A step that
    declares nothing reads what ``plan`` gives it, too, so that it loses nothing. Problems say which
    of them are no arguments that a step is given or lacks."""
    given = {one.number: one.given for one in plan.steps if one.kind == "task"}
    taken = {f"{number}.{name}" for number, pairs in given.items() for name, _ in pairs}
    taken |= {one.name for one in plan.bindings}
    reads: dict[str, dict[str, str]] = {}
    problems = []
    for name, path in wanted.items():
        number, _, argument = name.rpartition(".")
        if name in taken:
            reads.setdefault(number, {})[argument] = path
            continue
        message = f"`{name}` is no argument that a step takes or lacks"
        asked = ", ".join(one.name for one in plan.bindings) or "nothing"
        hint = f"write --bind 3.shipping_address=address; asked for is {asked}"
        problems.append(Problem("PLAN_BINDING", message, hint=hint))
    return replace(sop, steps=_bound(sop.steps, reads, given)), tuple(problems)


def _bound(
    steps: Iterable[Step],
    reads: Mapping[str, Mapping[str, str]],
    given: Mapping[str, Iterable[tuple[str, str]]],
) -> tuple[Step, ...]:
    return tuple(_reading(step, reads, given) for step in steps)


def _reading(
    step: Step,
    reads: Mapping[str, Mapping[str, str]],
    given: Mapping[str, Iterable[tuple[str, str]]],
) -> Step:
    inside = replace(
        step,
        steps=_bound(step.steps, reads, given),
        lanes=tuple(replace(one, steps=_bound(one.steps, reads, given)) for one in step.lanes),
    )
    new = reads.get(step.number)
    if new is None:
        return inside
    before = step.reads or tuple(
        Transfer(path, name, step.line)
        for name, path in given[step.number]
        if _NAME.fullmatch(name)
    )
    kept = tuple(one for one in before if one.target not in new)
    added = tuple(Transfer(path, name, step.line) for name, path in new.items())
    return replace(inside, reads=(*kept, *added))
