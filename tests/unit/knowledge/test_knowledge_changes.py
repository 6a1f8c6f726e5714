"""Of many suspects one is called significant only where chance would explain none of them."""

from __future__ import annotations

from random import Random

from dcf.evidence import SIGNIFICANT, Comparison
from dcf.knowledge.asking.changing import Suspect, changes_in
from dcf.knowledge.asking.seen import Seen

AGENTS = 8
# Of 20 outcomes each, after the change: agent 0 fails in 15, the others in 8.
FAILED = {0: 15}


def seen(at: int, agent: str, ok: bool) -> Seen:
    error = None if ok else "Boom"
    return Seen(at, ok, f"run-{at}", error, frozenset({("agent", agent)}))


def suspects(agents: int) -> tuple[Suspect, ...]:
    before = [seen(at, "old", True) for at in range(200)]
    told = [(agent, n >= FAILED.get(agent, 8)) for agent in range(agents) for n in range(20)]
    Random(1).shuffle(told)
    after = [seen(200 + at, f"new-{agent}", ok) for at, (agent, ok) in enumerate(told)]
    fall = changes_in([*before, *after]).fall
    assert fall is not None
    return fall.suspects


def test_a_suspect_of_many_needs_more_than_its_own_p_value() -> None:
    first, *others = suspects(AGENTS)
    assert (first.value, first.comparison.verdict) == ("new-0", "lower")
    # Holm's first step: the least of m p-values, times m.
    assert first.p_value == AGENTS * first.comparison.p_value
    assert first.comparison.p_value < SIGNIFICANT <= first.p_value
    assert not any(one.significant for one in (first, *others))


def test_significant_means_the_raised_p_value_too() -> None:
    comparison: Comparison = suspects(AGENTS)[0].comparison
    assert comparison.verdict == "lower" and comparison.p_value < SIGNIFICANT
    chance = Suspect("agent", "new-0", 200, comparison, SIGNIFICANT, ())
    assert not chance.significant and chance.to_json()["significant"] is False
    sure = Suspect("agent", "new-0", 200, comparison, SIGNIFICANT / 2, ())
    assert sure.significant and sure.to_json()["significant"] is True
