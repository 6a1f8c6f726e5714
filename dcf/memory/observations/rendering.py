"""How an observation is told to a model: one line of an index, or all of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dcf.memory.observation import ICONS, Artifact, NewObservation, Observation
from dcf.search import counts_of_tokens

ROW_TOKENS = 40
"""The most that a row of an index costs."""
_ID = 8
"""Characters that tell an id from others, as the short names of commits do."""
_HOUR = 3_600_000
EXTRACTED = "by a model"
"""Stands at what a model found in a text."""
_SOURCE = 12
"""Characters of a kind of source in a row."""


def short_id(observation_id: str) -> str:
    """The beginning of an id's own part: what rows and citations call an observation by."""
    return observation_id.removeprefix("observation-")[:_ID]


def rows_of(observations: Sequence[Observation], now: int) -> list[str]:
    """A row of an index for each: id, icon and name of the type, title, whether a model found it,
    kind of source, age, what the details cost in tokens. Titles are cut where a row would cost more
    than 40 tokens. ``now``: ms since the epoch."""
    rows = [_row(one, one.title, now) for one in observations]
    costs = counts_of_tokens(rows)
    long = [number for number, cost in enumerate(costs) if cost > ROW_TOKENS]
    for number, row in zip(long, _cut([observations[one] for one in long], now), strict=True):
        rows[number] = row
    return rows


def _row(one: Observation, title: str, now: int) -> str:
    said = f"{ICONS[one.type]} {one.type}: {title}"
    age, source = _age(now - one.at), one.origin.source_type[:_SOURCE]
    source = f"{EXTRACTED}, {source}" if one.extracted else source
    return f"{short_id(one.id)} {said} ({source} {age} {_cost(one.tokens)})"


def _cut(observations: Sequence[Observation], now: int) -> list[str]:
    """For each the row with the longest beginning of the title that leaves it short enough: found
    for all of them at once, since counting many texts takes little longer than counting one."""
    lows, highs = [0] * len(observations), [len(one.title) for one in observations]
    while any(low < high for low, high in zip(lows, highs, strict=True)):
        middles = [(low + high + 1) // 2 for low, high in zip(lows, highs, strict=True)]
        costs = counts_of_tokens(_begun(observations, middles, now))
        for number, (middle, cost) in enumerate(zip(middles, costs, strict=True)):
            if lows[number] < highs[number] and cost <= ROW_TOKENS:
                lows[number] = middle
            elif lows[number] < highs[number]:
                highs[number] = middle - 1
    return _begun(observations, lows, now)


def _begun(observations: Sequence[Observation], lengths: Sequence[int], now: int) -> list[str]:
    return [
        _row(one, f"{one.title[:length]}…", now)
        for one, length in zip(observations, lengths, strict=True)
    ]


def _cost(tokens: int) -> str:
    return f"{tokens}t" if tokens < 10_000 else f"{tokens // 1_000}kt"


def _age(ms: int) -> str:
    hours = max(ms, 0) // _HOUR
    return f"{hours}h" if hours < 48 else f"{hours // 24}d"


def details_of(one: Observation | NewObservation) -> str:
    """All that is known, as Markdown."""
    return "\n".join(_lines(one))


def _lines(one: Observation | NewObservation) -> Iterator[str]:
    yield f"**{one.title}** ({one.type})"
    if one.subtitle:
        yield one.subtitle
    yield from (f"- {fact}" for fact in one.facts)
    if one.narrative:
        yield one.narrative
    if one.artifacts:
        yield "Touched: " + ", ".join(map(_artifact, one.artifacts))


def _artifact(one: Artifact) -> str:
    return f"{one.path} ({one.action})" if one.action else one.path
