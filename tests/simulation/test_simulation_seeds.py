"""Every guarantee on many histories. ``make sim`` sees sixty more, ``make soak`` thousands."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter

import pytest
from campaigns import SIMULATED, SOAK, campaign, settled

from dcf.simulation import simulate, simulate_seeds

pytestmark = settled(*SIMULATED)

# Of the first forty seeds those that together run each line of the scripts that all of them do, at
# the least cost.
_CHOSEN = (22, 32, 33, 2, 3, 5, 14, 16, 21, 24, 26, 27)
# Whose histories are short.
_SHORT = (9, 22, 32)
_DIGESTS = (
    "import sys; from dcf.simulation import simulate;"
    "print(*(simulate(int(seed)).digest for seed in sys.argv[1:]))"
)
# Others than those, each time the same: twenty of the sixty of ``make sim``.
_FIRST = range(40, 60, 5)
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
    "calls of an earlier version",
    "orders of sessions",
    "hosts of companions crashed",
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
@campaign(shares=200)
def test_every_guarantee_holds_while_faults_of_every_kind_happen(share: int) -> None:
    seeds = range(share * 100, share * 100 + 100) if SOAK else _CHOSEN
    verdicts = [simulate(seed) for seed in seeds]
    broken = [
        "\n".join([*map(str, verdict.violations), verdict.replay])
        for verdict in verdicts
        if verdict.violations
    ]
    assert not broken, "\n\n".join(broken)
    assert len({verdict.digest for verdict in verdicts}) == len(seeds)  # each its own history
    assert [simulate(seed) for seed in seeds[:3]] == verdicts[:3]  # whatever came in between
    totals = sum((Counter(verdict.counts) for verdict in verdicts), Counter[str]())
    assert [fault for fault in _FAULTS if not totals[fault]] == []


@pytest.mark.parametrize("first", _FIRST)
def test_every_guarantee_holds_in_seeds_that_nobody_chose(first: int) -> None:
    verdicts = [simulate(seed) for seed in range(first, first + _FIRST.step)]
    assert [verdict.replay for verdict in verdicts if not verdict.ok] == []


def test_one_seed_gives_one_history_in_every_process() -> None:
    seeds = (14, 22)
    digests = {
        subprocess.run(
            [sys.executable, "-c", _DIGESTS, *map(str, seeds)],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for hash_seed in ("1", "4711")
    }
    [said] = digests
    assert len(said.split()) == len(seeds)


def test_several_processes_give_the_same_verdicts_in_order() -> None:
    assert list(simulate_seeds(_SHORT, jobs=2)) == [simulate(seed) for seed in _SHORT]


def test_with_one_step_the_weather_is_calm_and_nobody_dies() -> None:
    for seed in _SHORT:
        verdict = simulate(seed, steps=1)
        assert verdict.ok
        assert verdict.counts["workers crashed"] == 0
        assert verdict.counts["hints lost"] == 0
