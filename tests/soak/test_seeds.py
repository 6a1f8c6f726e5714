"""The guarantees on thousands of histories; `make test` and `make sim` see the first 140."""

from __future__ import annotations

import pytest
from campaigns import campaign

from dcf.simulation import simulate_seeds

FIRST, SEEDS = 140, 250


@pytest.mark.timeout(1800)
@campaign(shares=20)
def test_every_guarantee_holds(share: int) -> None:
    first = FIRST + share * SEEDS
    broken = [
        "\n".join([*map(str, verdict.violations), verdict.replay])
        for verdict in simulate_seeds(range(first, first + SEEDS), jobs=2)
        if not verdict.ok
    ]
    assert not broken, "\n\n".join(broken)
