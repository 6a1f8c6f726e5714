"""What changed before failures began: since when a rate is lower, and what appeared then."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Any

from dcf.evidence import MIN_SAMPLES, SIGNIFICANT, Comparison, Counts, Watch, compare, holm
from dcf.knowledge.asking.crossing import Narrowed
from dcf.knowledge.asking.seen import Seen, newest
from dcf.knowledge.connection import GraphConnection

LOOKBACK_MS = 7 * 86_400_000
"""What first appeared so long before the change, or later, may have brought it."""
SHOWN_RUNS = 5


@dataclass(frozen=True, slots=True)
class Suspect:
    """What was first used at ``first_at`` (ms), near the change: outcomes after the change with it,
    held against those without it, or where those are few, also those before it (the p-value by
    Fisher's exact test, raised by Holm's method for as many suspects as there were), and the runs
    that failed with it."""

    kind: str
    value: str
    first_at: int
    comparison: Comparison
    p_value: float
    runs: tuple[str, ...]

    @property
    def significant(self) -> bool:
        """Whether more of those with it failed, in a way that chance would not explain for any of
        all the suspects."""
        return self.comparison.verdict == "lower" and self.p_value < SIGNIFICANT

    def to_json(self) -> dict[str, Any]:
        with_it, without = self.comparison.first, self.comparison.second
        return {
            "kind": self.kind,
            "value": self.value,
            "first_at": self.first_at,
            "with": {"n": with_it.n, "failed": with_it.failures},
            "without": {"n": without.n, "failed": without.failures},
            "p_value": self.p_value,
            "significant": self.significant,
            "runs": list(self.runs),
        }


@dataclass(frozen=True, slots=True)
class Fall:
    """The last fall of a success rate: ``at`` (ms) the first outcome after it ended, ``before`` and
    ``after`` the outcomes since the change before that one. ``suspects``, the likeliest first."""

    at: int
    before: Counts
    after: Counts
    errors: tuple[tuple[str, int], ...]
    suspects: tuple[Suspect, ...]
    runs: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        return {
            "at": self.at,
            "before": _counts_json(self.before),
            "after": _counts_json(self.after),
            "errors": [{"error": name, "n": n} for name, n in self.errors],
            "suspects": [suspect.to_json() for suspect in self.suspects],
            "runs": list(self.runs),
        }


@dataclass(frozen=True, slots=True)
class Changes:
    """``looked_at`` outcomes since ``since`` (ms); ``fall`` None where the rate never fell in a way
    that chance would not explain."""

    looked_at: int
    since: int | None
    fall: Fall | None

    def to_json(self) -> dict[str, Any]:
        return {
            "looked_at": self.looked_at,
            "since": self.since,
            "fall": self.fall.to_json() if self.fall else None,
        }


async def what_changed(
    graph: GraphConnection, narrowed: Narrowed, *, lookback_ms: int = LOOKBACK_MS
) -> Changes:
    """The last fall among the outcomes of ``narrowed``, of which the newest 20,000 are looked at.
    Raises GraphAway, GraphRefused, QuestionTooWide."""
    outcomes = await newest(graph, narrowed)
    if not outcomes:
        return Changes(0, narrowed.since, None)
    return changes_in(outcomes, lookback_ms=lookback_ms)


def changes_in(outcomes: Sequence[Seen], *, lookback_ms: int = LOOKBACK_MS) -> Changes:
    """The same, of ``outcomes`` in the order in which they ended."""
    since = outcomes[0].at if outcomes else None
    for start, at, end in reversed(list(_turns(outcomes))):
        before = _counted(outcomes[start:at])
        after = _counted(outcomes[at:end])
        if (before.rate or 0.0) > (after.rate or 0.0):
            fall = _fall(outcomes, (start, at, end), lookback_ms)
            return Changes(len(outcomes), since, fall)
    return Changes(len(outcomes), since, None)


def _turns(outcomes: Sequence[Seen]) -> Iterator[tuple[int, int, int]]:
    """Each change as (where the time before it begins, the first outcome after it, where the time
    after it ends)."""
    watch = Watch()
    borders = [0]
    for index, outcome in enumerate(outcomes):
        if _add(watch, outcome):
            border = borders[-1] + _border([one.ok for one in outcomes[borders[-1] : index + 1]])
            if border > borders[-1]:
                borders.append(border)
                # It may have kept some from before the border, and would find the change again.
                watch = Watch()
                for one in outcomes[border : index + 1]:
                    _add(watch, one)
    borders.append(len(outcomes))
    yield from zip(borders, borders[1:], borders[2:], strict=False)


def _add(watch: Watch, outcome: Seen) -> bool:
    return watch.add(outcome.at, int(outcome.ok), int(not outcome.ok))


def _border(oks: Sequence[bool]) -> int:
    """Where two rates explain ``oks`` best: the maximum of the likelihood over all borders (the
    watch itself keeps older outcomes in tallies, and is only as exact as those); 0 where one rate
    explains them as well."""
    total = sum(oks)
    wins, best, border = 0, _fit(total, len(oks)), 0
    for at in range(1, len(oks)):
        wins += oks[at - 1]
        value = _fit(wins, at) + _fit(total - wins, len(oks) - at)
        if value > best:
            best, border = value, at
    return border


def _fit(wins: int, n: int) -> float:
    """The logarithm of the likelihood of ``wins`` in ``n`` at the rate that makes it largest."""
    lost = n - wins
    return (wins * log(wins / n) if wins else 0.0) + (lost * log(lost / n) if lost else 0.0)


def _fall(outcomes: Sequence[Seen], turn: tuple[int, int, int], lookback_ms: int) -> Fall:
    start, at, end = turn
    after = outcomes[at:end]
    failures = [one for one in after if not one.ok]
    errors: dict[str, int] = {}
    for one in failures:
        if one.error:
            errors[one.error] = errors.get(one.error, 0) + 1
    return Fall(
        at=after[0].at,
        before=_counted(outcomes[start:at]),
        after=_counted(after),
        errors=tuple(sorted(errors.items(), key=lambda pair: (-pair[1], pair[0]))),
        suspects=_suspects(outcomes[:end], start, at, lookback_ms),
        runs=_runs(failures),
    )


def _suspects(
    outcomes: Sequence[Seen], start: int, at: int, lookback_ms: int
) -> tuple[Suspect, ...]:
    """What first appeared from ``lookback_ms`` before outcome ``at`` on, and was used after it."""
    first: dict[tuple[str, str], int] = {}
    sets: set[frozenset[tuple[str, str]]] = set()
    for one in outcomes:
        if one.has not in sets:
            sets.add(one.has)
            for thing in one.has:
                first.setdefault(thing, one.at)
    from_ = outcomes[at].at - lookback_ms
    new = [
        thing
        for thing, when in first.items()
        # What the first of all outcomes has may be as old as the hills.
        if when >= from_ and thing not in outcomes[0].has
    ]
    after, whole = _by_has(outcomes[at:]), _by_has(outcomes[start:])
    compared = []
    for thing in new:
        with_it = _summed(after, thing, there=True)
        if with_it.n:
            rest = _summed(after, thing, there=False)
            if rest.n < MIN_SAMPLES:
                # It came for nearly all: then the time before it is what it is held against.
                rest = _summed(whole, thing, there=False)
            compared.append((thing, compare(with_it, rest)))
    failures = [one for one in outcomes[at:] if not one.ok]
    raised = holm([comparison.p_value for _, comparison in compared])
    suspects = [
        Suspect(
            kind=thing[0],
            value=thing[1],
            first_at=first[thing],
            comparison=comparison,
            p_value=p_value,
            runs=_runs(one for one in failures if thing in one.has),
        )
        for (thing, comparison), p_value in zip(compared, raised, strict=True)
    ]
    return tuple(sorted(suspects, key=_suspicion))


def _by_has(outcomes: Iterable[Seen]) -> dict[frozenset[tuple[str, str]], Counts]:
    """Outcomes counted by all that they ran with, of which there are few combinations."""
    n: Counter[tuple[frozenset[tuple[str, str]], bool]] = Counter(
        (one.has, one.ok) for one in outcomes
    )
    return {has: Counts(n[has, True], n[has, False]) for has, _ in n}


def _summed(
    counts: Mapping[frozenset[tuple[str, str]], Counts], thing: tuple[str, str], *, there: bool
) -> Counts:
    """The outcomes that ran with ``thing``, or those that did not."""
    return sum((one for has, one in counts.items() if (thing in has) is there), Counts())


def _suspicion(suspect: Suspect) -> tuple[bool, float, int, str]:
    """The order of suspects: those that do worse, then by how sure that is."""
    worse = (suspect.comparison.difference or 0.0) < 0
    return not worse, suspect.p_value, -suspect.comparison.first.failures, suspect.value


def _counted(outcomes: Sequence[Seen]) -> Counts:
    won = sum(one.ok for one in outcomes)
    return Counts(won, len(outcomes) - won)


def _runs(failures: Iterable[Seen]) -> tuple[str, ...]:
    """The first that failed: they are nearest to what brought it."""
    found: dict[str, None] = {}
    for one in failures:
        found[one.run] = None
        if len(found) == SHOWN_RUNS:
            break
    return tuple(found)


def _counts_json(counts: Counts) -> dict[str, Any]:
    low, high = counts.interval()
    return {
        "n": counts.n,
        "ok": counts.successes,
        "rate": counts.rate,
        "low": round(low, 4),
        "high": round(high, 4),
    }
