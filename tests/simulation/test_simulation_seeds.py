"""Every guarantee on many histories. ``make sim`` sees a hundred more, ``make soak`` thousands."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter

import pytest
from campaigns import campaign

from dcf.simulation import simulate, simulate_seeds

_DIGEST = (
    "import sys; from dcf.simulation import simulate; print(simulate(int(sys.argv[1])).digest)"
)
_FAULTS = (
    "runs succeeded",
    "runs failed",
    "runs cancelled",
    "runs redriven",
    "leases taken over",
    "leases revoked",
    "retries",
    "joins",
    "workers crashed",
    "workers drained",
    "hints lost",
    "hints doubled",
    "hints delayed",
    "requests lost",
    "replies lost",
    "calls said twice",
    "calls delayed beyond a lease",
    "processes stopped for a while",
    "crashes before a call",
    "crashes after a call",
    "crashes with a call under way",
)


@pytest.mark.timeout(300)
@campaign(shares=50)
def test_every_guarantee_holds_while_faults_of_every_kind_happen(share: int) -> None:
    seeds = range(share * 100, share * 100 + (100 if share else 40))
    verdicts = [simulate(seed) for seed in seeds]
    broken = [
        "\n".join([*map(str, verdict.violations), verdict.replay])
        for verdict in verdicts
        if verdict.violations
    ]
    assert not broken, "\n\n".join(broken)
    assert len({verdict.digest for verdict in verdicts}) == len(seeds)  # each its own history
    totals = sum((Counter(verdict.counts) for verdict in verdicts), Counter[str]())
    assert [fault for fault in _FAULTS if not totals[fault]] == []


@pytest.mark.parametrize("seed", [1, 12, 31])
def test_one_seed_gives_one_history(seed: int) -> None:
    assert simulate(seed) == simulate(seed)


@pytest.mark.parametrize("seed", [3, 24])
def test_one_seed_gives_one_history_in_every_process(seed: int) -> None:
    digests = {
        subprocess.run(
            [sys.executable, "-c", _DIGEST, str(seed)],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for hash_seed in ("1", "4711")
    }
    assert digests == {f"{simulate(seed).digest}\n"}


def test_several_processes_give_the_same_verdicts_in_order() -> None:
    assert list(simulate_seeds(range(6), jobs=2)) == [simulate(seed) for seed in range(6)]


def test_with_one_step_the_weather_is_calm_and_nobody_dies() -> None:
    for seed in range(6):
        verdict = simulate(seed, steps=1)
        assert verdict.ok
        assert verdict.counts["workers crashed"] == 0
        assert verdict.counts["hints lost"] == 0
