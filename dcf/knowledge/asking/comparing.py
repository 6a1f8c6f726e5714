"""Two of a kind held against each other: their outcomes, or for two runs what differs in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from dcf.evidence import Comparison, Counts, compare
from dcf.knowledge.asking.account import Account, account_of
from dcf.knowledge.asking.crossing import Crossed, Narrowed, crossing
from dcf.knowledge.asking.period import Period
from dcf.knowledge.asking.run_counting import runs_counted
from dcf.knowledge.asking.trend import Of
from dcf.knowledge.connection import GraphConnection


@dataclass(frozen=True, slots=True)
class Difference:
    """What differs between two runs, at a ``state`` ("" is the run as a whole)."""

    state: str
    what: str
    first: str
    second: str


@dataclass(frozen=True, slots=True)
class Compared:
    """Two of a ``kind`` (an argument, as ``agent``): the ``comparison`` of their success rates is
    about the first. Of two runs there are ``differences`` and no comparison. Of two ``period`` it
    is asked ``of`` the success, the duration or the cost."""

    kind: str
    names: tuple[str, str]
    sides: tuple[Crossed, ...] = ()
    comparison: Comparison | None = None
    differences: tuple[Difference, ...] = ()
    of: Of = "success"

    def to_json(self) -> dict[str, Any]:
        one = self.comparison
        return {
            "kind": self.kind,
            "of": self.of,
            "names": list(self.names),
            "sides": [side.to_json() for side in self.sides],
            "verdict": one.verdict if one else None,
            "p_value": one.p_value if one else None,
            "difference": one.difference if one else None,
            "low": one.low if one else None,
            "high": one.high if one else None,
            "differences": [
                {"state": each.state, "what": each.what, "first": each.first, "second": each.second}
                for each in self.differences
            ],
        }


async def compared(
    graph: GraphConnection, kind: str, names: tuple[str, str], narrowed: Narrowed | None = None
) -> Compared:
    """``names`` of a ``kind`` against each other, within ``narrowed``; workflows by their runs,
    other things by outcomes of tasks. Raises UnknownThing for a run that is not there, GraphAway,
    GraphRefused, QuestionTooWide."""
    if kind == "run":
        first, second = [await account_of(graph, name) for name in names]
        return Compared(kind, names, differences=tuple(_differences(first, second)))
    within = narrowed or Narrowed()
    sides = []
    for name in names:
        changes: dict[str, Any] = {kind: name}
        own = replace(within, **changes)
        found = await (
            runs_counted(graph, [], own) if kind == "workflow" else crossing(graph, [], own)
        )
        sides.append(found[0] if found else Crossed({}, Counts(), 0.0, 0.0, 0))
    return Compared(kind, names, tuple(sides), compare(sides[0].counts, sides[1].counts))


async def periods_compared(
    graph: GraphConnection, first: Period, second: Period, of: Of, narrowed: Narrowed | None = None
) -> Compared:
    """The outcomes of tasks of ``narrowed`` in two periods; whole runs where nothing but a workflow
    is said. Raises GraphAway, GraphRefused, QuestionTooWide."""
    within = narrowed or Narrowed()
    of_tasks = any((within.task_type, within.skill, within.agent, within.error))
    sides = []
    for period in (first, second):
        own = replace(within, since=period.since, until=period.until)
        found = await (crossing(graph, [], own) if of_tasks else runs_counted(graph, [], own))
        sides.append(found[0] if found else Crossed({}, Counts(), 0.0, 0.0, 0))
    names = (first.said, second.said)
    comparison = compare(sides[0].counts, sides[1].counts)
    return Compared("period", names, tuple(sides), comparison, of=of)


def _differences(first: Account, second: Account) -> list[Difference]:
    """What differs, the run as a whole first, then its states in the order of the first."""
    found = _differing("", _whole(first), _whole(second))
    states, others = _states(first), _states(second)
    for path in dict.fromkeys((*states, *others)):
        found += _differing(path, states.get(path, {}), others.get(path, {}))
    return found


def _differing(state: str, first: dict[str, str], second: dict[str, str]) -> list[Difference]:
    return [
        Difference(state, what, first.get(what, "-"), second.get(what, "-"))
        for what in dict.fromkeys((*first, *second))
        if first.get(what, "-") != second.get(what, "-")
    ]


def _whole(account: Account) -> dict[str, str]:
    end = account.end
    if end is None:
        return {}
    return {
        "workflow": end.workflow_name,
        "definition": f"{end.version or ''} {end.digest[:12]}".strip(),
        "status": end.status,
        "error": end.error or "-",
    }


def _states(account: Account) -> dict[str, dict[str, str]]:
    """Path -> what its last visit ran with and came to."""
    return {
        one.path: {
            "status": one.status,
            "error": one.error or "-",
            "skills": _joined(one.skills),
            "agent": one.agent or "-",
            "model": one.model or "-",
            "tries": str(one.tries),
        }
        for one in account.outcomes
    }


def _joined(names: Sequence[str]) -> str:
    return ", ".join(names) or "-"
