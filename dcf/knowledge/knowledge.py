"""The graph, opened for those who read it."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from control_plane.embedded import OnProgress
from dcf.knowledge.connection import GraphConnection
from dcf.knowledge.insight_fact import InsightFact
from dcf.knowledge.outcome import Outcome, RunFact
from dcf.knowledge.records import read_records
from dcf.knowledge.rows import (
    OUTCOME_COLUMNS,
    RUN_COLUMNS,
    insight_of,
    outcome_of,
    run_fact_of,
)
from dcf.knowledge.setting import GraphSetting

if TYPE_CHECKING:
    from dcf.evidence import Record

log = logging.getLogger(__name__)

PAGE = 1_000


class Knowledge:
    """Readers over one connection; ``graph`` is for queries of one's own. Times are ms since the
    epoch; ``since`` is included, ``until`` is not. All raise GraphAway and GraphRefused; a graph
    that was never written to is empty."""

    def __init__(self, graph: GraphConnection) -> None:
        self.graph = graph

    @classmethod
    @asynccontextmanager
    async def open(
        cls, where: GraphSetting | str, *, on_progress: OnProgress | None = None
    ) -> AsyncIterator[Knowledge]:
        """The graph at the URL ``where``, or of a setting, whose embedded server is then started
        if need be; closed after the block. Raises GraphOff, GraphAway, GraphRefused,
        ServerUnusable."""
        url = where if isinstance(where, str) else (await where.address(on_progress)).url
        async with GraphConnection(url) as graph:
            await graph.ready()
            yield cls(graph)

    async def outcomes(
        self,
        *,
        task_type: str | None = None,
        skill: str | None = None,
        workflow: str | None = None,
        since: int | None = None,
        until: int | None = None,
        page: int = PAGE,
    ) -> AsyncIterator[Outcome]:
        """Outcomes in the order in which they ended, read ``page`` at a time. ``skill`` is a
        manifest id, or a name for all its versions; ``workflow`` a name."""
        terms = _terms(since, until)
        given: dict[str, Any] = {"since": since, "until": until}
        if task_type is not None:
            terms.append("e.task_type = $task_type")
            given["task_type"] = task_type
        if workflow is not None:
            terms.append("e.workflow_name = $workflow")
            given["workflow"] = workflow
        if skill is not None:
            same = "s = $skill" if "@" in skill else "s STARTS WITH $skill"
            terms.append(f"any(s IN e.skills WHERE {same})")
            given["skill"] = skill if "@" in skill else f"{skill}@"
        async for row in self._episodes("StateOutcome", OUTCOME_COLUMNS, terms, given, page):
            outcome = outcome_of(row)
            if outcome is not None:
                yield outcome

    async def runs(
        self,
        *,
        workflow: str | None = None,
        workflow_id: str | None = None,
        since: int | None = None,
        until: int | None = None,
        replaced: bool = False,
        page: int = PAGE,
    ) -> AsyncIterator[RunFact]:
        """Ends of runs in their order; ``replaced`` also those that a redrive took back."""
        terms = _terms(since, until)
        given: dict[str, Any] = {"since": since, "until": until}
        for name, value in (("workflow_name", workflow), ("workflow_id", workflow_id)):
            if value is not None:
                terms.append(f"e.{name} = ${name}")
                given[name] = value
        if not replaced:
            terms.append("e.invalid_at IS NULL")
        async for row in self._episodes("WorkflowRun", RUN_COLUMNS, terms, given, page):
            run = run_fact_of(row)
            if run is not None:
                yield run

    async def insights(self, *, valid: bool = True) -> list[InsightFact]:
        """Insights, the newest first; ``valid`` only those that were neither retracted nor
        superseded."""
        only = "AND n.invalid_at IS NULL" if valid else ""
        found = await self.graph.read(
            f"MATCH (n:Insight) WHERE n.revision >= 0 {only} "
            "OPTIONAL MATCH (n)-[x:RELATES_TO]->(o:Entity) "
            "WITH n, collect([x.name, labels(o), o.name, o.insight_id]) AS edges "
            "RETURN n, edges ORDER BY n.valid_at DESC"
        )
        read = [insight_of(node.properties, edges) for node, edges in found]
        if None in read:
            log.warning("%d insights in the graph are none that DCF wrote", read.count(None))
        return [insight for insight in read if insight is not None]

    async def records(
        self, task_type: str, since: int | None = None, *, now: int
    ) -> dict[str, Record]:
        """Manifest id -> what was measured of it for tasks of this kind, as it counts at ``now``;
        from the newest outcomes one by one, and from the sums of UTC days before them: ``since``
        means the whole day that it falls into."""
        found = await read_records(self.graph.rows, task_type=task_type, since=since, now=now)
        return found.get(task_type, {})

    async def _episodes(
        self,
        label: str,
        columns: Sequence[str],
        terms: Sequence[str],
        given: dict[str, Any],
        page: int,
    ) -> AsyncIterator[list[Any]]:
        """Rows of nodes in order: first the ids alone, then page by page, so that the cost grows
        with their number and no page sorts all that follow."""
        where = f"WHERE {' AND '.join(terms)}" if terms else ""
        wanted = {name: value for name, value in given.items() if value is not None}
        found = await self.graph.rows(
            f"MATCH (e:{label}) {where} RETURN e.ended_at, e.uuid", **wanted
        )
        ids = [uuid for _, uuid in sorted(row for row in found if isinstance(row[1], str))]
        text = (
            "UNWIND $ids AS id MATCH (e:Episodic {uuid: id}) "
            f"RETURN e.ended_at AS at, e.uuid, {', '.join(columns)}"
        )
        for at in range(0, len(ids), page):
            for row in sorted(await self.graph.rows(text, ids=ids[at : at + page]), key=_order):
                yield row[2:]


def _order(row: list[Any]) -> tuple[int, str]:
    return row[0], row[1]


def _terms(since: int | None, until: int | None) -> list[str]:
    # Zero compares with numbers only: whatever else bears the label was not measured.
    terms = [f"e.ended_at >= {'0' if since is None else '$since'}"]
    return terms if until is None else [*terms, "e.ended_at < $until"]
