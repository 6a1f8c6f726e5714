"""How well the loop of choosing, running and advising learns, in worlds whose truth is known.

``python -m benchmarks.learning_loop [--seeds N]``: versions of one skill succeed with fixed
probabilities that only the world knows, other ones for each of two types of task, so that each has
another best version. 400 runs, each of one task; before each a version is chosen, after every
tenth the outcomes so far are analysed. In a second world of each seed the best version of each
type falls at run 200.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from rich.console import Console
from rich.table import Table

from dcf.advisors.analysis import Collector
from dcf.evidence import Counts, Watch, choose, record_from
from dcf.knowledge import Outcome

RUNS = 400
SWITCH = 200
STEP = 10
SURE = 0.9
HOUR_MS = 3_600_000
TASK_TYPES = ("refund", "shipment")


@dataclass(frozen=True, slots=True)
class Scenario:
    """``rates`` of the versions, in whatever order; the best one falls to ``falls_to``."""

    name: str
    rates: tuple[float, ...]
    falls_to: float


SCENARIOS = (
    Scenario("three versions", (0.60, 0.75, 0.90), 0.50),
    Scenario("close together", (0.80, 0.85, 0.90), 0.60),
    Scenario("six versions", (0.40, 0.50, 0.60, 0.70, 0.80, 0.90), 0.40),
    Scenario("rare successes", (0.05, 0.10, 0.25), 0.02),
    Scenario("rare failures", (0.90, 0.95, 0.99), 0.80),
)


@dataclass(slots=True)
class World:
    """The truth of one seed: ``truth[task_type][version]``."""

    truth: dict[str, dict[str, float]]
    random: Random

    @classmethod
    def of(cls, scenario: Scenario, seed: int) -> World:
        random = Random(f"world {seed}")
        versions = [f"skill.shop.work@1.{minor}.0" for minor in range(len(scenario.rates))]
        truth: dict[str, dict[str, float]] = {}
        taken: set[str] = set()
        for task_type in TASK_TYPES:
            while True:
                rates = random.sample(scenario.rates, len(scenario.rates))
                dealt = dict(zip(versions, rates, strict=True))
                if best_of(dealt) not in taken:
                    break
            taken.add(best_of(dealt))
            truth[task_type] = dealt
        return cls(truth, random)

    def switch(self, falls_to: float) -> None:
        """What was the best is not any more."""
        for rates in self.truth.values():
            rates[best_of(rates)] = falls_to

    def run(self, number: int, task_type: str, version: str) -> Outcome:
        """One run of one task, an hour after the one before."""
        ok = self.random.random() < self.truth[task_type][version]
        at = number * HOUR_MS
        return Outcome(
            run=f"run-{number}", workflow_id=f"run-{number}", workflow_name="shop", path="Work",
            state="Work", visit=1, tries=1, task_type=task_type, skills=(version,), agent=None,
            status="done" if ok else "failed", error=None if ok else "Shop.Failed", cause=None,
            started_at=at - 1000, ended_at=at, duration_ms=1000,
        )  # fmt: skip


Chooser = Callable[[Sequence[str], "Seen", Random, int], str]


@dataclass(slots=True)
class Seen:
    """What has been measured at one type of task."""

    watches: dict[str, Watch] = field(default_factory=dict)
    counts: dict[str, Counts] = field(default_factory=dict)

    def add(self, version: str, outcome: Outcome) -> None:
        watch = self.watches.setdefault(version, Watch())
        watch.add(outcome.ended_at, int(outcome.ok), int(not outcome.ok))
        counts = self.counts.get(version, Counts())
        self.counts[version] = counts + Counts(int(outcome.ok), int(not outcome.ok))


def by_evidence(versions: Sequence[str], seen: Seen, random: Random, now: int) -> str:
    """What planners do: Thompson sampling over records that notice changes."""
    records = {name: record_from(watch, now=now) for name, watch in seen.watches.items()}
    return choose(versions, records, random=random).version


def by_lot(versions: Sequence[str], seen: Seen, random: Random, now: int) -> str:
    """The first baseline: any version, as often as any other."""
    return random.choice(versions)


def by_raw_rate(versions: Sequence[str], seen: Seen, random: Random, now: int) -> str:
    """The second baseline: each once, then the one with the highest rate so far."""
    return max(versions, key=lambda name: _raw_rate(seen, name))


CHOOSERS: Mapping[str, Chooser] = {
    "by evidence": by_evidence,
    "uniform": by_lot,
    "greedy by raw rate": by_raw_rate,
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

    def sure(self, after: int = 0) -> list[bool]:
        """Whether each advice that was said to be sure was right."""
        return [
            one.right
            for one in self.advice
            if one.runs > after and one.confidence is not None and one.confidence >= SURE
        ]


def live(scenario: Scenario, seed: int, chooser: Chooser, *, switches: bool) -> Life:
    """400 runs of the world of ``seed``."""
    world, own = World.of(scenario, seed), Random(f"choices {seed}")
    versions = sorted(world.truth[TASK_TYPES[0]])
    seen = {task_type: Seen() for task_type in TASK_TYPES}
    collector, life = Collector(0), Life()
    for number in range(1, RUNS + 1):
        if switches and number == SWITCH + 1:
            world.switch(scenario.falls_to)
        task_type = world.random.choice(TASK_TYPES)
        version = chooser(versions, seen[task_type], own, number * HOUR_MS)
        outcome = world.run(number, task_type, version)
        seen[task_type].add(version, outcome)
        if chooser is by_evidence:
            collector.add(outcome)
        rates = world.truth[task_type]
        life.shortfall.append(max(rates.values()) - rates[version])
        if number % STEP == 0:
            life.advice += _advice(world, seen, collector, chooser, number)
    return life


def _advice(
    world: World, seen: Mapping[str, Seen], collector: Collector, chooser: Chooser, number: int
) -> Iterable[Advice]:
    """Of the analysis; of the baselines, the version with the highest rate so far."""
    if chooser is by_evidence:
        for contest in collector.contests(number * HOUR_MS):
            best = best_of(world.truth[contest.task_type])
            yield Advice(
                number, contest.task_type, contest.recommended, contest.confidence,
                contest.recommended == best,
            )  # fmt: skip
        return
    for task_type, known in seen.items():
        top = max(sorted(world.truth[task_type]), key=lambda name: _raw_rate(known, name))
        yield Advice(number, task_type, top, None, top == best_of(world.truth[task_type]))


def best_of(rates: Mapping[str, float]) -> str:
    return max(rates, key=lambda name: rates[name])


def _raw_rate(seen: Seen, version: str) -> float:
    rate = seen.counts.get(version, Counts()).rate
    # What was never tried comes first.
    return 2.0 if rate is None else rate


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


def measure(scenario: Scenario, chooser: Chooser, seeds: int) -> Figures:
    """The figures over ``seeds`` seeds."""
    steady = [live(scenario, seed, chooser, switches=False) for seed in range(seeds)]
    moved = [live(scenario, seed, chooser, switches=True) for seed in range(seeds)]
    right = [_share(one.right for one in life.at(150).values()) for life in steady]
    changed = [_share(_changed(life)) for life in moved]
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
        right_at_350=_share(one.right for life in moved for one in life.at(350).values()),
        sure_and_right_after_switch=_share(after) if after else None,
    )


def _changed(life: Life) -> Iterable[bool]:
    """Whether what was right before the switch is not recommended any more at run 350; where the
    advice was wrong at the switch, whether it is right now."""
    before, now = life.at(SWITCH), life.at(350)
    for task_type, advice in now.items():
        old = before[task_type]
        yield advice.version != old.version if old.right else advice.right


def _share(values: Iterable[bool]) -> float:
    return statistics.fmean(map(float, values))


def _worst(shares: Sequence[float]) -> float:
    groups = [shares[start : start + 20] for start in range(0, len(shares), 20)]
    return min(statistics.fmean(group) for group in groups)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="benchmarks.learning_loop", description=__doc__)
    parser.add_argument("--seeds", type=int, default=200)
    options = parser.parse_args()
    console = Console()
    for scenario in SCENARIOS:
        rates = " / ".join(f"{rate:.2f}" for rate in scenario.rates)
        title = f"{scenario.name}: {rates}; the best falls to {scenario.falls_to:.2f}"
        shown = Table("", *CHOOSERS, title=title, title_justify="left")
        columns = [measure(scenario, chooser, options.seeds) for chooser in CHOOSERS.values()]
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
