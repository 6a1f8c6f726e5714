"""ItemBatcher: several items for one iteration."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from asl_builders import codes, enter, machine_of, run
from hypothesis import given
from hypothesis import strategies as st

from dcf.asl.maps.item_batcher import ItemBatcher
from dcf.asl.payload import size
from dcf.asl.scope import Scope, constant


def batching(batcher: dict[str, Any], **fields: Any) -> dict[str, Any]:
    processor = {
        **machine_of(P={"Type": "Pass", "End": True}),
        "ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"},
    }
    return {"Type": "Map", "ItemBatcher": batcher, "ItemProcessor": processor, **fields}


def test_a_batch_has_at_most_so_many_items() -> None:
    effect = enter(batching({"MaxItemsPerBatch": 2}), [1, 2, 3])

    assert (effect.count, effect.items) == (2, [{"Items": [1, 2]}, {"Items": [3]}])


def test_a_batch_has_at_most_so_many_bytes() -> None:
    # {"Items":["aaaa","bbbb"]} has 25 bytes, one more item would make it 32.
    effect = enter(batching({"MaxInputBytesPerBatch": 30}), ["aaaa", "bbbb", "cccc"])

    assert effect.items == [{"Items": ["aaaa", "bbbb"]}, {"Items": ["cccc"]}]


def test_no_comma_stands_before_the_first_item() -> None:
    # {"Items":[1,2]} has 15 bytes, {"Items":[1,2,3]} 17.
    effect = enter(batching({"MaxInputBytesPerBatch": 15}), [1, 2, 3, 4])

    assert effect.items == [{"Items": [1, 2]}, {"Items": [3, 4]}]


def test_zero_is_no_limit() -> None:
    batcher = {"MaxItemsPerBatch": 0, "MaxInputBytesPerBatch": 0}

    assert enter(batching(batcher), [1, 2, 3]).items == [{"Items": [1, 2, 3]}]


def test_an_item_too_large_for_any_batch_stands_alone() -> None:
    effect = enter(batching({"MaxInputBytesPerBatch": 20}), ["a", "b" * 50, "c"])

    assert effect.items == [{"Items": ["a"]}, {"Items": ["b" * 50]}, {"Items": ["c"]}]


def test_batch_input_is_put_beside_the_items() -> None:
    batcher = {"MaxItemsPerBatch": 1, "BatchInput": {"day.$": "$.day"}}

    effect = enter(batching(batcher, ItemsPath="$.xs"), {"xs": [1], "day": "Monday"})

    assert effect.items == [{"BatchInput": {"day": "Monday"}, "Items": [1]}]


def test_items_are_selected_before_they_are_grouped() -> None:
    selector = {"v.$": "$$.Map.Item.Value"}
    definition = machine_of(M=batching({"MaxItemsPerBatch": 2}, ItemSelector=selector, End=True))

    assert run(definition, [1, 2]).output == [{"Items": [{"v": 1}, {"v": 2}]}]


@pytest.mark.parametrize(
    ("fields", "limit"),
    [
        # Items are counted: a failed batch fails all of its items.
        ({"ToleratedFailureCount": 1}, 0),
        ({"ToleratedFailureCount": 3}, 1),
        ({"ToleratedFailurePercentage": 100}, 3),
    ],
)
def test_tolerated_items_are_counted_in_batches(fields: dict[str, int], limit: int) -> None:
    effect = enter(batching({"MaxItemsPerBatch": 2}, **fields), [1, 2, 3, 4, 5])

    assert (effect.count, effect.fail_limit) == (3, limit)


def test_limits_may_come_from_the_input() -> None:
    state = batching({"MaxItemsPerBatchPath": "$.n"}, ItemsPath="$.xs")

    assert enter(state, {"xs": [1, 2], "n": "1"}).count == 2


def test_limits_may_be_computed() -> None:
    state = {
        **batching({"MaxItemsPerBatch": "{% 1 + 1 %}", "BatchInput": "{% $states.input[0] %}"}),
        "QueryLanguage": "JSONata",
    }

    assert enter(state, [1, 2, 3]).items == [
        {"BatchInput": 1, "Items": [1, 2]},
        {"BatchInput": 1, "Items": [3]},
    ]


def test_a_batcher_has_a_limit() -> None:
    definition = machine_of(M=batching({"BatchInput": {}}, End=True))

    assert ("ASL_MISSING_FIELD", "/States/M/ItemBatcher") in codes(definition)


@pytest.mark.parametrize("limits", [{"MaxItemsPerBatch": -1}, {"MaxInputBytesPerBatch": 262_145}])
def test_a_limit_has_its_range(limits: dict[str, int]) -> None:
    assert [code for code, _ in codes(machine_of(M=batching(limits, End=True)))] == [
        "ASL_OUT_OF_RANGE"
    ]


@given(
    items=st.lists(st.text(max_size=9) | st.integers(), max_size=20),
    most=st.integers(1, 5),
    room=st.integers(12, 60),
)
def test_batches_hold_all_items_in_order_within_their_limits(
    items: list[Any], most: int, room: int
) -> None:
    batcher = ItemBatcher(constant(most), constant(room))

    batches = batcher.batches(Scope({}, {}, {}), items)

    assert [item for batch in batches for item in batch["Items"]] == items
    assert all(len(batch["Items"]) <= most for batch in batches)
    assert all(size(batch) <= room or len(batch["Items"]) == 1 for batch in batches)
    for batch, following in pairwise(batches):
        fuller = {"Items": [*batch["Items"], following["Items"][0]]}
        assert len(fuller["Items"]) > most or size(fuller) > room
