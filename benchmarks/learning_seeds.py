"""How soon versions are told apart, over fresh seeds, beside what can be reached at all.

``python -m benchmarks.learning_seeds [--seeds 1000-1099] [--only NAME] [--whole N]``: the worlds of
``benchmarks.learning_loop`` and some of two versions, with the choosing and the evidence that ship
but without plans, graph and reflections (``Desk``), so that a hundred seeds take minutes. With
``--whole N`` the first N seeds are also lived with all of it, and the advice of both is compared.
"""

from __future__ import annotations

import argparse
import copy
import statistics
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import product
from math import comb, prod
from random import Random

from rich.console import Console
from rich.table import Table

from benchmarks.learning_loop import RUNS, SCENARIOS, STEP, SURE, SWITCH, ByEvidence, live
from benchmarks.learning_world import SKILL, TASK_TYPES, Scenario, World, best_of
from dcf.evidence import Record, Watch, choose, record_from, standings
from dcf.guidelines import Rules

RULES = Rules()
DECIDED = 150
SOON = 60
WORLDS = (
    Scenario("0.70, 0.90", (0.70, 0.90), 0.50),
    Scenario("0.60, 0.80", (0.60, 0.80), 0.40),
    Scenario("0.40, 0.60", (0.40, 0.60), 0.20),
    *(one for one in SCENARIOS if one.name != "in one day"),
)


@dataclass(frozen=True, slots=True)
class Post:
    """How outcomes are told: ``late`` runs after they were, of ``missing`` (a share) never, of
    ``twice`` (a share) once more with the opposite result."""

    late: int = 0
    missing: float = 0.0
    twice: float = 0.0


@dataclass(slots=True)
class Desk:
    """Chooses, and keeps what it is told, as a planner with a graph does."""

    versions: Sequence[str]
    seed: int
    watches: dict[str, dict[str, Watch]] = field(
        default_factory=lambda: {task: {} for task in TASK_TYPES}
    )
    alarms: set[tuple[str, str]] = field(default_factory=set)
    told: dict[str, str] = field(default_factory=dict)

    def choose(self, task_type: str, number: int, now: int) -> str:
        records = self._records(task_type, now)
        first = self.told.get(task_type)
        order = sorted(self.versions, key=lambda each: (each == first, each), reverse=True)
        if not records:
            return order[0]
        random = Random(f"planning {self.seed}-{number}/{task_type}/{SKILL}")
        return choose(order, records, random=random).version

    def keep(self, task_type: str, version: str, at: int, *, ok: bool) -> None:
        watch = self.watches[task_type].setdefault(version, Watch())
        if watch.add(at, int(ok), int(not ok)):
            self.alarms.add((task_type, version))

    def advise(self, now: int) -> Mapping[str, tuple[str, float]]:
        """What is recommended for each type of task, and how surely."""
        found = {}
        for task_type in TASK_TYPES:
            records = self._records(task_type, now)
            if len(records) > 1:
                top = standings(sorted(records), records)[0]
                found[task_type] = (top.version, top.best)
                seen = sum(
                    each.successes + each.failures for each in self.watches[task_type].values()
                )
                self.told.pop(task_type, None)
                if seen >= RULES.min_outcomes and top.best > RULES.min_confidence:
                    self.told[task_type] = top.version
        return found

    def _records(self, task_type: str, now: int) -> dict[str, Record]:
        watches = self.watches[task_type]
        return {version: record_from(watch, now=now) for version, watch in watches.items()}


@dataclass(slots=True)
class Course:
    """A world that runs: ``right[runs]`` has for each type of task whether the advice was right
    then (none is wrong), ``sure`` whether each that was given as sure was, ``shortfall`` by how
    much each run's choice was worse than an oracle's, ``newest`` the newest version's."""

    world: World
    desk: Desk
    post: Post
    right: dict[int, list[bool]] = field(default_factory=dict)
    sure: list[bool] = field(default_factory=list)
    shortfall: list[float] = field(default_factory=list)
    newest: list[float] = field(default_factory=list)
    _mail: list[tuple[int, int, str, str, bool]] = field(default_factory=list)

    def live(self, first: int, last: int) -> None:
        """Runs ``first`` to ``last``."""
        for number in range(first, last + 1):
            now = self.world.time(number)
            task_type = self.world.random.choice(TASK_TYPES)
            version = self.desk.choose(task_type, number, now)
            ok = self.world.run(number, task_type, version).ok
            self._send(number, task_type, version, ok)
            while self._mail and self._mail[0][0] <= number:
                _, sent, task, used, result = heappop(self._mail)
                self.desk.keep(task, used, self.world.time(sent), ok=result)
            rates = self.world.truth[task_type]
            self.shortfall.append(max(rates.values()) - rates[version])
            self.newest.append(max(rates.values()) - rates[max(rates)])
            if number % STEP == 0:
                self._check(number, now)

    def _send(self, number: int, task_type: str, version: str, ok: bool) -> None:
        if self.post == Post():
            heappush(self._mail, (number, number, task_type, version, ok))
            return
        lot = Random(f"post {self.desk.seed}-{number}")
        if lot.random() >= self.post.missing:
            results = (ok, not ok) if lot.random() < self.post.twice else (ok,)
            for result in results:
                heappush(self._mail, (number + self.post.late, number, task_type, version, result))

    def _check(self, number: int, now: int) -> None:
        said = self.desk.advise(now)
        best = {task: best_of(self.world.truth[task]) for task in TASK_TYPES}
        self.right[number] = [task in said and said[task][0] == best[task] for task in TASK_TYPES]
        self.sure += [said[task][0] == best[task] for task in said if said[task][1] >= SURE]


def course(scenario: Scenario, seed: int, post: Post) -> tuple[Course, Course]:
    """The world of ``seed`` for 400 runs as it is, and as it goes on when the best version falls at
    run 200, for 60 runs more than the 100 after which it is looked at last."""
    world = World.of(scenario, seed)
    steady = Course(world, Desk(world.versions, seed), post)
    steady.live(1, SWITCH)
    moved = copy.deepcopy(steady)
    moved.sure, moved.shortfall = [], []
    steady.live(SWITCH + 1, RUNS)
    moved.world.switch(scenario.falls_to)
    moved.live(SWITCH + 1, SWITCH + 2 * SOON)
    return steady, moved


def likeliest(scenario: Scenario, outcomes: int = DECIDED // len(TASK_TYPES)) -> float:
    """How often one is right who knows the rates of the best two of the versions, that it is one of
    these two, and not which: the more probable of the two after ``outcomes``, half of them of each
    or all of one, whichever says more."""
    low, high = sorted(scenario.rates)[-2:]
    return max(_told_apart(low, high, outcomes - half, half) for half in (0, outcomes // 2))


def _told_apart(low: float, high: float, *sizes: int) -> float:
    likelihoods = (
        [
            prod(
                comb(n, k) * rate**k * (1 - rate) ** (n - k)
                for n, k, rate in zip(sizes, won, rates, strict=True)
            )
            for rates in ((high, low), (low, high))
        ]
        for won in product(*(range(n + 1) for n in sizes))
    )
    return sum(max(each) for each in likelihoods) / 2


def rows(scenario: Scenario, seeds: Sequence[int], post: Post) -> dict[str, str]:
    """The figures of a world, by name."""
    both = [course(scenario, seed, post) for seed in seeds]
    steady, moved = [one for one, _ in both], [other for _, other in both]
    best = likeliest(scenario)
    sure = [right for one in steady for right in one.sure]
    after = [right for one in moved for right in one.sure]
    pairs = len(seeds) * len(TASK_TYPES)
    alarms = sum(len({task for task, _ in one.desk.alarms}) for one in steady)
    return {
        f"right at {DECIDED}": f"{_share(steady, DECIDED):.1%}",
        "knowing both rates": f"{best:.1%}",
        "seeds all right": f"{_seeds(steady, DECIDED):.0%}",
        "knowing both rates ": f"{best ** len(TASK_TYPES):.0%}",
        "right at 400": f"{_share(steady, RUNS):.1%}",
        "sure, right": f"{_mean(sure):.1%}",
        f"drift: right at +{SOON}": f"{_share(moved, SWITCH + SOON):.1%}",
        f"by +{SOON}": f"{_by(moved, SWITCH + SOON):.1%}",
        f"at +{2 * SOON}": f"{_share(moved, SWITCH + 2 * SOON):.1%}",
        "sure, right ": f"{_mean(after):.1%}",
        "false alarms": f"{alarms / pairs:.1%}",
        "regret 1-150": f"{_regret(steady, 0, DECIDED):.1f}",
        "300-400": f"{_regret(steady, 300, RUNS):.1f}",
        "drift +60": f"{_regret(moved, 0, SOON):.1f}",
        "newest": f"{100 * statistics.fmean(v for one in steady for v in one.newest):.1f}",
    }


def _mean(values: Sequence[bool]) -> float:
    return statistics.fmean(map(float, values)) if values else float("nan")


def _share(found: Sequence[Course], runs: int) -> float:
    return _mean([right for one in found for right in one.right[runs]])


def _seeds(found: Sequence[Course], runs: int) -> float:
    return _mean([all(one.right[runs]) for one in found])


def _by(found: Sequence[Course], runs: int) -> float:
    """Right at one of the reflections after the switch."""
    times = range(SWITCH + STEP, runs + 1, STEP)
    return _mean([any(one.right[at][i] for at in times) for one in found for i in (0, 1)])


def _regret(found: Sequence[Course], start: int, end: int) -> float:
    """In points per run."""
    return 100 * statistics.fmean(lost for one in found for lost in one.shortfall[start:end])


def whole(scenario: Scenario, seeds: Sequence[int]) -> str:
    """How much of the advice of the whole loop is that of the desk, up to run 400."""
    same: dict[bool | str, int] = defaultdict(int)
    for seed in seeds:
        life = live(scenario, seed, ByEvidence, switches=False)
        steady, _ = course(scenario, seed, Post())
        for runs, right in steady.right.items():
            same[life.right(runs) == right] += 1
        same["shortfall" if life.shortfall == steady.shortfall else "other shortfall"] += 1
    return str(dict(same))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="benchmarks.learning_seeds", description=__doc__)
    parser.add_argument("--seeds", default="1000-1099", help="first and last")
    parser.add_argument("--only", choices=[one.name for one in WORLDS], help="one world")
    parser.add_argument("--late", type=int, default=0, help="outcomes are told so many runs late")
    parser.add_argument("--missing", type=float, default=0.0, help="the share that is never told")
    parser.add_argument("--twice", type=float, default=0.0, help="the share told again, opposite")
    parser.add_argument("--whole", type=int, default=0, help="so many seeds with the whole loop")
    options = parser.parse_args()
    first, _, last = options.seeds.partition("-")
    seeds = range(int(first), int(last) + 1)
    post = Post(options.late, options.missing, options.twice)
    console = Console(width=None if sys.stdout.isatty() else 100)
    for scenario in WORLDS:
        if options.only not in (None, scenario.name):
            continue
        if options.whole:
            console.print(scenario.name, whole(scenario, seeds[: options.whole]))
            continue
        table = Table("", scenario.name)
        for name, text in rows(scenario, seeds, post).items():
            table.add_row(name, text)
        console.print(table)


if __name__ == "__main__":
    main()
