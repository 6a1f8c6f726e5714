"""What the Strategist finds in sessions whose truth is known, and how often it cries wolf.

``python -m benchmarks.strategist [--seeds N] [--quiet-seeds N] [--only NAME]``: for each world, in
how many of the seeds the truth was published by the analyses of the first so many ended tasks, and
in how many anything false was; and for worlds in which nothing is wrong, in how many sessions
anything at all was, over all analyses, one after every fourth task.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from rich.console import Console
from rich.table import Table

from benchmarks.strategist_truths import QUIET, WORLDS, World
from benchmarks.strategist_world import EVERY, session_of
from dcf.advisors.strategist import Bounds, StrategistRules, analyse

SIZES = (60, 120, 180, 240, 360, 480)
BOUNDS = Bounds(min_companions=1, max_companions=8, scale_up_threshold=3, scale_down_threshold=0)
LOOK = 12
"""Tasks between two analyses where finding is measured."""


@dataclass(frozen=True, slots=True)
class Life:
    """What one session said: after how many ended tasks each wanted thing was published for the
    first time, None if never; and the false ones."""

    found: Mapping[str, int | None]
    false: tuple[str, ...]


def live(world: World, seed: int, *, tasks: int, every: int) -> Life:
    """The session of ``seed``, analysed after every few tasks."""
    truth = world.truth(seed)
    rules, wanted, also = StrategistRules.default(), world.wanted(truth), world.also(truth)
    found: dict[str, int | None] = dict.fromkeys(wanted)
    false: list[str] = []
    for activity in session_of(truth, seed, tasks).analyses(every):
        for one in analyse(activity, rules, BOUNDS).published:
            names = [name for name, says in wanted.items() if says(one)]
            for name in names:
                if found[name] is None:
                    found[name] = len(activity.outcomes)
            if not names and not also(one):
                false.append(f"{one.kind} {dict(one.subject)} {one.value}")
    return Life(found, tuple(dict.fromkeys(false)))


def lives(world: World, seeds: int, *, tasks: int, every: int) -> list[Life]:
    """The sessions of the first so many seeds, on all processors."""
    work = partial(_live, WORLDS.index(world) if world in WORLDS else None, tasks, every)
    with multiprocessing.Pool() as pool:
        return pool.map(work, range(seeds), chunksize=4)


def _live(index: int | None, tasks: int, every: int, seed: int) -> Life:
    world = QUIET if index is None else WORLDS[index]
    return live(world, seed, tasks=tasks, every=every)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="benchmarks.strategist", description=__doc__)
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--quiet-seeds", type=int, default=500)
    names = [world.name for world in (*WORLDS, QUIET)]
    parser.add_argument("--only", choices=names, help="one world")
    options = parser.parse_args()
    console = Console(width=None if sys.stdout.isatty() else 130)
    columns = [f"by {size}" for size in SIZES]
    shown = Table("world", "to be found", *columns, "anything false", title="Found, of all tasks")
    for world in WORLDS:
        if options.only in (None, world.name):
            for row in _rows(world, options.seeds):
                shown.add_row(*row)
    if shown.row_count:
        console.print(shown)
    if options.only in (None, QUIET.name):
        quiet = lives(QUIET, options.quiet_seeds, tasks=240, every=EVERY)
        loud = [life for life in quiet if life.false]
        console.print(
            f"nothing wrong: {len(loud)} of {len(quiet)} sessions of 240 tasks had anything "
            f"published ({len(loud) / len(quiet):.1%}), with an analysis after every {EVERY} tasks"
        )
        for life in loud:
            console.print("  " + "; ".join(life.false))


def _rows(world: World, seeds: int) -> list[list[str]]:
    known = lives(world, seeds, tasks=SIZES[-1], every=LOOK)
    false = sum(bool(life.false) for life in known) / len(known)
    rows = []
    names = list(known[0].found)
    # What differs by lot only, as the types of task do, is counted together.
    groups: dict[str, list[int | None]] = {}
    for name in names if all(" for " not in one for one in names) else [names[0].split(" for ")[0]]:
        groups[name] = [
            at for life in known for wanted, at in life.found.items() if wanted.startswith(name)
        ]
    for name, ats in groups.items():
        shares = [sum(at is not None and at <= size for at in ats) / len(ats) for size in SIZES]
        rows.append(
            [
                f"{world.name}: {world.about}",
                name,
                *(f"{one:.0%}" for one in shares),
                f"{false:.1%}",
            ]
        )
    return rows


if __name__ == "__main__":
    main()
