"""How well the loop of planning, running and reflecting learns, in worlds whose truth is known.

``python -m benchmarks.learning_loop [--seeds N] [--only NAME]``: versions of one skill succeed with
fixed probabilities that only the world knows, other ones for each of two types of task, so that
each has another best version. 400 runs, each of one task; before each a planner chooses a version,
after every tenth there is a reflection, whose guidelines the planner has from then on. In a second
world of each seed the best version of each type falls at run 200.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Protocol

from rich.console import Console
from rich.table import Table

from benchmarks.learning_world import TASK_TYPES, Office, Scenario, World, best_of
from dcf.evidence import Counts
from dcf.knowledge import Outcome

RUNS = 400
SWITCH = 200
STEP = 10
SURE = 0.9
MINUTE_MS = 60_000

SCENARIOS = (
    Scenario("three versions", (0.60, 0.75, 0.90), 0.50),
    Scenario("in one day", (0.60, 0.75, 0.90), 0.50, every_ms=MINUTE_MS),
    Scenario("close together", (0.80, 0.85, 0.90), 0.60),
    Scenario("six versions", (0.40, 0.50, 0.60, 0.70, 0.80, 0.90), 0.40),
    Scenario("rare successes", (0.05, 0.10, 0.25), 0.02),
    Scenario("rare failures", (0.90, 0.95, 0.99), 0.80),
)


@dataclass(frozen=True, slots=True)
class Said:
    """What is recommended for a type of task; ``confidence`` None where none is stated."""

    task_type: str
    version: str
    confidence: float | None = None


class Chooser(Protocol):
    """Whoever chooses versions and learns from what happens."""

    def choose(self, task_type: str, number: int, now: int) -> str:
        """The version for run ``number`` at ``now`` (ms)."""
        ...

    def keep(self, outcome: Outcome) -> None: ...

    async def advise(self, now: int) -> Sequence[Said]:
        """What is recommended after what happened so far."""
        ...


class ByEvidence:
    """What ships."""

    def __init__(self, versions: Sequence[str], seed: int, *, explore: bool = True) -> None:
        self._office = Office(versions, seed, explore=explore)

    def choose(self, task_type: str, number: int, now: int) -> str:
        return self._office.choose(task_type, number, now).manifest.manifest_id

    def keep(self, outcome: Outcome) -> None:
        self._office.keep(outcome)

    async def advise(self, now: int) -> Sequence[Said]:
        return [
            Said(one.condition["task_type"], one.prefer, one.confidence)
            for one in (await self._office.reflect(now)).insights
            if one.category == "skill_effectiveness" and one.prefer is not None
        ]


class Unexplored(ByEvidence):
    """What ships, with exploration switched off."""

    def __init__(self, versions: Sequence[str], seed: int) -> None:
        super().__init__(versions, seed, explore=False)


class ByLot:
    """The first baseline: any version, as often as any other; it advises the highest raw rate."""

    def __init__(self, versions: Sequence[str], seed: int) -> None:
        self.versions = versions
        self.random = Random(f"choices {seed}")
        self.counts: dict[tuple[str, str], Counts] = defaultdict(Counts)

    def choose(self, task_type: str, number: int, now: int) -> str:
        return self.random.choice(self.versions)

    def keep(self, outcome: Outcome) -> None:
        one = Counts(int(outcome.ok), int(not outcome.ok))
        self.counts[outcome.task_type, outcome.skills[0]] += one

    async def advise(self, now: int) -> Sequence[Said]:
        return [Said(task_type, self.highest(task_type)) for task_type in TASK_TYPES]

    def highest(self, task_type: str) -> str:
        """The version with the highest rate; what was never tried comes first."""
        rates = {name: self.counts[task_type, name].rate for name in self.versions}
        return max(self.versions, key=lambda name: 2.0 if (rate := rates[name]) is None else rate)


class ByRawRate(ByLot):
    """The second baseline: each once, then the one with the highest rate so far."""

    def choose(self, task_type: str, number: int, now: int) -> str:
        return self.highest(task_type)


MakeChooser = Callable[[Sequence[str], int], Chooser]
CHOOSERS: Mapping[str, MakeChooser] = {
    "by evidence": ByEvidence,
    "not exploring": Unexplored,
    "uniform": ByLot,
    "greedy by raw rate": ByRawRate,
}


@dataclass(frozen=True, slots=True)
class Advice:
    """What was recommended after ``runs`` runs, and whether it was the best then."""

    runs: int
    task_type: str
    version: str
    confidence: float | None
    right: bool


@dataclass(slots=True)
class Life:
    """One world from its first run to its last: the advice, and how much each run's choice was
    worse than the best possible."""

    advice: list[Advice] = field(default_factory=list)
    shortfall: list[float] = field(default_factory=list)

    def at(self, runs: int) -> dict[str, Advice]:
        return {one.task_type: one for one in self.advice if one.runs == runs}

    def right(self, runs: int) -> list[bool]:
        """For each type of task whether the advice was right; none is wrong."""
        known = self.at(runs)
        return [task in known and known[task].right for task in TASK_TYPES]

    def changed(self) -> list[bool]:
        """For each type of task whether what was right before the switch is not recommended any
        more at run 350; where nothing right was recommended then, whether it is now."""
        before, now = self.at(SWITCH), self.at(350)
        found = []
        for task in TASK_TYPES:
            old, new = before.get(task), now.get(task)
            if old is not None and old.right:
                found.append(new is not None and new.version != old.version)
            else:
                found.append(new is not None and new.right)
        return found

    def sure(self, after: int = 0) -> list[bool]:
        """Whether each advice that was said to be sure was right."""
        return [
            one.right
            for one in self.advice
            if one.runs > after and one.confidence is not None and one.confidence >= SURE
        ]


def live(scenario: Scenario, seed: int, make: MakeChooser, *, switches: bool) -> Life:
    """400 runs of the world of ``seed``."""
    return asyncio.run(_live(scenario, seed, make, switches=switches))


async def _live(scenario: Scenario, seed: int, make: MakeChooser, *, switches: bool) -> Life:
    world = World.of(scenario, seed)
    chooser, life = make(world.versions, seed), Life()
    for number in range(1, RUNS + 1):
        if switches and number == SWITCH + 1:
            world.switch(scenario.falls_to)
        task_type = world.random.choice(TASK_TYPES)
        version = chooser.choose(task_type, number, world.time(number))
        chooser.keep(world.run(number, task_type, version))
        rates = world.truth[task_type]
        life.shortfall.append(max(rates.values()) - rates[version])
        if number % STEP == 0:
            for said in await chooser.advise(world.time(number)):
                is_right = said.version == best_of(world.truth[said.task_type])
                life.advice.append(
                    Advice(number, said.task_type, said.version, said.confidence, is_right)
                )
    return life


@dataclass(frozen=True, slots=True)
class Figures:
    """Shares are over (seed, task type) pairs, or over all that was said with confidence >= 0.9;
    ``worst`` values are of the worst twenty seeds that follow each other, of the shortfall of the
    worst seed. Rates are from 0 to 1."""

    right_at_150: float
    right_at_150_worst: float
    sure_and_right: float | None
    sure: int
    shortfall: float
    shortfall_worst: float
    changed_at_350: float
    changed_at_350_worst: float
    right_at_350: float
    sure_and_right_after_switch: float | None


def measure(scenario: Scenario, make: MakeChooser, seeds: int) -> Figures:
    """The figures over ``seeds`` seeds."""
    steady = [live(scenario, seed, make, switches=False) for seed in range(seeds)]
    moved = [live(scenario, seed, make, switches=True) for seed in range(seeds)]
    right = [_share(life.right(150)) for life in steady]
    changed = [_share(life.changed()) for life in moved]
    late = [statistics.fmean(life.shortfall[300:]) for life in steady]
    sure = [right for life in (*steady, *moved) for right in life.sure()]
    after = [right for life in moved for right in life.sure(after=SWITCH)]
    return Figures(
        right_at_150=statistics.fmean(right),
        right_at_150_worst=_worst(right),
        sure_and_right=_share(sure) if sure else None,
        sure=len(sure),
        shortfall=statistics.fmean(late),
        shortfall_worst=max(late),
        changed_at_350=statistics.fmean(changed),
        changed_at_350_worst=_worst(changed),
        right_at_350=_share(one for life in moved for one in life.right(350)),
        sure_and_right_after_switch=_share(after) if after else None,
    )


def _share(values: Iterable[bool]) -> float:
    return statistics.fmean(map(float, values))


def _worst(shares: Sequence[float]) -> float:
    groups = [shares[start : start + 20] for start in range(0, len(shares), 20)]
    return min(statistics.fmean(group) for group in groups)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="benchmarks.learning_loop", description=__doc__)
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--only", choices=[one.name for one in SCENARIOS], help="one world")
    options = parser.parse_args()
    console = Console(width=None if sys.stdout.isatty() else 130)
    for scenario in SCENARIOS:
        if options.only not in (None, scenario.name):
            continue
        rates = " / ".join(f"{rate:.2f}" for rate in scenario.rates)
        title = f"{scenario.name}: {rates}; the best falls to {scenario.falls_to:.2f}"
        shown = Table("", *CHOOSERS, title=title, title_justify="left")
        columns = [measure(scenario, make, options.seeds) for make in CHOOSERS.values()]
        rows: dict[str, Callable[[Figures], str]] = {
            "right after 150 runs (worst 20 seeds)": lambda one: (
                f"{one.right_at_150:.1%} ({one.right_at_150_worst:.1%})"
            ),
            "right of what is said with >= 0.9": lambda one: (
                f"{_percent(one.sure_and_right)} of {one.sure}"
            ),
            "the same after the switch": lambda one: _percent(one.sure_and_right_after_switch),
            "below the best possible, runs 300-400 (worst seed)": lambda one: (
                f"{one.shortfall:.1%} ({one.shortfall_worst:.1%})"
            ),
            "advice changed by run 350 (worst 20 seeds)": lambda one: (
                f"{one.changed_at_350:.1%} ({one.changed_at_350_worst:.1%})"
            ),
            "advice right at run 350": lambda one: f"{one.right_at_350:.1%}",
        }
        for name, text in rows.items():
            shown.add_row(name, *(text(column) for column in columns))
        console.print(shown)


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"


if __name__ == "__main__":
    main()
