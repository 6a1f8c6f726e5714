"""The graph for a question: with everything in it, or an answer that says what waits."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from control_plane import Outbox, OutboxLag
from dcf.cli.graph.access import open_graph
from dcf.cli.health import ask_redis
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf.cli.trouble import EnvironmentTrouble, NotSo
from dcf.cli.wording import counted
from dcf.knowledge import GraphAway, Knowledge


@asynccontextmanager
async def reading(settings: Settings, screen: Screen) -> AsyncIterator[Knowledge]:
    """The graph, after the outbox was written to it. Raises EnvironmentTrouble with what waits
    where the graph is away, and whatever ``open_graph`` raises."""
    try:
        async with open_graph(settings, screen) as (knowledge, _):
            yield knowledge
    except GraphAway as error:
        lag = await outbox_lag(settings)
        message = f"{error.message.rstrip('.')}; {lag_text(lag)}" if lag else error.message
        raise EnvironmentTrouble(error.code, message, error.hint) from error


async def outbox_lag(settings: Settings) -> OutboxLag | None:
    """What waits in the outbox; None where no Redis answers. Starts nothing."""
    try:
        return await ask_redis(settings, lambda backend: Outbox(backend).lag())
    except NotSo:
        # That is said by whatever needs this Redis; here it is the graph that is asked about.
        return None


def lag_text(lag: OutboxLag) -> str:
    """As in ``2 runs and 0 records wait in the outbox, the oldest for 12 s``."""
    runs = counted(lag.runs, "run", "runs")
    text = f"{runs} and {counted(lag.records, 'record', 'records')} wait in the outbox"
    if lag.oldest_at is None:
        return text
    return f"{text}, the oldest for {max(0.0, time.time() - lag.oldest_at / 1000):.0f} s"
