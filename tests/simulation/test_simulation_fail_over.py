"""Redis forgets the newest writes, as a replica that takes over does: what is promised then holds,
and a script that relies on what was forgotten is noticed."""

from __future__ import annotations

import pytest
from campaigns import SIMULATED, settled
from sabotages import without

from dcf.simulation import fail_over, simulate

pytestmark = settled(*SIMULATED)

# Under each of them it happens several times; chosen by number alone.
_SEEDS = (0, 1, 2)


@pytest.fixture(autouse=True)
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fail_over, "_SHARE", 1.0)


def test_every_guarantee_holds_from_the_moment_that_is_left() -> None:
    verdicts = [simulate(seed) for seed in _SEEDS]
    assert [verdict for verdict in verdicts if not verdict.ok] == []
    assert sum(verdict.counts["fail-overs that lost writes"] for verdict in verdicts) > len(_SEEDS)


def test_a_fence_that_does_not_follow_the_clock_is_given_twice() -> None:
    counted = without("math.max(ctl.fence + 1, NOW)", "ctl.fence + 1")
    sabotage = {"acquire": counted, "commit": counted}
    for seed in range(40):
        verdict = simulate(seed, sabotage=sabotage, until={"effect"})
        if any(violation.guarantee == "effect" for violation in verdict.violations):
            return
    pytest.fail("40 seeds did not notice it")
