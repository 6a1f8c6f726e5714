"""The skills that a model's draft may use: those that the objective leads to, or that the person
allowed by name; and the tier that these skills come to.

A model reads descriptions, guidelines and results that others wrote, and may do what they say. So
no text that it read counts here, and none that it wrote. What a draft asks beyond that is asked of
the person, in the words of code, and only the answer to that question says whether it may.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from dcf.planner.conversation.bench import Bench
from dcf.planner.conversation.permissions import own_skills, raised_tier
from dcf.planner.conversation.planning import Planning
from dcf.planner.conversation.question import ALLOW, Question, lines_of
from dcf.problem import Problem
from dcf.skills import Manifest, SkillCatalog
from dcf.skills.discovery import EGRESS, RISKS

_YES, _NO = frozenset({"yes", "y"}), frozenset({"no", "n", "none"})
_NAMED = re.compile(r"[\w-]+(?:\.[\w-]+)+(?:@[\w.+-]+)?|tier-[0-3]")
_TIER = "tier-"
_SENTENCE = re.compile(r"(?<=[.!?])\s+|[;\n]+")
_DENIAL = re.compile(
    r"""\b(?:not|cannot|\w+n't|dont|doesnt|wont|no|never|none|nobody|nothing|neither|nor|without
    |except|exclud\w+|avoid\w*|omit\w*|skip\w*|stop\w*|prevent\w*|prohibit\w*|forbid\w*|forbidden
    |refrain\w*|instead|unless|rather\s+than|other\s+than|anything\s+but
    |(?:leave|leaving|left|keep|keeping)\b.*\bout)\b""",
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)


def own_words(planning: Planning) -> list[str]:
    """The objective, part by part; nothing where it denies anything.

    A search reads "never refund an order" as being about refunds, and how far a "not" reaches only
    a reader knows. For the same reason changes and answers to a model are no words that count: they
    are said of a draft that is there, often against it.
    """
    objective = planning.objective
    if denies(objective):
        return []
    return [part for part in _SENTENCE.split(objective) if part.strip()]


def denies(text: str) -> bool:
    """Whether ``text`` says of anything that it is not wanted."""
    return _DENIAL.search(text.replace("\u2019", "'")) is not None


def unclear(answer: Any) -> Problem | None:
    """What is wrong with an ``answer`` to which skills may be used."""
    words = _listed(answer)
    plain = {word.lower() for word in words}
    if plain and (plain <= _YES or plain <= _NO or all(map(_NAMED.fullmatch, words))):
        return None
    message = "says neither yes nor no, and names no skills"
    hint = "yes or no to all, or those of its choices that are allowed, with commas between them"
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


def allowing_source(planning: Planning, change: Any) -> Planning:
    """``planning`` whose person changes a procedure that they were shown: what that one uses may be
    used by what comes of the ``change``, unless this says of anything that it is not wanted."""
    if planning.source is None or planning.is_drafted or planning.permissions is None:
        return planning
    if any(map(denies, lines_of(change))):
        return planning
    used = {id_.removeprefix("skill."): True for id_ in planning.permissions["skills"]}
    return replace(planning, allowed={**used, **planning.allowed})


def refusals(
    planning: Planning, document: Mapping[str, Any], catalog: SkillCatalog
) -> list[Problem]:
    """What a drafted ``document`` asks for and the person does not allow."""
    refused = [
        (f"uses {reference(one)}", one.name)
        for one in own_skills(document, catalog)
        if _verdict(planning.allowed, one) is False
    ]
    tier = raised_tier(document, catalog)
    if tier is not None and _tier_verdict(planning.allowed, tier) is False:
        refused.append((f"asks for tier {tier}", tier_name(tier)))
    return [
        Problem(
            "PLAN_NOT_ALLOWED",
            f"the draft {what}, which you do not allow",
            hint=f"say what to change, or allow it with --answer {ALLOW}={name}",
        )
        for what, name in refused
    ]


async def within(planning: Planning, bench: Bench) -> Planning:
    """``planning`` as it is where its draft asks for nothing beyond the person's words; else with
    the question whether it may. What was asked once stays open until it is answered, whatever else
    is said. Raises IndexUnusable."""
    if planning.workflow is None or planning.status not in ("shown", "asking"):
        return planning
    catalog = await bench.catalog()
    used = own_skills(planning.workflow, catalog)
    open_ = [one for one in used if _verdict(planning.allowed, one) is None]
    if open_:
        asked = {ref.partition("@")[0] for ref, may in planning.allowed.items() if may is None}
        named = await bench.covering(own_words(planning)) - asked
        open_ = [one for one in open_ if one.name not in named]
    tier = raised_tier(planning.workflow, catalog)
    if tier is not None and _tier_verdict(planning.allowed, tier) is not None:
        tier = None
    if not open_ and tier is None:
        return planning
    question = _question(open_, tier)
    others = tuple(one for one in planning.questions if one.name != ALLOW)
    asking: dict[str, bool | None] = dict.fromkeys(map(str, question.choices[2:]))
    return replace(
        planning,
        status="asking",
        shown=None,
        questions=(question, *others),
        allowed={**planning.allowed, **asking},
    )


def reference(manifest: Manifest) -> str:
    """``name@version``."""
    return f"{manifest.name}@{manifest.version}"


def tier_name(tier: int) -> str:
    """How an answer names that a draft may ask for ``tier`` and those below it."""
    return f"{_TIER}{tier}"


def _question(skills: Sequence[Manifest], tier: int | None) -> Question:
    ordered = sorted(
        skills,
        key=lambda one: (
            -RISKS.index(one.permissions.risk_level),
            -EGRESS.index(one.permissions.egress),
            one.name,
        ),
    )
    described = [_described(one) for one in ordered]
    names = [reference(one) for one in ordered]
    if tier is not None:
        described.append(f"tier {tier}, above that of the skills of a step")
        names.append(tier_name(tier))
    text = f"The draft of the model uses what your words do not name: {'; '.join(described)}."
    return Question(ALLOW, f"{text} May it?", choices=("yes", "no", *names))


def _described(skill: Manifest) -> str:
    allowed = skill.permissions
    secrets = f", secrets {', '.join(allowed.secrets)}" if allowed.secrets else ""
    return f"{reference(skill)} (risk {allowed.risk_level}, egress {allowed.egress}{secrets})"


def _asked_about(planning: Planning) -> list[str]:
    question = next((one for one in planning.questions if one.name == ALLOW), None)
    return [] if question is None else [str(one) for one in question.choices[2:]]


def _verdict(allowed: Mapping[str, bool | None], skill: Manifest) -> bool | None:
    """What the person said of ``skill``; None for nothing."""
    exact = allowed.get(reference(skill))
    return allowed.get(skill.name) if exact is None else exact


def _tier_verdict(allowed: Mapping[str, bool | None], tier: int) -> bool | None:
    """What the person said of ``tier``: a yes holds for lower ones, a no for higher ones."""
    said = {
        int(name.removeprefix(_TIER)): may
        for name, may in allowed.items()
        if name.startswith(_TIER) and may is not None
    }
    if any(may and other >= tier for other, may in said.items()):
        return True
    return False if any(not may and other <= tier for other, may in said.items()) else None


def _names_one(words: Iterable[str], ref: str) -> bool:
    """Whether one of ``words`` names ``ref`` with its version or without."""
    return any(word in (ref, ref.partition("@")[0]) for word in words)


def _listed(answer: Any) -> list[str]:
    return [part for line in lines_of(answer) for part in re.split(r"[,\s]+", line) if part]
