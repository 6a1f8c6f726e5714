"""One run with all that it tells, wherever it was read: in the graph, or in an exported file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from control_plane import RunDocument, Store
from dcf.knowledge.outcome import Outcome, RunFact
from dcf.knowledge.privacy import Privacy
from dcf.knowledge.reading import RunReader
from dcf.workflow import reading_file

if TYPE_CHECKING:
    from dcf.knowledge.knowledge import Knowledge


@dataclass(frozen=True, slots=True)
class ToldRun:
    """``end`` is the run's last end; ``outcomes`` those of its finished Tasks, in the order in
    which they ended."""

    end: RunFact
    outcomes: tuple[Outcome, ...]


async def tell_shelved(store: Store, run: RunDocument, privacy: Privacy) -> ToldRun:
    """What the run of an exported file tells, whose documents are in ``store``; no graph is asked.
    Raises BadRunFile for documents that say nothing of the kind."""
    end, outcomes = None, list[Outcome]()
    with reading_file(run.workflow_id):
        async for told in RunReader(store, privacy).tell(run):
            if isinstance(told, Outcome):
                outcomes.append(told)
            else:
                end = told
        outcomes.sort(key=lambda one: (one.ended_at, one.id))
    assert end is not None  # It is what a reader tells last.
    return ToldRun(end, tuple(outcomes))


async def tell_known(knowledge: Knowledge, workflow_id: str) -> ToldRun | None:
    """What the graph knows of a run; None where it knows no end of it. Raises GraphAway,
    GraphRefused."""
    ends = [one async for one in knowledge.runs(workflow_id=workflow_id)]
    if not ends:
        return None
    found = knowledge.outcomes(workflow=ends[-1].workflow_name, since=ends[0].started_at)
    outcomes = [one async for one in found if one.workflow_id == workflow_id]
    return ToldRun(ends[-1], tuple(outcomes))
