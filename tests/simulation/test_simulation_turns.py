"""Agents of simulated workers have a memory; a fence of their turns that is broken is noticed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dcf.memory.turns import ending, holding
from dcf.simulation import simulate


def _no_number_is_too_low(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(holding, "_refuse_older", lambda *_: None)


def _a_lost_turn_goes_on(patch: pytest.MonkeyPatch) -> None:
    for module in (holding, ending):
        patch.setattr(module, "is_held", lambda *_: True)


@pytest.mark.parametrize(
    ("breaks", "seed"),
    [
        # The seeds are small ones that found it.
        (_no_number_is_too_low, 12),
        (_a_lost_turn_goes_on, 148),
    ],
)
def test_a_broken_fence_of_turns_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
    breaks: Callable[[pytest.MonkeyPatch], Any],
    seed: int,
) -> None:
    assert simulate(seed).ok
    breaks(monkeypatch)
    seen = {violation.guarantee for violation in simulate(seed).violations}
    assert "turns" in seen
