"""Who the run of a distributed Map is, and what selecting its items may cost."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from asl_builders import machine_of, parsed, react, run, visit_of

from dcf.asl import Entered, Failure, map_run, visit_identity
from dcf.asl.maps import map_items


def spread(**fields: Any) -> dict[str, Any]:
    processor = {
        **machine_of(P={"Type": "Pass", "End": True}),
        "ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"},
    }
    return {"Type": "Map", "ItemProcessor": processor, **fields}


IDENTITIES = [
    visit_identity("run", ["M"], 1, {}),
    visit_identity("other", ["M"], 1, {}),
    visit_identity("run", ["N"], 1, {}),
    visit_identity("run", ["A", 0, "M"], 1, {}),
    visit_identity("run", ["A", 1, "M"], 1, {}),
    visit_identity("run", ["M"], 2, {}),
    visit_identity("run", ["M"], 1, {0: 1}),
]


def test_every_try_of_every_visit_has_a_run_of_its_own() -> None:
    state, visit = parsed(spread()), visit_of([1])
    ids = {map_run(state, replace(visit, identity=identity)).id for identity in IDENTITIES}
    assert len(ids) == len(IDENTITIES)


def test_the_run_follows_from_the_identity_alone() -> None:
    state, visit = parsed(spread()), visit_of([1])
    later = {"State": {"Name": "M", "EnteredTime": "2030-01-01T00:00:00Z", "RetryCount": 3}}
    around = {**later, "Map": {"Item": {"Index": 7}}}
    runs = {
        map_run(state, replace(visit, identity=IDENTITIES[0], context=context)).id
        for context in ({}, later, around)
    }
    assert len(runs) == 1


def test_maps_of_one_execution_have_runs_of_their_own() -> None:
    asked = {"Type": "Pass", "Parameters": {"id.$": "$$.Execution.Id"}, "End": True}
    inner = spread(End=True)
    inner["ItemProcessor"] = {**inner["ItemProcessor"], **machine_of(P=asked)}
    outer = {"Type": "Map", "ItemProcessor": machine_of(M=inner), "End": True}
    output = run(machine_of(A=outer), [[1], [2]]).output
    assert len({iteration[0]["id"] for iteration in output}) == 2


def test_selecting_all_items_at_once_has_one_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(map_items, "ITEMS_TIME_LIMIT_S", -1.0)
    selector = {"v.$": "$$.Map.Item.Value"}
    batched = spread(ItemSelector=selector, ItemBatcher={"MaxItemsPerBatch": 2})
    effect = react(batched, [1, 2], Entered())
    assert isinstance(effect, Failure)
    assert effect.error == "States.Runtime"
    assert effect.cause is not None
    assert "takes too long" in effect.cause
