"""What goes wrong: each fault for a while, several at a time, chosen by a seed."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from tests.chaos.deployment import Crew
from tests.chaos.effects import Clock
from tests.chaos.network import Network
from tests.chaos.server import Disk, RedisServer

# How wrong a clock may become.
_CLOCK_S = 3600.0
_OWED_SHARE = 0.4
# So long at most, and no longer than the campaign, goes on what has not let every kind happen.
_OWED_S = 90.0


@dataclass(frozen=True, slots=True)
class Fault:
    """A kind of fault. ``weight`` says how often it is chosen; ``happen`` lets it happen, and says
    whether it did; ``why_not`` says why this machine cannot make it, "" where it can."""

    weight: int
    happen: Callable[[], Awaitable[bool]]
    why_not: str = ""


def kinds_of_faults(
    server: RedisServer,
    crew: Crew,
    network: Network,
    disk: Disk,
    clock: Clock,
    rng: random.Random,
    lease_s: float,
) -> dict[str, Fault]:
    """Every kind by its name. A worker's lease lasts ``lease_s`` seconds."""
    short, long = (0.3, 1.5), (0.5 * lease_s, 3 * lease_s)
    solo = crew.why_no_solo
    return {
        "worker killed": Fault(35, lambda: _now(crew.kill(rng))),
        "worker stopped": Fault(10, lambda: crew.freeze(rng, rng.uniform(*long))),
        # There is no kind that kills a solo process alone: by the rules (decision 0036) that is a
        # death of its state, and an innocent one would be charged up to its limit by chaos.
        "solo process stopped": Fault(6, lambda: crew.freeze_solo(rng, rng.uniform(*long)), solo),
        "solo process orphaned": Fault(5, lambda: crew.orphan_solo(rng), solo),
        "solo process killed with its worker": Fault(4, lambda: crew.kill_both(rng), solo),
        "Redis killed": Fault(5, lambda: server.kill(rng.uniform(*short))),
        "Redis out of memory": Fault(4, lambda: server.out_of_memory(rng.uniform(*long))),
        "Redis read-only": Fault(3, lambda: server.read_only(rng.uniform(*long))),
        "connections dropped": Fault(4, lambda: _now(network.drop())),
        "network stalled": Fault(3, lambda: network.stall(rng.uniform(*long))),
        "clock changed": Fault(3, lambda: _now(clock.change(rng.uniform(-_CLOCK_S, _CLOCK_S)))),
        "disk full": Fault(2, lambda: server.disk_full(disk, rng.uniform(*long)), disk.why_not),
    }


class Faults:
    """Lets faults of every kind happen, ``each_s`` seconds apart on average. ``happened`` counts
    them: each possible kind has a count, which may be 0. ``impossible`` are the other kinds, with
    the reasons."""

    def __init__(self, kinds: dict[str, Fault], rng: random.Random, *, each_s: float) -> None:
        self._kinds = {kind: fault for kind, fault in kinds.items() if not fault.why_not}
        self._rng = rng
        self._each_s = each_s
        self.happened: Counter[str] = Counter(dict.fromkeys(self._kinds, 0))
        self.impossible = {kind: fault.why_not for kind, fault in kinds.items() if fault.why_not}

    async def happen(self, seconds: float) -> None:
        """For so long, and somewhat longer for kinds that have not happened; returns when the last
        one is over."""
        now = asyncio.get_running_loop().time
        ends = now() + seconds
        last = ends + min(seconds, _OWED_S)
        async with asyncio.TaskGroup() as group:
            while now() < ends or (self.owed() and now() < last):
                await asyncio.sleep(self._rng.expovariate(1 / self._each_s))
                kind = self.choose(_OWED_SHARE if now() < ends else 1.0)
                group.create_task(self._one(kind))

    def owed(self) -> list[str]:
        """The possible kinds that have not happened yet."""
        return [kind for kind, count in self.happened.items() if not count]

    def choose(self, owed_share: float) -> str:
        """The next kind. Rare ones would not happen in a short campaign, and some cannot happen at
        any moment: what has not happened yet is chosen first in ``owed_share`` of all choices."""
        owed = self.owed()
        if owed and self._rng.random() < owed_share:
            return self._rng.choice(owed)
        weights = [fault.weight for fault in self._kinds.values()]
        [kind] = self._rng.choices(list(self._kinds), weights)
        return kind

    async def _one(self, kind: str) -> None:
        if await self._kinds[kind].happen():
            self.happened[kind] += 1


async def _now(done: bool) -> bool:
    return done
