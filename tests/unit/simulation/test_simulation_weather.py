"""Faults are drawn from the seed, and end when the weather is calm."""

from __future__ import annotations

import random

from dcf.simulation.weather import Weather

_CRASHES = {"crash_before", "crash_after", "crash_in_flight"}


def _faults(seed: int, *, mortal: bool = True, calm: bool = False) -> list[str]:
    refusals = random.Random(f"refusals {seed}")
    weather = Weather(random.Random(seed), refusals=refusals, ttl_s=5)
    if calm:
        weather.calm()
    return [weather.fate(weight=3, mortal=mortal).fault for _ in range(400)]


def test_one_seed_gives_one_weather() -> None:
    assert _faults(7) == _faults(7)
    assert any(_faults(seed) != _faults(7) for seed in range(5))


def test_calm_weather_has_no_faults() -> None:
    for seed in range(20):
        assert set(_faults(seed, calm=True)) == {"none"}


def test_under_some_seeds_the_server_takes_no_writes_for_a_while() -> None:
    refused = [_faults(seed).count("refused") for seed in range(20)]
    assert any(refused) and not all(refused) and max(refused) <= 6


def test_only_mortals_die() -> None:
    for seed in range(20):
        assert not _CRASHES & set(_faults(seed, mortal=False))


def test_crashes_end_so_that_work_can_be_done() -> None:
    for seed in range(20):
        assert sum(fault in _CRASHES for fault in _faults(seed)) <= 12
