"""Writing out what waits, before somebody reads."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping

from control_plane import Store
from dcf.knowledge.knowledge import Knowledge
from dcf.knowledge.privacy import Privacy
from dcf.knowledge.relay import Drained, Progress, Relay


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


async def drain(
    knowledge: Knowledge,
    store: Store,
    env: Mapping[str, str],
    *,
    everything: bool = False,
    progress: Progress | None = None,
    clock: Callable[[], int] = _now_ms,
) -> Drained:
    """Write all that waits in the outbox of ``store`` to the graph; what was written. With
    ``everything`` also what the graph was given before, of all runs that still have documents: for
    a graph that was lost or emptied. ``env`` has the rules of privacy; ``progress`` is called after
    each batch. Raises GraphAway, GraphRefused, RelayStuck, SettingUnusable, ControlPlaneError."""
    privacy = Privacy.from_env(env)
    name = f"drain-{secrets.token_hex(4)}"
    relay = Relay(store, knowledge.graph, privacy, name=name, clock=clock)
    try:
        return await relay.drain(progress, everything=everything)
    finally:
        await relay.outbox.leave()
