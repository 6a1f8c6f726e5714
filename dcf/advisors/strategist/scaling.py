"""How much work comes, how much the companions can do, and how many of them that takes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from dcf.advisors.strategist.activity import Activity, Task
from dcf.advisors.strategist.finding import Finding
from dcf.advisors.strategist.rules import StrategistRules
from dcf.advisors.strategist.wager import load_above, load_below
from dcf.evidence import Beta

_ROUNDING = 1e-12
Direction: TypeAlias = Literal["up", "down", "stay"]


@dataclass(frozen=True, slots=True)
class Bounds:
    """What the guidelines say of the number of companions."""

    min_companions: int
    max_companions: int
    scale_up_threshold: int
    scale_down_threshold: int


@dataclass(frozen=True, slots=True)
class Load:
    """The work of a session since its companions last changed, ``window_ms`` ago.

    ``load`` is how many companions it keeps busy: arrivals a time, by the time that a task takes;
    ``low`` and ``high`` bound it with 95 % probability, if both come by chance at constant rates.
    ``needed`` companions can do it with the utilisation that the rules allow, as surely as the
    rules ask for. ``pending`` tasks wait; ``long_idle`` companions have been idle for as long as
    the rules say. ``asks`` is what the plain thresholds ask for at this moment.
    """

    pool: int
    busy: int
    idle: int
    long_idle: int
    pending: int
    window_ms: int
    arrivals: int
    ends: int
    load: float | None
    low: float
    high: float
    needed: int
    asks: Direction


class Scaling:
    """``bounds`` are those of the guidelines."""

    def __init__(self, activity: Activity, rules: StrategistRules, bounds: Bounds) -> None:
        self._activity = activity
        self._rules = rules
        self._bounds = bounds
        self._workers = [one for one in activity.companions if one.can_work]
        self._since = self._window_start()
        self._events = _events(activity.tasks, self._since)

    def load(self) -> Load:
        """What is to be done, and by how many."""
        now = self._activity.now
        idle = [one for one in self._workers if one.status == "idle"]
        long_idle = [
            one
            for one in idle
            if one.idle_since is not None and now - one.idle_since > self._rules.scaling.idle_ms
        ]
        pending = sum(task.status == "queued" for task in self._activity.tasks)
        arrivals = sum(is_arrival for is_arrival, _ in self._events)
        ends = len(self._events) - arrivals
        worked = _worked_ms(self._activity.tasks, self._since, now)
        window = max(0, now - self._since)
        load = (arrivals / window) * (worked / ends) if window and ends else None
        return Load(
            pool=len(self._workers),
            busy=len(self._workers) - len(idle),
            idle=len(idle),
            long_idle=len(long_idle),
            pending=pending,
            window_ms=window,
            arrivals=arrivals,
            ends=ends,
            load=load,
            low=self._bound(0.025, arrivals, ends, window, worked),
            high=self._bound(0.975, arrivals, ends, window, worked),
            needed=self._needed(arrivals, ends, window, worked),
            asks=self._asks(pending, len(idle), len(long_idle)),
        )

    def findings(self, load: Load) -> Iterator[Finding]:
        """More companions, or fewer: where the thresholds ask for it, and the load bears it out."""
        if not load.pool:
            return
        rules, bounds = self._rules.scaling, self._bounds
        more = min(bounds.max_companions, max(load.pool + 1, load.needed))
        # To have too few is worse than to have too many: these can do it even if the load is high.
        enough = self._enough(load.high)
        fewer = max(bounds.min_companions, min(load.pool - 1, enough))
        measures = {
            "load": load.load or 0.0,
            "pool": load.pool,
            "pending": load.pending,
            "long_idle": load.long_idle,
            "needed": load.needed,
        }
        sure = self._share_below(rules.utilisation * load.pool, load)
        yield Finding(
            family="scaling",
            kind="scale_up",
            subject={},
            value=more,
            text=(
                f"scale up to {more} companions: {load.pending} tasks wait, all {load.pool} are "
                f"busy, the work is that of {load.load or 0:.1f}"
            ),
            observations=len(self._events),
            evidence=load_above(self._events, load.pool, rules.utilisation),
            is_large=load.asks == "up" and more > load.pool,
            confidence=1 - sure,
            measures=measures,
            low=load.low,
            high=load.high,
        )
        left = max(1, load.pool - 1)
        yield Finding(
            family="scaling",
            kind="scale_down",
            subject={},
            value=fewer,
            text=(
                f"scale down to {fewer} companions: {load.long_idle} of {load.pool} have been idle "
                f"for {rules.idle_minutes:g} minutes, the work is that of {load.load or 0:.1f}"
            ),
            observations=len(self._events),
            evidence=load_below(self._events, load.pool, rules.utilisation * left / load.pool),
            is_large=load.asks == "down" and fewer < load.pool,
            confidence=self._share_below(rules.utilisation * left, load),
            measures=measures,
            low=load.low,
            high=load.high,
        )

    def _window_start(self) -> int:
        joined = [one.created_at for one in self._activity.companions]
        began = [task.delegated_at for task in self._activity.tasks]
        changed = [self._activity.pool_since] if self._activity.pool_since is not None else []
        return max([*joined, *changed, min(began, default=0)], default=0)

    def _asks(self, pending: int, idle: int, long_idle: int) -> Direction:
        bounds = self._bounds
        if pending > bounds.scale_up_threshold and not idle:
            return "up"
        if pending <= bounds.scale_down_threshold and long_idle > self._rules.scaling.idle:
            return "down"
        return "stay"

    def _needed(self, arrivals: int, ends: int, window: int, worked: int) -> int:
        return self._enough(self._bound(self._rules.confidence, arrivals, ends, window, worked))

    def _enough(self, load: float) -> int:
        """How many companions can do that with the utilisation that the rules allow."""
        for count in range(1, self._bounds.max_companions):
            if load <= count * self._rules.scaling.utilisation:
                return count
        return self._bounds.max_companions

    @staticmethod
    def _bound(share: float, arrivals: int, ends: int, window: int, worked: int) -> float:
        """The load that is not exceeded with this probability. Of two rates that are believed to be
        Gamma(1 + events, time), G1 / (G1 + G2) of their standard forms is Beta."""
        at = Beta(1 + arrivals, 1 + ends).quantile(share)
        if not window:
            return 0.0
        at = min(at, 1 - _ROUNDING)
        return at / (1 - at) * worked / window

    def _share_below(self, limit: float, load: Load) -> float:
        """The probability that the load is below ``limit``."""
        worked = _worked_ms(self._activity.tasks, self._since, self._activity.now)
        scaled = limit * load.window_ms
        if not scaled + worked:
            return 0.5
        return Beta(1 + load.arrivals, 1 + load.ends).cdf(scaled / (scaled + worked))


def _events(tasks: tuple[Task, ...], since: int) -> list[tuple[bool, int]]:
    """What happened since, in order: (is an arrival, how many were at work just before)."""
    moments: list[tuple[int, int, int]] = []
    for task in tasks:
        moments.append((task.delegated_at, 1, 0))
        if task.started_at is not None:
            moments.append((task.started_at, 2, 1))
            if task.finished_at is not None:
                moments.append((task.finished_at, 0, -1))
    working, found = 0, []
    for at, order, change in sorted(moments):
        if order != 2 and at >= since:
            found.append((order == 1, max(working, 1 if order == 0 else 0)))
        working += change
    return found


def _worked_ms(tasks: tuple[Task, ...], since: int, now: int) -> int:
    """The time that companions were at work since then, all together."""
    return sum(
        max(0, min(now, now if task.finished_at is None else task.finished_at) - max(since, begun))
        for task in tasks
        if (begun := task.started_at) is not None
    )
