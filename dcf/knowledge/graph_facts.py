"""What the graph knows, found by words beside what was logged and beside code."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from control_plane.embedded import data_home
from dcf.citation import Citation
from dcf.knowledge.errors import KnowledgeError, SettingUnusable
from dcf.knowledge.schema import GRAPH
from dcf.retrieval import FactHit, FactsAway, WordTable

MOST = 5_000
"""Facts that are looked through: those that most episodes support."""
_PATIENCE_S = 2.0
_KEPT_S = 30.0
"""So long what was read, or that nothing could be, is told without another look."""
_TOLD = (
    *("SUCCEEDED_AT", "FAILED_AT", "FAILED_WITH", "RAISES", "ENDED_WITH"),
    *("USED_BY", "WORKED_ON", "DELEGATED_TO", "DESCRIBES", "CONCERNS"),
)
"""What says more than which thing is a part of which. CONCERNS has what an insight says."""
# Edges first: from their nodes on, the server looks each of them up by itself.
_TEXT = """MATCH ()-[x:RELATES_TO]->()
WHERE x.group_id = $group AND x.name IN $names AND x.invalid_at IS NULL AND x.fact IS NOT NULL
WITH x, startNode(x) AS a
WHERE a.invalid_at IS NULL AND (a.expires_at IS NULL OR a.expires_at > $now)
WITH a, x, coalesce(x.support, size(a.evidence_runs), 0) AS support
ORDER BY support DESC, x.uuid LIMIT $most
OPTIONAL MATCH (e:Episodic {uuid: x.episodes[0]})
RETURN x.fact, support, coalesce(e.workflow_id, a.evidence_runs[0]), e.path, e.ended_at"""


@dataclass(frozen=True, slots=True)
class _Known:
    """What was read at ``at`` (s of the clock), or why nothing could be."""

    at: float
    facts: Sequence[FactHit] = ()
    words: WordTable = field(default_factory=WordTable)
    failure: str = ""


class GraphFacts:
    """The facts of the graph that ``env`` names, for ``project`` alone, whose runs it is written
    from. The graph does not say of which project a run was: they are told only where
    ``DCF_FACTS=on`` says that all of its runs are this one's. Only a graph that runs is read: a
    server of the user's own, or the embedded one where somebody has started it. Nothing is written
    into it first, what waits in the outbox neither."""

    def __init__(
        self,
        env: Mapping[str, str],
        project: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._env = env
        self._project = project
        self._clock = clock
        self._known: _Known | None = None
        self._reading = asyncio.Lock()

    async def find(self, project: str, query: str, *, limit: int = 10) -> tuple[FactHit, ...]:
        """At most ``limit`` facts that say a word of ``query``, the best first, each with a run
        that it is known from. Raises FactsAway where the graph cannot be read."""
        if project != self._project:
            return ()
        known = await self._current()
        if known.failure:
            raise FactsAway(reason=known.failure)
        best = await asyncio.to_thread(known.words.best, query)
        return tuple(known.facts[number] for number in best[:limit])

    async def _current(self) -> _Known:
        # Whoever reads anew keeps nobody else waiting.
        if self._known is not None and self._reading.locked():
            return self._known
        async with self._reading:
            if self._known is None or self._clock() >= self._known.at + _KEPT_S:
                self._known = await self._read()
            return self._known

    async def _read(self) -> _Known:
        try:
            async with asyncio.timeout(_PATIENCE_S):
                rows = await self._rows()
        except KnowledgeError as error:
            return _Known(self._clock(), failure=error.message.rstrip("."))
        except TimeoutError:
            return _Known(self._clock(), failure=f"no answer in {_PATIENCE_S:g} s")
        # Of two that say as much the one that is known from more comes first, as the table has it.
        found = {row[0]: row for row in rows if row[2]}
        facts = [_hit(*row) for row in reversed(found.values())]
        known = _Known(self._clock(), facts)
        await asyncio.to_thread(known.words.put, enumerate([one.text for one in facts]))
        return known

    async def _rows(self) -> list[list[Any]]:
        url = await self._url()
        if url is None:
            return []
        from dcf.knowledge.connection import GraphConnection

        async with GraphConnection(url) as graph:
            given = {"group": GRAPH, "names": list(_TOLD), "most": MOST}
            return await graph.rows(_TEXT, now=int(time.time() * 1000), **given)

    async def _url(self) -> str | None:
        """Where the graph is, None where none runs or none is to be told of. Raises
        SettingUnusable."""
        if not _are_wanted(self._env):
            return None
        if not self._env.get("DCF_GRAPH_URL") and not (data_home(self._env) / "graph").is_dir():
            return None
        # They load a client of Redis, for which a command does not wait where no graph ever was.
        from control_plane.embedded import Embedded
        from dcf.knowledge.setting import GraphSetting

        setting = GraphSetting.from_env(self._env)
        if setting.mode == "off":
            return None
        if setting.url is not None:
            return setting.url
        status = await Embedded.from_env(self._env).graph.status()
        return status.url if status.responding and not status.loading else None


def _are_wanted(env: Mapping[str, str]) -> bool:
    """What ``DCF_FACTS`` says. Raises SettingUnusable."""
    said = (env.get("DCF_FACTS") or "off").lower()
    if said not in ("on", "off"):
        reason, hint = f"{said!r} is none of its values", "on or off"
        raise SettingUnusable(name="DCF_FACTS", reason=reason, hint=hint)
    return said == "on"


def _hit(text: str, support: int, run: str, path: str | None, at: int | None) -> FactHit:
    where = Citation("run", run, "state", path) if path else Citation("run", run)
    return FactHit(text, str(where), support, at or 0)
