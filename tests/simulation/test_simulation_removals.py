"""A finished run that is removed, put back and swept in bad weather is whole, or going, or gone."""

from __future__ import annotations

from collections import Counter

import pytest
from sabotages import without

from dcf.simulation import Sabotage
from dcf.simulation.removal_scene import RemovalScene
from dcf.simulation.simulator import DEFAULT_STEPS

_FORGETS = "redis.call('ZREM', INDEX, REQ.run)"
# Each with a seed that notices it.
BROKEN: dict[str, tuple[str, str, str, int]] = {
    "a removal does not stop who puts the run back": ("gc", "run.restoring = nil", "", 4),
    "a removal forgets the index": ("gc", f"  {_FORGETS}\n", "", 0),
    "a removal forgets the lists of runs": ("gc", "enlist(nil)\n", "", 0),
    "a removal leaves the history": ("gc", "META, HISTORY, CHAIN", "META, CHAIN", 1),
    "a removal ends while something is left": (
        "gc",
        "if redis.call('SCARD', PATHS) + redis.call('SCARD', BLOBS) > 0 then return "
        "reply('more', removed) end",
        "",
        0,
    ),
    "a restore is over before its last call": ("restore", "run.removing, run", "run._, run", 0),
}


def _played(
    seed: int, *, sabotage: Sabotage | None = None, steps: int = DEFAULT_STEPS
) -> RemovalScene:
    scene = RemovalScene(seed, steps, sabotage, ())
    scene.play()
    return scene


def test_a_run_is_whole_or_going_or_gone_whatever_happens() -> None:
    scenes = [_played(seed) for seed in range(12)]
    assert [seen for scene in scenes for seen in scene.violations] == []
    faults = sum((scene.faults for scene in scenes), Counter())
    wanted = {"reply_lost", "refused", "crash_before", "crash_after", "crash_in_flight"}
    assert {*wanted, "stopped", "fail-over"} <= faults.keys()


def test_one_seed_gives_one_history() -> None:
    assert _played(2).server.trace == _played(2).server.trace


@pytest.mark.parametrize("name", BROKEN)
def test_what_breaks_removals_is_noticed_by_what_is_left(name: str) -> None:
    script, text, instead, seed = BROKEN[name]
    scene = _played(seed, sabotage={script: without(text, instead)})
    assert "removed" in {seen.guarantee for seen in scene.violations}
