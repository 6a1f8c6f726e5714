"""What ``dcf doctor`` says of the graph. Starts nothing."""

from __future__ import annotations

import time

from control_plane import Outbox
from control_plane.embedded import Check, Embedded
from dcf.cli.health import ask_redis
from dcf.cli.settings import Settings, graph_mode
from dcf.cli.trouble import NotSo
from dcf.cli.wording import counted


async def graph_checks(settings: Settings) -> list[Check]:
    """The server, and what waits for it."""
    if graph_mode(settings.env) == "off":
        return [Check("graph", True, "switched off (DCF_GRAPH=off)", required=False)]
    return [await _server(settings), *await _outbox(settings)]


async def _server(settings: Settings) -> Check:
    from dcf.knowledge import GraphConnection, KnowledgeError

    url = settings.env.get("DCF_GRAPH_URL")
    if url:
        try:
            async with GraphConnection(url) as graph:
                await graph.ready()
                return Check("graph server", True, f"{graph.label} answers", required=False)
        except (KnowledgeError, ValueError) as error:
            hint = "start it, or unset DCF_GRAPH_URL: DCF then starts one of its own"
            return Check("graph server", False, _without(url, str(error)), hint, required=False)
    status = await Embedded.from_env(settings.env).graph.status()
    if not status.running:
        return Check("graph server", True, "not running: starts when needed", required=False)
    found = f"pid {status.pid}, {(status.memory_bytes or 0) / 1e6:.0f} MB"
    if status.loading:
        found += ", loads its data"
    well = status.responding or status.loading
    return Check("graph server", well, found, "see its log", required=False)


async def _outbox(settings: Settings) -> list[Check]:
    """What waits in the outbox; nothing where no Redis runs."""
    try:
        lag = await ask_redis(settings, lambda backend: Outbox(backend).lag())
    except NotSo:
        # What is wrong with Redis is said where Redis is looked at.
        return []
    found = f"{counted(lag.runs, 'run', 'runs')} and {counted(lag.records, 'record', 'records')}"
    if lag.oldest_at is not None:
        found += f" wait, the oldest for {max(0.0, time.time() - lag.oldest_at / 1000):.0f} s"
    if lag.dropped:
        found += f"; {lag.dropped} hints were dropped, a sweep finds their runs"
    hint = ""
    if lag.refused:
        found += f"; {lag.refused} could not be written"
        hint = "cp:{outbox}:refused in Redis has them, each with the reason"
    return [Check("graph outbox", not lag.refused, found, hint, required=False)]


def _without(url: str, text: str) -> str:
    from control_plane.embedded import redact

    return text.replace(url, redact(url))
