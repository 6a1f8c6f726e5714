"""Worlds for the Strategist: what differs in each of them, and what is to be found there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from random import Random

from benchmarks.strategist_world import TASK_TYPES, Truth
from dcf.advisors.strategist import Finding

Says = Callable[[Finding], bool]


@dataclass(frozen=True, slots=True)
class World:
    """``wanted`` are the things to be found, each as what a finding says that finds it; what is
    published and finds none of them, nor is ``also`` true, is false."""

    name: str
    about: str
    truth: Callable[[int], Truth]
    wanted: Callable[[Truth], Mapping[str, Says]]
    also: Callable[[Truth], Says] = field(default=lambda _: lambda _one: False)


def companions(count: int = 4) -> dict[str, str]:
    return {f"companion-{number}": "generalist" for number in range(1, count + 1)}


def equal(names: Mapping[str, str]) -> dict[str, dict[str, float]]:
    """Nobody is better than others at anything."""
    return {task_type: dict.fromkeys(names, 1.0) for task_type in TASK_TYPES}


def versions(rates: Sequence[float], lot: Random | None = None) -> dict[str, dict[str, float]]:
    """As many versions of a skill for each type of task, whose rates are dealt by lot."""
    dealt = {}
    for task_type in TASK_TYPES:
        order = lot.sample(rates, len(rates)) if lot else list(rates)
        names = [f"skill.shop.{task_type}@{number}.0.0" for number in range(1, len(rates) + 1)]
        dealt[task_type] = dict(zip(names, order, strict=True))
    return dealt


def best_of(rates: Mapping[str, float]) -> str:
    return max(rates, key=rates.__getitem__)


def says(kind: str, value: object = None, **subject: str) -> Says:
    """Whether a finding is of this kind, about this, and advises ``value`` (None: whatever)."""
    return lambda one: (
        one.kind == kind
        and all(one.subject.get(name) == meant for name, meant in subject.items())
        and value in (None, one.value)
    )


def _skills(seed: int) -> Truth:
    team = companions()
    return Truth(versions((0.9, 0.5), Random(f"truth {seed}")), equal(team), team)


def _best_skills(truth: Truth) -> dict[str, Says]:
    return {
        f"best skill for {task_type}": says("prefer_skill", best_of(rates), task_type=task_type)
        for task_type, rates in truth.skills.items()
    }


def _companions(seed: int) -> Truth:
    lot, team = Random(f"truth {seed}"), companions()
    suited = lot.sample(sorted(team), len(TASK_TYPES))
    fit = {
        task_type: {name: 1.0 if name == best else 0.55 for name in team}
        for task_type, best in zip(TASK_TYPES, suited, strict=True)
    }
    return Truth(versions((0.9,)), fit, team)


def _best_companions(truth: Truth) -> dict[str, Says]:
    return {
        f"best companion for {task_type}": says(
            "specialize_companion", task_type, companion_id=best_of(fits), task_type=task_type
        )
        for task_type, fits in truth.fit.items()
    }


def _specializations(seed: int) -> Truth:
    kinds = ("billing", "logistics", "care")
    team = {f"companion-{number}": kinds[number % 3] for number in range(6)}
    fit = {
        task_type: {name: 1.0 if team[name] == kind else 0.55 for name in team}
        for task_type, kind in zip(TASK_TYPES, kinds, strict=True)
    }
    return Truth(versions((0.9,)), fit, team)


def _best_specializations(truth: Truth) -> dict[str, Says]:
    return {
        f"best specialization for {task_type}": says(
            "prefer_specialization",
            truth.specializations[best_of(fits)],
            task_type=task_type,
        )
        for task_type, fits in truth.fit.items()
    }


def _quick(seed: int) -> Truth:
    lot, team = Random(f"truth {seed}"), companions()
    quick = lot.choice(sorted(team))
    pace = {TASK_TYPES[0]: {quick: 0.5}}
    return Truth(versions((0.95,)), equal(team), team, pace=pace)


def _quickest(truth: Truth) -> dict[str, Says]:
    (name,) = truth.pace[TASK_TYPES[0]]
    return {
        "the quick companion": says(
            "specialize_companion", companion_id=name, task_type=TASK_TYPES[0], goal="speed"
        )
    }


def _failing(seed: int) -> Truth:
    team = companions()
    rates = versions((0.9,))
    rates[TASK_TYPES[seed % 3]] = {best_of(rates[TASK_TYPES[seed % 3]]): 0.5}
    return Truth(rates, equal(team), team)


def _failing_skill(truth: Truth) -> dict[str, Says]:
    names = [name for rates in truth.skills.values() for name, rate in rates.items() if rate < 0.75]
    return {"the failing skill": says("failing_skill", skill=names[0])}


def _poor(seed: int) -> Truth:
    team = companions()
    poor = sorted(team)[seed % 4]
    fit = {
        task_type: {name: 0.5 if name == poor else 1.0 for name in team} for task_type in TASK_TYPES
    }
    return Truth(versions((0.9,)), fit, team)


def _failing_companion(truth: Truth) -> dict[str, Says]:
    fits = truth.fit[TASK_TYPES[0]]
    poor = min(fits, key=fits.__getitem__)
    return {"the failing companion": says("failing_companion", companion_id=poor)}


def _overloaded(seed: int) -> Truth:
    team = companions()
    return Truth(versions((0.9,)), equal(team), team, load=1.5)


def _idle(seed: int) -> Truth:
    team = companions(6)
    return Truth(versions((0.9,)), equal(team), team, load=0.1)


def _tiers(seed: int) -> Truth:
    team, rates = companions(), versions((0.9,))
    names = [name for skills in rates.values() for name in skills]
    return Truth(
        rates,
        equal(team),
        team,
        tiers=dict.fromkeys(names, 1),
        escalations={names[0]: 0.4, names[1]: 0.05, names[2]: 0.05},
        costs={names[0]: 0.02, names[1]: 0.04, names[2]: 0.02},
    )


def _wrong_tiers(truth: Truth) -> dict[str, Says]:
    first, second, _ = truth.tiers
    return {
        "the tier that is too low": says("tier_too_low", 2, skill=first),
        "the skill that costs double": says("cost_off", skill=second, direction="more"),
    }


WORLDS = (
    World("skills", "two versions: 0.9 and 0.5", _skills, _best_skills,
          lambda t: lambda one: one.kind == "failing_skill"
          and t.skills[one.subject["task_type"]][one.subject["skill"]] < 0.75),
    World("companions", "one of four 0.9, the others 0.5, for each type", _companions,
          _best_companions,
          lambda _: lambda one: one.kind in ("failing_skill", "failing_companion")),
    World("specializations", "two of six 0.9, the others 0.5, for each type", _specializations,
          _best_specializations,
          lambda _: lambda one: one.kind in ("failing_skill", "failing_companion")),
    World("speed", "one of four takes half the time at one type, all 0.95", _quick, _quickest),
    World("failing skill", "one of three skills 0.5, the others 0.9", _failing, _failing_skill),
    World("failing companion", "one of four 0.45, the others 0.9", _poor, _failing_companion),
    World("overload", "work for 6 companions, 4 there", _overloaded,
          lambda _: {"scale up": says("scale_up")}),
    World("idleness", "work for 0.6 companions, 6 there", _idle,
          lambda _: {"scale down": says("scale_down")}),
    World("tiers", "one skill escalates at 0.4, one costs double", _tiers, _wrong_tiers,
          # The median of the others is raised by the one that costs double.
          lambda _: lambda one: one.kind == "cost_off" and one.subject["direction"] == "less"),
)  # fmt: skip


def _nothing(seed: int) -> Truth:
    """Nothing is wrong, in sessions of many kinds: their parameters follow from the seed."""
    kinds = list(product((0.8, 0.9, 0.97), (1, 2, 3), (3, 4, 6), (0.4, 0.55, 0.7), (1, 2)))
    rate, count, size, load, burst = kinds[seed * 37 % len(kinds)]
    team = companions(size)
    if seed % 2:
        team = {name: ("billing", "care")[place % 2] for place, name in enumerate(team)}
    rates = versions((rate,) * count)
    names = [name for skills in rates.values() for name in skills]
    return Truth(
        rates,
        equal(team),
        team,
        load=load,
        burst=burst,
        tiers={name: place % 3 for place, name in enumerate(names)},
        escalations=dict.fromkeys(names, 0.05),
        costs=dict.fromkeys(names, 0.02),
    )


QUIET = World("nothing wrong", "all alike", _nothing, lambda _: {})
