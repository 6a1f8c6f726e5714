"""Trials of mutants: which seed notices one first, and by which guarantee."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib import resources
from typing import Literal

from control_plane import script as scripts
from dcf.simulation.campaign import processes
from dcf.simulation.mutants import Mutant, mutants
from dcf.simulation.simulator import DEFAULT_STEPS
from dcf.simulation.violation import GUARANTEES, Violation
from dcf.simulation.world import OWN, World

Status = Literal["found", "not found", "not reached", "equivalent", "not equivalent"]


@dataclass(frozen=True, slots=True)
class Trial:
    """What became of ``mutant``: ``seed`` noticed it, by ``violation``; or ``tried`` seeds did not,
    which are those that run its statement. ``reason``: why nobody can notice it, "" if unproven."""

    mutant: Mutant
    tried: int
    reason: str
    seed: int | None = None
    violation: Violation | None = None

    @property
    def status(self) -> Status:
        if self.seed is not None:
            return "not equivalent" if self.reason else "found"
        if self.reason:
            return "equivalent"
        return "not found" if self.tried else "not reached"

    @property
    def ok(self) -> bool:
        """Whether it is as it has to be."""
        return self.status in ("found", "equivalent")


def attempt(
    mutant: Mutant, seeds: Sequence[int], *, steps: int = DEFAULT_STEPS, world: World = OWN
) -> Trial:
    """Simulate ``mutant`` under ``seeds`` until one notices it: first the one that is known to,
    then the others in their order. Seeds under which its statement does not run are left out."""
    sabotage, reason, tried = mutant.sabotage(), equivalents().get(mutant.name, ""), 0
    known = found().get(mutant.name)
    for seed in sorted(seeds, key=lambda seed: seed != known):
        if not _runs(mutant, _lines(world, seed, steps)):
            continue
        tried += 1
        verdict = world.simulate(seed, steps=steps, sabotage=sabotage, until=GUARANTEES)
        if verdict.violations:
            return Trial(mutant, tried, reason, seed, verdict.violations[0])
    return Trial(mutant, tried, reason)


def attempt_all(
    chosen: Sequence[Mutant],
    seeds: Sequence[int],
    *,
    steps: int = DEFAULT_STEPS,
    jobs: int = 1,
    world: World = OWN,
) -> Iterator[Trial]:
    """``attempt`` each of them, ``jobs`` at a time; in their order."""
    one = partial(attempt, seeds=seeds, steps=steps, world=world)
    if jobs == 1 or len(chosen) == 1:
        yield from map(one, chosen)
        return
    with processes(jobs) as pool:
        yield from pool.imap(one, chosen)


def named(beginning: str) -> list[Mutant]:
    """The mutants whose names begin so; with "all" each of them."""
    return [one for one in mutants() if beginning == "all" or one.name.startswith(beginning)]


@cache
def equivalents() -> Mapping[str, str]:
    """Why nobody can notice these mutants, by name. Raises ValueError for names of none."""
    text = (resources.files("dcf.simulation") / "equivalents.json").read_text(encoding="utf-8")
    reasons: dict[str, str] = json.loads(text)
    if gone := reasons.keys() - {one.name for one in mutants()}:
        raise ValueError(f"equivalents.json names no mutants: {sorted(gone)}; remove them")
    return reasons


@cache
def found() -> Mapping[str, int]:
    """By name the mutants that a seed noticed, and which one: ``find_seeds.py`` looks for them."""
    text = (resources.files("dcf.simulation") / "found.json").read_text(encoding="utf-8")
    seeds: dict[str, int] = json.loads(text)
    return seeds


@cache
def _lines(world: World, seed: int, steps: int) -> dict[str, set[int]]:
    """Which lines run under ``seed`` while nothing is broken."""
    return world.lines(seed, steps)


def _runs(mutant: Mutant, ran: Mapping[str, set[int]]) -> bool:
    first, last = mutant.lines
    return any(
        not ran[name].isdisjoint(range(offset + first, offset + last + 1))
        for name, offset in _offsets(mutant.file)
        if name in ran
    )


@cache
def _offsets(file: str) -> list[tuple[str, int]]:
    """The scripts that a file is a part of, each with how many lines stand before it there."""
    some = next(one for one in mutants() if one.file == file)
    parts = [(name, scripts.load(name).source) for name in some.scripts]
    return [(name, source.partition(some.original)[0].count("\n")) for name, source in parts]
