"""Random machines are valid, and end in the same way whatever is fast or slow."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from campaigns import campaign
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dcf import asl
from dcf.problem import has_errors
from dcf.simulation.behaviour import Behaviour
from dcf.simulation.machine_maker import MachineMaker
from dcf.simulation.oracle import canonical
from dcf.simulation.order import Order, interpret
from dcf.workflow import load


def _order(seed: int) -> Order:
    maker = MachineMaker(random.Random(seed))
    definition = maker.make()
    return Order(
        workflow_id="run",
        document=load(json.dumps(definition), file="random.asl.json"),
        input=maker.make_input(),
        sites=maker.sites,
        submit_at=0,
        cancel_at=None,
        redrives=0,
        redrivers=1,
    )


def _types(definition: dict[str, Any]) -> Iterator[str]:
    for state in definition["States"].values():
        yield state["Type"]
        for inner in [*state.get("Branches", []), state.get("ItemProcessor")]:
            if inner is not None:
                yield from _types(inner)


def _is_too_large(execution: asl.Execution) -> bool:
    """Whether any result was refused for its size."""
    found = (entry.value for entry in execution.trace if entry.moment in ("caught", "failed"))
    return any("size exceeding" in str(problem["Cause"]) for problem in found)


# A machine whose data grow in a loop takes a minute of processor time, as that of seed 64.
@pytest.mark.timeout(900)
@campaign(shares=5)
@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_every_machine_is_valid_and_ends(seed: int, share: int) -> None:
    order = _order(seed)
    assert not has_errors(asl.validate(order.document.definition))
    assert interpret(order).status in ("SUCCEEDED", "FAILED")


@pytest.mark.timeout(900)
@campaign(shares=5)
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32), rng=st.randoms(use_true_random=False))
def test_the_result_does_not_depend_on_who_is_faster(
    seed: int, rng: random.Random, share: int
) -> None:
    order = _order(seed)

    def other(behaviour: Behaviour) -> Behaviour:
        return replace(behaviour, seconds=rng.uniform(0, 1.5))

    shuffled = replace(order, sites={site: other(one) for site, one in order.sites.items()})
    one = interpret(order)
    # Data that loops let grow is refused in several branches, and the first one decides.
    assume(not _is_too_large(one))
    two = interpret(shuffled)
    assert (one.status, one.error, one.cause) == (two.status, two.error, two.cause)
    assert canonical(one.output) == canonical(two.output)


def test_all_eight_types_are_made() -> None:
    made = Counter(kind for seed in range(60) for kind in _types(_order(seed).document.definition))
    assert set(made) == {
        "Task", "Pass", "Choice", "Wait", "Succeed", "Fail", "Parallel", "Map",
    }  # fmt: skip
