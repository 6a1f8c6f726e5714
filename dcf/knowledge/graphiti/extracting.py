"""Facts found in texts by a model: one text after the other, in the order in which they came.

The graph itself says which texts wait (``extract`` of the episode), so that nothing is forgotten
when this dies. What a model found never touches what was measured, which has a group of its own.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from dcf.knowledge.connection import GraphConnection
from dcf.knowledge.cypher import query
from dcf.knowledge.graphiti.search import GraphitiSearch
from dcf.knowledge.text_writing import WANTED

if TYPE_CHECKING:
    from graphiti_core.nodes import EpisodeType

log = logging.getLogger(__name__)

TRIES = 3
_WAITING = """MATCH (e:Text {extract: $wanted}) RETURN e.uuid, e.name, e.content, e.source,
  e.source_description, e.group_id, e.valid_at, e.number, coalesce(e.extract_tries, 0)
  ORDER BY e.number LIMIT 1"""
_MARK = """MATCH (e:Episodic {uuid: $uuid}) SET e.extract = $state, e.extract_tries = $tries,
  e.number = $number, e:Text"""


@dataclass(slots=True)
class Extracted:
    """Texts in which facts were looked for, and those that were given up."""

    done: int = 0
    failed: int = 0


async def extract_waiting(search: GraphitiSearch, graph: GraphConnection) -> Extracted:
    """Look for facts in all texts that wait; one that fails three times is given up. ``search`` was
    opened with a model. Raises CallsSpent, GraphAway, GraphRefused."""
    from dcf.knowledge.graphiti.extraction_model import CallsSpent

    result = Extracted()
    while rows := await graph.read(_WAITING, wanted=WANTED):
        uuid, *told, number, tries = rows[0]
        try:
            await _extract(search, uuid, told)
        except CallsSpent:
            raise
        except Exception as error:  # noqa: BLE001
            # Whatever a model or Graphiti makes of a text must not keep the next ones waiting.
            log.warning("no facts from text %s: %s", uuid, type(error).__name__)
            state = "failed" if tries + 1 >= TRIES else WANTED
            result.failed += state == "failed"
            await _mark(graph, uuid, state, tries + 1, number)
        else:
            result.done += 1
            await _mark(graph, uuid, "done", tries + 1, number)
    return result


async def _extract(search: GraphitiSearch, uuid: str, told: list[Any]) -> None:
    name, content, source, description, group, valid_at = told
    await search.graphiti.add_episode(
        name=name,
        episode_body=content,
        source_description=description,
        reference_time=datetime.fromisoformat(valid_at),
        source=_source(source),
        group_id=group,
        uuid=uuid,
    )


async def _mark(graph: GraphConnection, uuid: str, state: str, tries: int, number: int) -> None:
    await graph.write([query(_MARK, uuid=uuid, state=state, tries=tries, number=number)])


def _source(source: str) -> EpisodeType:
    from graphiti_core.nodes import EpisodeType

    kind: EpisodeType = EpisodeType.from_str(source)
    return kind
