"""The relay beside other work: it starts when there is something to write, and waits patiently for
a graph that is away."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence

from control_plane import ControlPlaneError, Outbox, OutboxEntry, Store, sweep_outbox
from control_plane.embedded import ServerUnusable
from dcf.knowledge.connection import GraphConnection
from dcf.knowledge.errors import GraphAway, GraphRefused, RelayStuck
from dcf.knowledge.privacy import Privacy
from dcf.knowledge.relay import ENTRIES, Relay
from dcf.knowledge.setting import GraphSetting

log = logging.getLogger(__name__)

GATHER_S = 0.2
"""So long a batch is waited for that is not full."""
CLAIM_IDLE_MS = 30_000
"""After so long without being settled an entry is taken over."""
GONE_IDLE_MS = 3_600_000
"""A reader that lives is never idle for so long."""
_BLOCK_MS = 2_000
_LEAVE_S = 2.0
_CLAIM_EVERY_S = 15.0
_FIRST_WAIT_S = 0.5
_LONGEST_WAIT_S = 30.0
_MOST_HELD = 1_024


async def relay_for_ever(
    setting: GraphSetting, store: Store, privacy: Privacy, *, name: str
) -> None:
    """Carry the outbox of ``store`` to the graph of ``setting`` until cancelled, as the reader
    ``name``. Nothing is started before there is something to write. Whatever is away is waited for,
    0.5 s to 30 s at a time, and told of once; so is what cannot be written for no fault of its own,
    until something can be. Any other error is logged, and the work taken up again."""
    outbox = Outbox(store.backend, consumer=name)
    wait_s, away, stuck, in_a_row = _FIRST_WAIT_S, False, False, 0
    held: list[OutboxEntry] = []
    try:
        while True:
            try:
                held = held or await _first(store, outbox)
                if stuck and len(held) < _MOST_HELD:
                    # One of them that can be written shows whose fault it is.
                    held = [*held, *await outbox.read(ENTRIES)]
                address = await setting.address()
                async with GraphConnection(address.url) as graph:
                    await graph.ready()
                    if away:
                        log.info("%s: the graph at %s is there again", name, graph.label)
                    away = False
                    if not stuck:
                        wait_s = _FIRST_WAIT_S
                    stuck = False
                    relay = Relay(
                        store, graph, privacy, name=name, clock=_now_ms, in_a_row=in_a_row
                    )
                    try:
                        await _carry(relay, store, held)
                    finally:
                        held, in_a_row = relay.held, relay.in_a_row
            except RelayStuck as error:
                log.error("%s: %s", name, error)
                stuck = True
            except (GraphAway, GraphRefused, ServerUnusable, ControlPlaneError) as error:
                if not away:
                    reason = str(error).rstrip(".")
                    log.warning("%s: %s; what is to be written waits in the outbox", name, reason)
                    away = True
            except Exception:
                # Whatever it is, others are not to do without the graph for it until they restart.
                log.exception("%s: the relay starts again", name)
            await asyncio.sleep(wait_s)
            wait_s = min(2 * wait_s, _LONGEST_WAIT_S)
    finally:
        await _leave(outbox)


async def _leave(outbox: Outbox) -> None:
    """So that nobody counts this reader any more."""
    try:
        async with asyncio.timeout(_LEAVE_S):
            await outbox.leave()
    except (ControlPlaneError, TimeoutError) as error:
        log.warning("could not leave the outbox: %s", error)


async def _first(store: Store, outbox: Outbox) -> list[OutboxEntry]:
    """Entries, as soon as there are any."""
    await outbox.open()
    await outbox.dismiss(GONE_IDLE_MS)
    await sweep_outbox(store)
    while True:
        found = await outbox.read(ENTRIES, block_ms=_BLOCK_MS)
        found = found or await outbox.claim(ENTRIES, idle_ms=CLAIM_IDLE_MS)
        if found:
            return found


async def _carry(relay: Relay, store: Store, entries: Sequence[OutboxEntry]) -> None:
    """Write ``entries`` and whatever comes, for ever."""
    claim_at = time.monotonic()
    while True:
        if entries:
            await relay.write(entries)
        entries = await relay.outbox.read(ENTRIES)
        if entries:
            continue
        await relay.settle()
        entries = await relay.outbox.read(ENTRIES, block_ms=_BLOCK_MS)
        if entries and len(entries) < ENTRIES:
            await asyncio.sleep(GATHER_S)
            entries = [*entries, *await relay.outbox.read(ENTRIES)]
        elif not entries and time.monotonic() >= claim_at:
            claim_at = time.monotonic() + _CLAIM_EVERY_S
            entries = await relay.outbox.claim(ENTRIES, idle_ms=CLAIM_IDLE_MS)
            if not entries:
                await sweep_outbox(store)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
