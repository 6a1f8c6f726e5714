"""The checks can fail: each broken script is noticed, and by the guarantee that it breaks."""

from __future__ import annotations

import pytest
from campaigns import SIMULATED, settled
from sabotages import BROKEN, NOTICED, Broken

from dcf.simulation import simulate

pytestmark = settled(*SIMULATED)


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken.name)
def test_a_broken_script_is_noticed_within_its_seeds(broken: Broken) -> None:
    likely = NOTICED["sabotages"].get(broken.name, 0)
    for seed in dict.fromkeys((likely, *range(broken.seeds))):
        verdict = simulate(seed, sabotage=broken.sabotage, until=broken.guarantees)
        if broken.guarantees & {violation.guarantee for violation in verdict.violations}:
            return
    pytest.fail(f"{broken.seeds} seeds did not notice that {broken.name}")


def test_a_sabotage_that_changes_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="changes nothing"):
        simulate(0, sabotage={"seed": lambda source: source})
