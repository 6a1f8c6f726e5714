"""How long logged items are kept, as the environment says it."""

from __future__ import annotations

from collections.abc import Mapping

from dcf.age_form import read_age
from dcf.problem import Problem
from dcf.retrieval.item import Lifetimes

_TTL = "DCF_RETRIEVAL_TTL"
_OTHERS = "*"


def lifetimes_of(env: Mapping[str, str]) -> tuple[Lifetimes, tuple[Problem, ...]]:
    """From DCF_RETRIEVAL_TTL, as in ``runlog=30d,incident=26w,*=52w``; with all that cannot be
    used."""
    ages: dict[str, int] = {}
    problems: list[Problem] = []
    for word in filter(None, (word.strip() for word in (env.get(_TTL) or "").split(","))):
        tag, _, length = (part.strip() for part in word.rpartition("="))
        age = read_age(length)
        if not tag or not age:
            hint = (
                "a tag (* for items with no other one of these) and a whole number above 0 with m,"
                " h, d or w, as in runlog=30d,incident=26w,*=52w"
            )
            problems.append(_problem(f"{word!r} does not say TAG=TIME", hint))
        elif tag in ages:
            problems.append(_problem(f"{tag} is there twice", "say one time for it"))
        else:
            ages[tag] = age
    others = ages.pop(_OTHERS, None)
    return Lifetimes(ages, others), tuple(problems)


def _problem(message: str, hint: str) -> Problem:
    return Problem("CLI_RETRIEVAL", message, hint=hint, file=_TTL)
