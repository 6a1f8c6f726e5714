"""The shares of kinds in a budget, as a setting says them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from dcf.problem import Problem
from dcf.retrieval.bundle import SHARES, Share
from dcf.retrieval.candidate import KINDS, Kind

_NAME = "DCF_BUNDLE_SHARES"
_SHARE = re.compile(r"\s*(\w+)\s*=\s*(\d{1,3})\s*-\s*(\d{1,3})\s*", re.ASCII)


def shares_of(env: Mapping[str, str]) -> tuple[Mapping[Kind, Share], list[Problem]]:
    """The shares by kind that ``DCF_BUNDLE_SHARES`` says, those of the kinds that it does not name
    as in ``SHARES``; and all that is wrong there. ``code=10-40,memory=20-60`` is floor and ceiling
    in percent."""
    said: dict[Kind, Share] = {}
    problems: list[Problem] = []
    for word in (env.get(_NAME) or "").split(","):
        found = _SHARE.fullmatch(word)
        if not word.strip():
            continue
        if found is None:
            hint = "as in code=10-40,memory=20-60: floor and ceiling in percent"
            problems.append(_problem(f"{word.strip()!r} does not say KIND=FLOOR-CEILING", hint))
            continue
        kind = next((one for one in KINDS if one == found[1]), None)
        floor, ceiling = int(found[2]), int(found[3])
        if kind is None:
            problems.append(_problem(f"{found[1]!r} is no kind", f"one of {', '.join(KINDS)}"))
        elif kind in said:
            problems.append(_problem(f"{kind} is there twice", "say each kind once"))
        elif not floor <= ceiling <= 100:
            hint = "a floor is at most its ceiling, and that at most 100"
            problems.append(_problem(f"{kind} has {floor} to {ceiling} percent", hint))
        else:
            said[kind] = Share(floor, ceiling)
    shares = {**SHARES, **said}
    floors = sum(share.floor for share in shares.values())
    if floors > 100 and not problems:
        listed = ", ".join(f"{kind} {share.floor}" for kind, share in shares.items())
        problems.append(_problem(f"the floors are {floors} percent together", f"now {listed}"))
    return shares, problems


def _problem(message: str, hint: str) -> Problem:
    return Problem("CLI_RETRIEVAL", message, hint=hint, file=_NAME)
