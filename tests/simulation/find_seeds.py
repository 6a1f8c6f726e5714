"""``python tests/simulation/find_seeds.py`` writes ``noticed.json`` anew: for each sabotage, and
for each mutant of the sample, a seed that notices it: the one that is there, or else the first.
Call it after each change of what is simulated: the tests try these seeds first, and others would
cost minutes.
"""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Collection
from pathlib import Path

from sabotages import BROKEN, NOTICED

from dcf.simulation import GUARANTEES, Guarantee, Sabotage, mutants, settle, simulate

_SEEDS = 200


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


def main() -> None:
    """Find all of them, on all processors. Names that nothing notices are printed and left out."""
    known = {one.name for one in mutants()}
    sample = [name for name in NOTICED["mutants"] if name in known]
    gone = NOTICED["mutants"].keys() - known
    with multiprocessing.get_context("spawn").Pool(initializer=settle) as pool:
        found = {
            "mutants": dict(pool.imap(_of_mutant, sample)),
            "sabotages": dict(pool.imap(_of_sabotage, range(len(BROKEN)))),
        }
    seeds = {
        kind: {name: seed for name, seed in some.items() if seed is not None}
        for kind, some in found.items()
    }
    for name in (*gone, *(name for some in found.values() for name in some if some[name] is None)):
        print(f"not noticed, or gone: {name}")
    path = Path(__file__).with_name("noticed.json")
    path.write_text(json.dumps(seeds, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
