"""Why skills and their versions were chosen: what plans recorded, and what is measured now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dcf.knowledge.asking.crossing import Narrowed
from dcf.knowledge.asking.errors import UnknownThing
from dcf.knowledge.asking.looking import look_fast
from dcf.knowledge.asking.ranking import Ranked, ranking
from dcf.knowledge.connection import GraphConnection

MOST = 5_000
"""So many outcomes are looked at, the newest."""
_BETWEEN = "\n"
_WHAT = "why a skill was chosen"
_TEXT = """MATCH (e:StateOutcome) %s
RETURN e.ended_at, e.workflow_id, e.state, e.task_type, string.join(e.skills, $between), e.chosen
ORDER BY e.ended_at DESC LIMIT $most"""


@dataclass(frozen=True, slots=True)
class Choosing:
    """The skills of a kind of task: ``why`` is what the newest plan recorded that took them ("":
    the workflow says nothing of it), in ``n`` outcomes, the last of them in ``run`` (ended at
    ``at``, ms). ``measured`` are the versions that were measured for this task, the best first."""

    task_type: str
    skills: tuple[str, ...]
    why: str
    n: int
    run: str
    at: int
    measured: tuple[Ranked, ...]

    def to_json(self) -> dict[str, Any]:
        return {
            "task_type": self.task_type,
            "skills": list(self.skills),
            "why": self.why,
            "n": self.n,
            "run": self.run,
            "at": self.at,
            "measured": [one.to_json() for one in self.measured],
        }


async def chosen_for(
    graph: GraphConnection,
    *,
    run: str | None = None,
    task_type: str | None = None,
    skill: str | None = None,
    limit: int = 10,
) -> list[Choosing]:
    """Each choice of skills in the run, for the kind of task, or of the skill (a name, or a
    manifest id), that with the newest outcome first. Raises UnknownThing for a run that is not
    there, GraphAway, GraphRefused, QuestionTooWide."""
    where, given = Narrowed(task_type=task_type, skill=skill).terms()
    if run is not None:
        where += " AND e.workflow_id = $run_id"
        given["run_id"] = run
    rows = await look_fast(graph, _WHAT, _TEXT % where, **given, between=_BETWEEN, most=MOST)
    if run is not None and not rows:
        raise UnknownThing(kind="run with tasks named", name=run)
    same: dict[tuple[str, str], list[Sequence[Any]]] = {}
    for row in rows:
        if row[4]:
            same.setdefault((row[3], row[4]), []).append(row)
    return [
        Choosing(
            task,
            tuple(skills.split(_BETWEEN)),
            next((row[5] for row in found if row[5]), ""),
            len(found),
            found[0][1],
            found[0][0],
            tuple(await ranking(graph, task_type=task)),
        )
        for (task, skills), found in list(same.items())[:limit]
    ]
