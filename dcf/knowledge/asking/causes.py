"""Why things fail: failures of one kind counted together, the most frequent first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dcf.knowledge.asking.blame import pattern_of
from dcf.knowledge.asking.crossing import Narrowed
from dcf.knowledge.asking.looking import look_fast
from dcf.knowledge.connection import GraphConnection

MOST = 5_000
"""So many failures are looked at, the newest."""
SHOWN_RUNS = 5
_WHAT = "causes of failures"
_TEXT = """MATCH (e:StateOutcome) %s AND e.status <> 'done'
RETURN e.ended_at, e.workflow_id, e.task_type, e.error, e.cause
ORDER BY e.ended_at DESC LIMIT $most"""


@dataclass(frozen=True, slots=True)
class Cause:
    """``n`` of ``of`` failures that are of one kind of task, with the same error and a cause that
    differs in numbers and quoted names at most: one ``cause`` as it was said last, when the first
    and the last of them ended (ms), and the newest of their runs."""

    task_type: str
    error: str
    cause: str
    n: int
    of: int
    first_at: int
    last_at: int
    runs: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        return {
            "task_type": self.task_type,
            "error": self.error,
            "cause": self.cause,
            "n": self.n,
            "of": self.of,
            "first_at": self.first_at,
            "last_at": self.last_at,
            "runs": list(self.runs),
        }


async def causes(
    graph: GraphConnection, narrowed: Narrowed | None = None, *, limit: int = 10
) -> list[Cause]:
    """The kinds of failures of ``narrowed``, of which the newest 5,000 are looked at. Raises
    GraphAway, GraphRefused, QuestionTooWide."""
    where, given = (narrowed or Narrowed()).terms()
    rows = await look_fast(graph, _WHAT, _TEXT % where, **given, most=MOST)
    kinds: dict[tuple[str, str, str], list[Sequence[Any]]] = defaultdict(list)
    for row in rows:
        kinds[row[2], row[3] or "", pattern_of(row[4])].append(row)
    found = [_cause(same, len(rows)) for same in kinds.values()]
    return sorted(found, key=lambda one: (-one.n, -one.last_at))[:limit]


def _cause(same: Sequence[Sequence[Any]], of: int) -> Cause:
    """``same`` are rows of ``_TEXT``, the newest first."""
    last_at, _, task_type, error, cause = same[0]
    runs = dict.fromkeys(row[1] for row in same)
    return Cause(
        task_type, error or "unnamed", cause or "", len(same), of, same[-1][0], last_at,
        tuple(runs)[:SHOWN_RUNS],
    )  # fmt: skip
