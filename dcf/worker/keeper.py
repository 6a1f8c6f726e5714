"""Keeping leases while work goes on: renewal at a third of the time to live.

Any answer but "ok" means that the authority is lost: the work is told to stop. The keeper has its
own store (and, in a worker process, its own thread), so that a busy event loop loses no lease.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from control_plane import Disconnected, Lease, Refusal, ServerError, Store

log = logging.getLogger(__name__)

OnLost = Callable[[str], object]
_LONGEST_NAP_S = 0.25
_SHORTEST_NAP_S = 0.01
# How long after a limit the control plane is asked whether it has passed: its clock decides.
_AFTER_LIMIT_S = 0.02


@dataclass(slots=True, eq=False)
class Watch:
    """A lease that is being kept. Times are seconds of the keeper's clock."""

    lease: Lease
    on_lost: OnLost
    renew_at: float
    ends_at: float
    beat_at: float
    limit_at: float | None = None
    heartbeat_s: float | None = None
    beat: bool = False
    told: bool = False

    def plan(self, now: float) -> None:
        """Renew at a third of the time to live, or soon after a limit passes."""
        self.renew_at = self.next_look(now)
        if self.beat:
            self.hurry(now)

    def next_look(self, now: float) -> float:
        """When the control plane is to be asked next, if it was asked just now."""
        usual = now + self.lease.ttl_ms / 3000
        if self.limit_at is None and self.heartbeat_s is None:
            return usual
        times = [usual]
        if self.limit_at is not None:
            times.append(self.limit_at + _AFTER_LIMIT_S)
        if self.heartbeat_s is not None:
            times.append(self.beat_at + self.heartbeat_s + _AFTER_LIMIT_S)
        # A limit that passed and did not count is left to the usual renewals.
        return min(at for at in times if at > now)

    def hurry(self, now: float) -> None:
        """Tell a beat at once, but not more often than three times within ``heartbeat_s``."""
        if self.heartbeat_s is not None:
            self.renew_at = min(self.renew_at, max(now, self.beat_at + self.heartbeat_s / 3))


class LeaseKeeper:
    """Renews the leases it watches. ``now`` is a monotonic clock in seconds. It looks at them at
    least every ``longest_nap_s`` seconds."""

    def __init__(
        self, store: Store, *, now: Callable[[], float], longest_nap_s: float = _LONGEST_NAP_S
    ) -> None:
        self._store = store
        self._longest_nap_s = longest_nap_s
        self._now = now
        # Insertion-ordered, so that one seed of the simulation gives one history.
        self._watches: dict[Watch, None] = {}
        self.on_failure: Callable[[], object] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._woken = asyncio.Event()
        self._awake_at = 0.0

    def watch(self, lease: Lease, on_lost: OnLost) -> Watch:
        """Keep ``lease`` until ``unwatch``."""
        now = self._now()
        ends_at = now + lease.ttl_ms / 1000
        watch = Watch(lease, on_lost, renew_at=ends_at, ends_at=ends_at, beat_at=now)
        watch.plan(now)
        self._watches[watch] = None
        self._wake_for(watch)
        return watch

    def limit(self, watch: Watch, *, limit_s: float | None, heartbeat_s: float | None) -> None:
        """A Task begins with limits of its own: it is asked about soon after they pass."""
        if limit_s is None and heartbeat_s is None:
            return
        now = self._now()
        watch.limit_at = None if limit_s is None else now + limit_s
        watch.heartbeat_s, watch.beat_at = heartbeat_s, now
        watch.renew_at = min(watch.renew_at, watch.next_look(now))
        self._wake_for(watch)

    def unwatch(self, watch: Watch) -> None:
        """Stop keeping; a renewal under way has no effect on the work any more."""
        self._watches.pop(watch, None)

    def beat(self, watch: Watch) -> None:
        """The task made progress: ``HeartbeatSeconds`` counts from the next renewal."""
        if watch.beat or watch not in self._watches:
            return
        watch.beat = True
        watch.hurry(self._now())
        self._wake_for(watch)

    def _wake_for(self, watch: Watch) -> None:
        if self._loop is not None and watch.renew_at < self._awake_at:
            # Maybe from another thread.
            self._loop.call_soon_threadsafe(self._woken.set)

    async def run(self) -> None:
        """Renew until cancelled. A defect tells every holder, and whoever asked by ``on_failure``,
        before it is raised: nobody works on under a lease that is not kept."""
        self._loop = asyncio.get_running_loop()
        try:
            await self._renew_for_ever()
        except Exception:
            for watch in tuple(self._watches):
                self._lose(watch, "keeper_failed")
            if self.on_failure is not None:
                self.on_failure()
            raise

    async def _renew_for_ever(self) -> None:
        while True:
            now = self._now()
            due = [watch for watch in tuple(self._watches) if watch.renew_at <= now]
            await asyncio.gather(*(self._renew(watch) for watch in due))
            await self._nap()

    async def _nap(self) -> None:
        """Until the next renewal, or until one is wanted sooner."""
        # Until it is known how long, whoever wants something sooner wakes it.
        self._awake_at = math.inf
        self._woken.clear()
        now = self._now()
        first = min((watch.renew_at for watch in tuple(self._watches)), default=math.inf)
        self._awake_at = max(now + _SHORTEST_NAP_S, min(now + self._longest_nap_s, first))
        with suppress(TimeoutError):
            async with asyncio.timeout(self._awake_at - now):
                await self._woken.wait()

    async def _renew(self, watch: Watch) -> None:
        ttl = watch.lease.ttl_ms / 1000
        now = self._now()
        beat, watch.beat = watch.beat, False
        try:
            # A server that does not answer is not waited for beyond the lease.
            async with asyncio.timeout(max(_SHORTEST_NAP_S, watch.ends_at - now)):
                answer = await self._store.renew(watch.lease, beat=beat)
        except (Disconnected, ServerError, TimeoutError) as error:
            now = self._now()
            watch.beat = watch.beat or beat
            if now >= watch.ends_at:
                self._lose(watch, "lease_expired")
            else:
                if not watch.told:
                    reason = str(error) or "no answer in time"
                    log.warning("cannot renew the lease of %s: %s", watch.lease.path, reason)
                watch.told = True
                watch.renew_at = min(watch.ends_at, now + min(1.0, ttl / 10))
            return
        if isinstance(answer, Refusal):
            self._lose(watch, answer.code)
            return
        if watch.told:
            log.warning("the lease of %s is renewed again", watch.lease.path)
        watch.told = False
        watch.ends_at = now + ttl
        if beat:
            watch.beat_at = now
        watch.plan(self._now())

    def _lose(self, watch: Watch, code: str) -> None:
        if watch in self._watches:
            self._watches.pop(watch, None)
            watch.on_lost(code)
