"""Two versions of the software work on one server: the guarantees hold, and their checks can fail.

What is kept of the earlier version is in ``dcf/simulation/earlier.json``.
"""

from __future__ import annotations

import random

import pytest
from campaigns import SIMULATED, settled

from control_plane import Script
from dcf.simulation import Guarantee, simulate, versions
from dcf.simulation.versions import Versions

pytestmark = settled(*SIMULATED)

_WORKERS, _CLIENTS = ("w0", "w1", "w2"), ("client-0", "client-1")


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody runs the earlier version under every seed."""
    monkeypatch.setattr(versions, "_SHARE", 1.0)


def _drawn(seed: int) -> Versions:
    return Versions(random.Random(seed), _WORKERS, _CLIENTS)


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("seed", [7, 14, 32, 35])
def test_every_guarantee_holds_while_two_versions_work_on_one_server(seed: int) -> None:
    verdict = simulate(seed)
    assert not verdict.violations
    assert 0 < verdict.counts["calls of an earlier version"] < verdict.counts["calls of the server"]


@pytest.mark.usefixtures("always")
def test_one_worker_at_least_runs_the_present_version_from_the_start() -> None:
    for seed in range(50):
        drawn = _drawn(seed)
        earlier = [drawn.earlier(f"{name}.1", "commit") is not None for name in _WORKERS]
        assert drawn.differ
        assert any(earlier)
        assert not all(earlier)


@pytest.mark.usefixtures("always")
def test_a_worker_that_was_exchanged_runs_the_present_version_from_then_on() -> None:
    lives = [
        [_drawn(seed).earlier(f"w0.{life}", "commit") is not None for life in range(1, 6)]
        for seed in range(50)
    ]
    assert all(ran == sorted(ran, reverse=True) for ran in lives)
    assert [True, False, False, False, False] in lives
    assert [True] * 5 in lives


@pytest.mark.usefixtures("always")
def test_what_the_earlier_version_does_wrong_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = versions._load

    def unfenced(name: str) -> Script:
        source = sound(name).source
        return Script(name, source.replace("dead(path, ctl) or not_holder(ctl)", "dead(path, ctl)"))

    monkeypatch.setattr(versions, "_load", unfenced)
    until: tuple[Guarantee, ...] = ("fenced",)
    seen = [seen.guarantee for seed in range(2) for seen in simulate(seed, until=until).violations]
    assert "fenced" in seen
