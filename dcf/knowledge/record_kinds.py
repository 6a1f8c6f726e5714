"""The kinds of the outbox's records: what each is, and what writes it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any, Final

from control_plane import OutboxEntry
from dcf.knowledge.graph_writer import GraphWriter
from dcf.knowledge.insight_fact import InsightFact
from dcf.knowledge.session_fact import SESSION_RECORDS, SessionRecord
from dcf.knowledge.text_episode import TEXT, TextEpisode

INSIGHT: Final = "insight"
"""The kind of the outbox's records that are insights (``InsightFact.to_json``)."""

Record = InsightFact | TextEpisode | SessionRecord
FORMS: Final[dict[str, type[Record]]] = {
    INSIGHT: InsightFact,
    TEXT: TextEpisode,
    **SESSION_RECORDS,
}
"""Kind of a record -> what it is."""
_Write = Callable[[Sequence[Any]], Awaitable[None]]


def age_of(entry: OutboxEntry) -> int:
    """A number that grows with each entry of a stream."""
    at, _, number = entry.entry.partition("-")
    return int(at) * 1_000 + min(int(number), 999)


def by_writer(
    writer: GraphWriter, records: Sequence[tuple[Record, int]]
) -> Iterator[tuple[_Write, list[tuple[Record, int]]]]:
    """What of ``writer`` writes which of ``records``, each with its age."""
    writes: dict[type[Record], _Write] = {InsightFact: writer.insights, TextEpisode: writer.texts}
    for kind, write in writes.items():
        yield write, [one for one in records if isinstance(one[0], kind)]
    yield writer.session_records, [one for one in records if type(one[0]) not in writes]
