"""The context of a task within a budget of tokens, with a share for each kind of text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from dcf.problem import Problem
from dcf.retrieval.candidate import KINDS, Kind, Scored
from dcf.search import counts_of_tokens

_SETTING = "DCF_BUNDLE_SHARES"
_SHARE = re.compile(r"\s*(\w+)\s*=\s*(\d{1,3})\s*-\s*(\d{1,3})\s*", re.ASCII)
_AROUND = 8
"""Tokens of the signs around a text, as JSON or a heading has them."""


@dataclass(frozen=True, slots=True)
class Share:
    """Percent of a budget: up to the ``floor`` a kind comes before all but the best text of each
    other one, beyond the ``ceiling`` only where the others leave room."""

    floor: int
    ceiling: int


SHARES: Mapping[Kind, Share] = {
    "memory": Share(20, 50),
    "observation": Share(10, 30),
    "thread": Share(5, 25),
    "playbook": Share(10, 30),
    "code": Share(30, 60),
    "document": Share(20, 50),
    "fact": Share(5, 15),
}


@dataclass(frozen=True, slots=True)
class Part:
    """What one kind got: ``floor``, ``ceiling`` and ``used`` are tokens, ``taken`` and ``left_out``
    numbers of texts."""

    floor: int
    ceiling: int
    used: int
    taken: int
    left_out: int


@dataclass(frozen=True, slots=True)
class Bundle:
    """``found`` cost at most ``budget`` tokens together, the best first; ``left_out`` are the
    others."""

    budget: int
    found: tuple[Scored, ...]
    left_out: tuple[Scored, ...]
    parts: Mapping[Kind, Part]

    @property
    def used(self) -> int:
        """Tokens of all that was found."""
        return sum(part.used for part in self.parts.values())


def bundled(
    ranked: Sequence[Scored],
    budget: int,
    limit: int,
    shares: Mapping[Kind, Share] = SHARES,
) -> Bundle:
    """At most ``limit`` of ``ranked``, the best first, in ``budget`` tokens.

    Rounds, each in the order of the ranking: of every kind the best text that its ceiling has room
    for; every kind up to its floor; then up to its ceiling; then whatever fits. Where the best ones
    together are over the budget, one text of each kind that its floor has room for comes before
    them: for floors there is always room. A text that is too long for what is left does not keep
    the shorter ones behind it out.
    """
    priced = with_costs(ranked)
    floors = {kind: budget * shares[kind].floor // 100 for kind in KINDS}
    ceilings = {kind: budget * shares[kind].ceiling // 100 for kind in KINDS}
    whole = dict.fromkeys(KINDS, budget)
    first = ceilings if _cost_of_best(priced, ceilings) <= budget else floors
    rounds = (
        *((first, 1), (ceilings, 1)),
        *((floors, limit), (ceilings, limit), (whole, limit)),
    )
    used: Counter[Kind] = Counter()
    kinds: Counter[Kind] = Counter()
    taken: set[int] = set()
    for most, of_a_kind in rounds:
        for number, one in enumerate(priced):
            kind = one.candidate.kind
            fits = used[kind] + one.tokens <= most[kind] and used.total() + one.tokens <= budget
            has_place = len(taken) < limit and kinds[kind] < of_a_kind
            if number not in taken and has_place and fits:
                taken.add(number)
                kinds[kind] += 1
                used[kind] += one.tokens
    left = [one for number, one in enumerate(priced) if number not in taken]
    others = Counter(one.candidate.kind for one in left)
    parts = {
        kind: Part(floors[kind], ceilings[kind], used[kind], kinds[kind], others[kind])
        for kind in KINDS
    }
    over = f"over the budget: {budget - used.total():,} tokens were left"
    reason = f"behind the first {limit}" if len(taken) >= limit else over
    return Bundle(
        budget,
        tuple(priced[number] for number in sorted(taken)),
        tuple(replace(one, left_out=reason) for one in left),
        parts,
    )


def _cost_of_best(priced: Sequence[Scored], most: Mapping[Kind, int]) -> int:
    """Tokens of the best text of each kind that costs at most what ``most`` says of the kind."""
    fit = (one for one in priced if one.tokens <= most[one.candidate.kind])
    # The first of a kind is written last.
    return sum({one.candidate.kind: one.tokens for one in reversed([*fit])}.values())


def with_costs(ranked: Sequence[Scored]) -> list[Scored]:
    """Each with what it costs: its text and its addresses."""
    texts = [
        "\n".join(
            (one.candidate.text, one.candidate.citation, *one.candidate.about.get("also", ()))
        )
        for one in ranked
    ]
    costs = counts_of_tokens(texts) if texts else []
    return [replace(one, tokens=cost + _AROUND) for one, cost in zip(ranked, costs, strict=True)]


def shares_of(env: Mapping[str, str]) -> tuple[Mapping[Kind, Share], list[Problem]]:
    """The shares by kind that ``DCF_BUNDLE_SHARES`` says, those of the kinds that it does not name
    as in ``SHARES``; and all that is wrong there. ``code=10-40,memory=20-60`` is floor and ceiling
    in percent."""
    said: dict[Kind, Share] = {}
    problems: list[Problem] = []
    for word in (env.get(_SETTING) or "").split(","):
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
    return Problem("CLI_RETRIEVAL", message, hint=hint, file=_SETTING)
