"""The history of an agent: a stream of bounded length, each digest covering the one before."""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator

from control_plane.agents import AgentStore
from control_plane.errors import CorruptHistory
from control_plane.history import HistoryEvent

_BATCH = 500


async def read_agent_history(
    store: AgentStore, agent_id: str, *, after: str = "-"
) -> AsyncIterator[HistoryEvent]:
    """The events in order, optionally only those after entry ``after``.

    The newest 5,000 are kept, for a week also those of an agent that was deleted. Raises
    CorruptHistory when a link does not fit, or the last is not the one that the record knows.
    """
    stream = store.keys(agent_id).history
    key = store.keys(agent_id).document
    known = await store.backend.command("JSON.GET", key, "$.ctl.digest")
    end = json.loads(known)[0] if known else None
    previous: str | None = None
    start, entry = after if after == "-" else f"({after}", after
    complete = end is None or after != "-"
    while True:
        batch = await store.backend.command("XRANGE", stream, start, "+", "COUNT", _BATCH)
        for entry, fields in batch:
            named = dict(zip(fields[::2], fields[1::2], strict=True))
            text = f"{previous}\n{named['at']}\n{named['event']}"
            link = hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()
            if previous is not None and named["digest"] != link:
                raise CorruptHistory(workflow_id=agent_id, entry=entry)
            previous = named["digest"]
            complete = complete or previous == end
            yield HistoryEvent(entry, int(named["at"]), json.loads(named["event"]), previous)
        if len(batch) < _BATCH:
            break
        start = f"({batch[-1][0]}"
    if not complete:
        raise CorruptHistory(workflow_id=agent_id, entry=entry)
