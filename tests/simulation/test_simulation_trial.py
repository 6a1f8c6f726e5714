"""Mutants of the scripts are noticed: a fixed few here, all of them in ``make soak``."""

from __future__ import annotations

import pytest
from campaigns import PRODUCT, SIMULATED, SOAK, settled, soak_only
from sabotages import NOTICED

from dcf.simulation import GUARANTEES, attempt, equivalents, found, mutants, simulate

pytestmark = settled(*SIMULATED)

_SHARES = 40
# Mutants, each with the first seed that notices it.
SAMPLE = NOTICED["mutants"]


@pytest.mark.parametrize("name", SAMPLE)
def test_a_mutant_is_noticed_under_its_seed(name: str) -> None:
    chosen = [one for one in mutants() if one.name == name]
    assert chosen, f"its statement has changed; `dcf sim --sabotage {name[:-9]}` finds another"
    assert simulate(SAMPLE[name], sabotage=chosen[0].sabotage(), until=GUARANTEES).violations


def test_a_script_that_only_looks_otherwise_violates_nothing() -> None:
    remark = {"commit": lambda source: f"{source}\n-- A remark.\n"}
    assert simulate(7, sabotage=remark, until=GUARANTEES) == simulate(7)


def test_every_mutant_was_found_or_is_called_equivalent() -> None:
    """Whether the seeds that are written down still notice them, ``make soak`` tries."""
    names = {one.name for one in mutants()}
    assert found().keys() | equivalents().keys() == names, "call tests/simulation/find_seeds.py"
    assert not (found().keys() | SAMPLE.keys()) & equivalents().keys()


@pytest.mark.timeout(3600)
@soak_only(*PRODUCT)
@pytest.mark.parametrize("share", range(_SHARES if SOAK else 1))
def test_every_mutant_is_noticed_unless_nobody_can(share: int) -> None:
    wrong = []
    for mutant in mutants()[share::_SHARES]:
        trial = attempt(mutant, range(200))
        if not trial.ok:
            wrong.append(f"{mutant.name} ({mutant.place}): {trial.status}, seed {trial.seed}")
    assert not wrong, "\n".join(wrong)
