"""Keeping leases while work goes on: renewal at a third of the time to live.

Any answer but "ok" means that the authority is lost: the work is told to stop. The keeper has its
own store (and, in a worker process, its own thread), so that a busy event loop loses no lease.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass

from control_plane import Disconnected, Lease, Refusal, ServerError, Store

log = logging.getLogger(__name__)

OnLost = Callable[[str], object]
_LONGEST_NAP_S = 0.25
# How long after a limit the control plane is asked whether it has passed: its clock decides.
_AFTER_LIMIT_S = 0.02


@dataclass(slots=True, eq=False)
class Watch:
    """A lease that is being kept. Times are seconds of the keeper's clock."""

    lease: Lease
    on_lost: OnLost
    renew_at: float
    limit_s: float | None
    heartbeat_s: float | None
    ends_at: float
    beat: bool = False


class LeaseKeeper:
    """Renews the leases it watches. ``now`` is a monotonic clock in seconds."""

    def __init__(self, store: Store, *, now: Callable[[], float]) -> None:
        self._store = store
        self._now = now
        # Insertion-ordered, so that one seed of the simulation gives one history.
        self._watches: dict[Watch, None] = {}

    def watch(
        self, lease: Lease, on_lost: OnLost, *, limit_s: float | None, heartbeat_s: float | None
    ) -> Watch:
        """Keep ``lease`` until ``unwatch``. ``limit_s`` and ``heartbeat_s`` are the Task's own
        limits, so that it is asked about soon after they pass."""
        now, ttl = self._now(), lease.ttl_ms / 1000
        shortest = min(limit for limit in (limit_s, heartbeat_s, ttl) if limit is not None)
        at = now + (ttl / 3 if shortest >= ttl / 3 else shortest + _AFTER_LIMIT_S)
        watch = Watch(lease, on_lost, at, limit_s and now + limit_s, heartbeat_s, now + ttl)
        self._watches[watch] = None
        return watch

    def unwatch(self, watch: Watch) -> None:
        """Stop keeping; a renewal under way has no effect on the work any more."""
        self._watches.pop(watch, None)

    def beat(self, watch: Watch) -> None:
        """The task made progress: ``HeartbeatSeconds`` counts from the next renewal."""
        watch.beat = True
        if watch.heartbeat_s is not None:
            watch.renew_at = min(watch.renew_at, self._now() + watch.heartbeat_s / 3)

    async def run(self) -> None:
        """Renew until cancelled."""
        while True:
            now = self._now()
            due = [watch for watch in tuple(self._watches) if watch.renew_at <= now]
            await asyncio.gather(*(self._renew(watch) for watch in due))
            await asyncio.sleep(_LONGEST_NAP_S)

    async def _renew(self, watch: Watch) -> None:
        ttl = watch.lease.ttl_ms / 1000
        now = self._now()
        beat, watch.beat = watch.beat, False
        try:
            answer = await self._store.renew(watch.lease, beat=beat)
        except (Disconnected, ServerError) as error:
            watch.beat = watch.beat or beat
            if now >= watch.ends_at:
                self._lose(watch, "lease_expired")
            else:
                log.warning("cannot renew the lease of %s: %s", watch.lease.path, error)
                watch.renew_at = now + min(1.0, ttl / 10)
            return
        if isinstance(answer, Refusal):
            self._lose(watch, answer.code)
            return
        watch.ends_at = now + ttl
        step = ttl / 3 if watch.heartbeat_s is None else min(ttl / 3, watch.heartbeat_s / 2)
        watch.renew_at = now + step
        if watch.limit_s is not None and now < watch.limit_s < watch.renew_at:
            watch.renew_at = watch.limit_s + _AFTER_LIMIT_S

    def _lose(self, watch: Watch, code: str) -> None:
        if watch in self._watches:
            self._watches.pop(watch, None)
            watch.on_lost(code)
