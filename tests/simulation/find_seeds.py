"""``python tests/simulation/find_seeds.py`` writes ``noticed.json`` anew: for each sabotage, and
for each mutant of the sample, a seed that notices it: the one that is there, or else the first.
Call it after each change of what is simulated: the tests try these seeds first, and others would
cost minutes. Mutants that are new are added to ``dcf/simulation/found.json`` in the same way, and
those that are gone leave it; with ``--all`` each is tried again, which takes half an hour.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
from collections.abc import Collection
from multiprocessing.pool import Pool
from pathlib import Path

from sabotages import BROKEN, NOTICED

import dcf.simulation
from dcf.simulation import (
    GUARANTEES,
    Guarantee,
    Mutant,
    Sabotage,
    attempt,
    equivalents,
    found,
    mutants,
    settle,
    simulate,
)

_SEEDS = 200
_FOUND = Path(dcf.simulation.__file__).with_name("found.json")


def seed_that_notices(
    known: int, sabotage: Sabotage, guarantees: Collection[Guarantee], seeds: int
) -> int | None:
    """Under which one of ``guarantees`` is seen to be broken: ``known``, or the first of ``seeds``.
    So somebody may put one there that ends sooner."""
    for seed in dict.fromkeys((known, *range(seeds))):
        verdict = simulate(seed, sabotage=sabotage, until=guarantees)
        if any(violation.guarantee in guarantees for violation in verdict.violations):
            return seed
    return None


def _of_sabotage(number: int) -> tuple[str, int | None]:
    broken = BROKEN[number]  # by its number: a sabotage goes to no other process
    known = NOTICED["sabotages"].get(broken.name, 0)
    seed = seed_that_notices(known, broken.sabotage, broken.guarantees, broken.seeds)
    return broken.name, seed


def _of_mutant(name: str) -> tuple[str, int | None]:
    [mutant] = [one for one in mutants() if one.name == name]
    known = NOTICED["mutants"][name]
    return name, seed_that_notices(known, mutant.sabotage(), GUARANTEES, _SEEDS)


def _trial(mutant: Mutant) -> tuple[str, int | None]:
    return mutant.name, attempt(mutant, range(_SEEDS)).seed


def find_mutants(pool: Pool, *, again: bool) -> list[str]:
    """Write down which seed notices each mutant that is not known, or with ``again`` each of them,
    unless it is called equivalent; the names of those that none notices."""
    made = [one for one in mutants() if one.name not in equivalents()]
    seeds = {one.name: found()[one.name] for one in made if one.name in found() and not again}
    missed = []
    for name, seed in pool.imap_unordered(_trial, [one for one in made if one.name not in seeds]):
        if seed is None:
            missed.append(name)
        else:
            seeds[name] = seed
    _write(_FOUND, dict(sorted(seeds.items())))
    return missed


def _write(path: Path, seeds: object) -> None:
    path.write_text(json.dumps(seeds, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    """Find all of them, on all processors. Names that nothing notices are printed and left out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true", help="try each mutant again")
    again = parser.parse_args().all
    known = {one.name for one in mutants()}
    sample = [name for name in NOTICED["mutants"] if name in known]
    gone = NOTICED["mutants"].keys() - known
    with multiprocessing.get_context("spawn").Pool(initializer=settle) as pool:
        noticed = {
            "mutants": dict(pool.imap(_of_mutant, sample)),
            "sabotages": dict(pool.imap(_of_sabotage, range(len(BROKEN)))),
        }
        missed = find_mutants(pool, again=again)
    seeds = {
        kind: {name: seed for name, seed in some.items() if seed is not None}
        for kind, some in noticed.items()
    }
    unnoticed = [name for some in noticed.values() for name in some if some[name] is None]
    for name in (*gone, *unnoticed, *missed):
        print(f"not noticed, or gone: {name}")
    _write(Path(__file__).with_name("noticed.json"), seeds)


if __name__ == "__main__":
    main()
