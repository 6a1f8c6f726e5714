"""What a workflow is made of: what the person gave or named, what is stored, or a new draft."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dcf.digest import canonical_json, digest
from dcf.planner.conversation.bench import Bench
from dcf.planner.conversation.planning import Planning
from dcf.planner.conversation.question import NEW, RESERVED, Question, wishes
from dcf.planner.matching.matcher import FEWEST_WORDS, Matched
from dcf.planner.matching.stored import Stored
from dcf.problem import Problem

GIVEN = "given"
"""The basis of a procedure that the person brought: it is taken whatever else they say."""
CLARIFY = "clarify_"
"""How answers to a model's questions begin."""


def basis_of(planning: Planning) -> str:
    """The digest of all wishes: with others, another procedure may be the right one."""
    said = {
        name: answer
        for name, answer in planning.answers.items()
        if (name in RESERVED and name != "input") or name in planning.clarifications
    }
    return digest(canonical_json({"objective": planning.objective, **said}))


def is_chosen(planning: Planning) -> bool:
    """Whether the source fits the wishes as they are."""
    source = planning.source
    return source is not None and source["basis"] in (GIVEN, basis_of(planning))


async def choose_stored(planning: Planning, bench: Bench, *, has_model: bool, now: int) -> Planning:
    """``planning`` with a stored source, or with the question which it is, or refused. With
    ``has_model`` it has neither of them where a new procedure is to be drafted."""
    own = f"generated/{planning.workflow_id}.json"
    stored = [one for one in (await bench.stored())[0] if one.id != own]
    named = str(planning.answers.get("procedure") or "")
    if named and named != NEW:
        return _named(planning, named, stored, now)
    matched = await bench.match(planning.objective, stored)
    planning = replace(
        planning, source=None, nearest=tuple(one.to_json() for one in matched.nearest)
    )
    wants_new = named == NEW or "change" in planning.answers
    if not wants_new and matched.best is not None:
        best = matched.best
        note = f"stored: {best.stored.id} (score {best.score:.2f} of {matched.threshold:.2f})"
        return with_source(planning, best.stored, note, now)
    if matched.rivals and not wants_new:
        return _which(planning, matched, has_model=has_model)
    if has_model:
        return planning
    return _refused(planning, matched, wants_new=wants_new, now=now)


def with_source(planning: Planning, one: Stored, note: str, now: int) -> Planning:
    """``planning`` made of what is stored."""
    source = {
        "kind": one.kind,
        "id": one.id,
        "title": one.title,
        "text": one.text,
        "basis": basis_of(planning),
        "drafted": one.drafted,
        "answers": dict(one.answers),
    }
    return replace(planning, source=source, problems=()).did(3, note, now)


def clarified(questions: tuple[str, ...], asked: Mapping[str, str]) -> tuple[Question, ...]:
    """The questions of a model, each under a name that none of ``asked`` before has."""
    return tuple(
        Question(f"{CLARIFY}{len(asked) + number}", text)
        for number, text in enumerate(questions, 1)
    )


def _named(planning: Planning, named: str, stored: list[Stored], now: int) -> Planning:
    found = next((one for one in stored if named in (one.id, one.name)), None)
    if found is not None:
        return with_source(planning, found, f"stored: {found.id}, as named", now)
    problem = Problem(
        "PLAN_PROCEDURE",
        f"there is no stored procedure {named!r}",
        hint=f"one of {', '.join(one.id for one in stored) or 'none'}, or {NEW}",
        file="procedure",
    )
    return replace(planning, source=None, status="invalid", problems=(problem.to_dict(),))


def _which(planning: Planning, matched: Matched, *, has_model: bool) -> Planning:
    named = ", ".join(f"{one.stored.id} ({one.score:.2f})" for one in matched.rivals)
    question = Question(
        "procedure",
        f"Several fit about equally well: {named}. Which one?",
        choices=(*(one.stored.id for one in matched.rivals), *([NEW] if has_model else [])),
    )
    return replace(planning, status="asking", questions=(question,))


def _refused(planning: Planning, matched: Matched, *, wants_new: bool, now: int) -> Planning:
    near = ", ".join(f"{one.stored.id} ({one.score:.2f})" for one in matched.nearest)
    if wants_new:
        message = "a new procedure, or a change of one, is drafted by a model, and none is there"
    elif near and not matched.says_enough:
        message = (
            f"an objective of fewer than {FEWEST_WORDS} telling words says what it is about and "
            f"not what is wanted, so that nothing is taken for it: say more; nearest: {near}"
        )
    else:
        message = (
            f"nothing stored fits the objective: a match scores {matched.threshold:.2f} or more"
            f"; nearest: {near or 'nothing is stored'}"
        )
    problem = Problem(
        "PLAN_NO_MATCH",
        message,
        hint="set DCF_MODEL_PLANNER to have a model draft it; or write it down, and plan with "
        "--from-sop FILE; or take one that is stored with --answer procedure=ID",
    )
    planning = planning.did(3, message, now)
    asked = tuple(wishes(planning.answers))
    return replace(planning, status="unmatched", problems=(problem.to_dict(),), questions=asked)
