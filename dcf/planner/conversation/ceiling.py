"""The skills that a model's draft may use: those that the person's own words lead to, or that they
allowed by name.

A model reads descriptions, guidelines and results that others wrote, and may do what they say. So
no text that it read counts here, and none that it wrote: only what the person typed. What a draft
asks beyond that is asked of the person, in the words of code.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from dcf.planner.conversation.bench import Bench
from dcf.planner.conversation.permissions import own_skills
from dcf.planner.conversation.planning import Planning
from dcf.planner.conversation.question import ALLOW, Question, lines_of
from dcf.problem import Problem
from dcf.skills import Manifest, SkillCatalog
from dcf.skills.discovery import EGRESS, RISKS

_YES, _NO = frozenset({"yes", "y"}), frozenset({"no", "n", "none"})
_SKILL = re.compile(r"[\w-]+(?:\.[\w-]+)+(?:@[\w.+-]+)?")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|[;\n]+")


def own_words(planning: Planning) -> list[str]:
    """What the person said they want, as sentences. Not the guardrails, which name what must not
    happen, nor the questions of a model."""
    answers = planning.answers
    said = [planning.objective]
    said += [_words(answers[name]) for name in ("inputs", "outputs", "change") if name in answers]
    said += [_words(answers[name]) for name in planning.clarifications if name in answers]
    return [part for text in said for part in _SENTENCE.split(text) if part.strip()]


def unclear(answer: Any) -> Problem | None:
    """What is wrong with an ``answer`` to which skills may be used."""
    words = _listed(answer)
    plain = {word.lower() for word in words}
    if plain and (plain <= _YES or plain <= _NO or all(map(_SKILL.fullmatch, words))):
        return None
    message = "says neither yes nor no, and names no skills"
    hint = "yes or no to all, or the skills that may be used, with commas between them"
    return Problem("PLAN_ANSWER", message, hint=hint, file=ALLOW)


def told(planning: Planning, answer: Any) -> Planning:
    """``planning`` after the person's clear ``answer`` to which skills may be used: yes or no to
    all that is asked about, or names. Of what is asked about, the rest is refused."""
    asked = _asked_about(planning)
    words = _listed(answer)
    plain = {word.lower() for word in words}
    if plain <= _YES or plain <= _NO:
        said = dict.fromkeys(asked, plain <= _YES)
        return replace(planning, allowed={**planning.allowed, **said})
    refused = [one for one in asked if not _names_one(words, one)]
    # What was refused before under another form of its name is allowed now.
    kept = {ref: yes for ref, yes in planning.allowed.items() if not _names_one(words, ref)}
    said = {**dict.fromkeys(words, True), **dict.fromkeys(refused, False)}
    return replace(planning, allowed={**kept, **said})


def allowing_source(planning: Planning) -> Planning:
    """``planning`` whose person changes a procedure that they were shown: what that one uses may be
    used by what comes of the change."""
    if planning.source is None or planning.is_drafted or planning.permissions is None:
        return planning
    used = {id_.removeprefix("skill."): True for id_ in planning.permissions["skills"]}
    return replace(planning, allowed={**used, **planning.allowed})


def refusals(
    planning: Planning, document: Mapping[str, Any], catalog: SkillCatalog
) -> list[Problem]:
    """The skills of a drafted ``document`` that the person does not allow."""
    return [
        Problem(
            "PLAN_NOT_ALLOWED",
            f"the draft uses {reference(one)}, which you do not allow",
            hint=f"say what to change, or allow it with --answer {ALLOW}={one.name}",
        )
        for one in own_skills(document, catalog)
        if _verdict(planning.allowed, one) is False
    ]


async def within(planning: Planning, bench: Bench) -> Planning:
    """``planning`` as it is where its draft uses nothing beyond the person's words; else with the
    question whether it may. Raises IndexUnusable."""
    if planning.workflow is None or planning.status not in ("shown", "asking"):
        return planning
    used = own_skills(planning.workflow, await bench.catalog())
    open_ = [one for one in used if _verdict(planning.allowed, one) is None]
    if open_:
        named = await bench.covering(own_words(planning))
        open_ = [one for one in open_ if one.name not in named]
    if not open_:
        return planning
    others = tuple(one for one in planning.questions if one.name != ALLOW)
    return replace(planning, status="asking", shown=None, questions=(_question(open_), *others))


def reference(manifest: Manifest) -> str:
    """``name@version``."""
    return f"{manifest.name}@{manifest.version}"


def _question(skills: Sequence[Manifest]) -> Question:
    ordered = sorted(
        skills,
        key=lambda one: (
            -RISKS.index(one.permissions.risk_level),
            -EGRESS.index(one.permissions.egress),
            one.name,
        ),
    )
    described = "; ".join(_described(one) for one in ordered)
    text = f"The draft of the model uses what your words do not name: {described}. May it?"
    return Question(ALLOW, text, choices=("yes", "no", *map(reference, ordered)))


def _described(skill: Manifest) -> str:
    allowed = skill.permissions
    secrets = f", secrets {', '.join(allowed.secrets)}" if allowed.secrets else ""
    return f"{reference(skill)} (risk {allowed.risk_level}, egress {allowed.egress}{secrets})"


def _asked_about(planning: Planning) -> list[str]:
    question = next((one for one in planning.questions if one.name == ALLOW), None)
    return [] if question is None else [str(one) for one in question.choices[2:]]


def _verdict(allowed: Mapping[str, bool], skill: Manifest) -> bool | None:
    """What the person said of ``skill``; None for nothing."""
    exact = allowed.get(reference(skill))
    return allowed.get(skill.name) if exact is None else exact


def _names_one(words: Iterable[str], ref: str) -> bool:
    """Whether one of ``words`` names ``ref`` with its version or without."""
    return any(word in (ref, ref.partition("@")[0]) for word in words)


def _listed(answer: Any) -> list[str]:
    return [part for line in lines_of(answer) for part in re.split(r"[,\s]+", line) if part]


def _words(answer: Any) -> str:
    return "\n".join(lines_of(answer))
