"""``delivery-watch``: a loop that ends."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

WORKFLOW = "delivery-watch"


async def test_a_parcel_that_has_arrived_needs_one_look(play: Any) -> None:
    ended = await play(WORKFLOW, "delivery-arrived")

    assert ended.status == "succeeded"
    assert ended.output == {
        "status": "arrived",
        "order_id": "ORD-1002",
        "looks": 1,
        "report": "The parcel of ORD-1002 has arrived (look 1 of 3).",
    }
    assert ended.effects == {"track_shipment": 1}


async def test_a_late_parcel_is_looked_for_as_often_as_planned_with_pauses(play: Any) -> None:
    ended = await play(WORKFLOW, "delivery-late")

    assert ended.status == "succeeded"
    assert ended.output == {
        "status": "on_its_way",
        "order_id": "ORD-1003",
        "looks": 3,
        "days_late": 4,
        "report": "The parcel of ORD-1003 is still in_transit after 3 looks, 4 days late. "
        "CUST-1003 was told by email.",
    }
    looks = [call.at for call in ended.calls if call.tool == "track_shipment"]
    assert len(looks) == 3
    assert all(later - earlier >= 1.0 for earlier, later in itertools.pairwise(looks))
    assert ended.called("notify_customer") == [
        {"customer_id": "CUST-1003", "order_id": "ORD-1003", "event": "parcel_late"}
    ]


async def test_each_round_is_kept_as_a_visit_of_its_own(play: Any) -> None:
    value = {"order_id": "ORD-1003", "customer_id": "CUST-1003", "looks": 3, "pause_seconds": 0}

    ended = await play(WORKFLOW, value, "rounds-as-visits")

    states = ended.folder / "control_plane" / "states"
    assert {file.stem for file in states.glob("Look*.json")} == {"Look", "Look@1", "Look@2"}
    assert ended.file("control_plane/states/Look.json")["visit"] == 3


async def test_a_lost_parcel_ends_the_watch_at_once(play: Any) -> None:
    ended = await play(WORKFLOW, "delivery-lost")

    assert (ended.status, ended.error) == ("failed", "ParcelLost")
    assert ended.cause == (
        "the parcel of ORD-1004 is lost and 12 days late; somebody has to send a new one or the "
        "money"
    )
    assert ended.effects == {"track_shipment": 1, "notify_customer": 1}


@pytest.mark.parametrize(("patience", "status"), [(3, "failed"), (4, "succeeded")])
async def test_patience_decides_when_late_means_lost(play: Any, patience: int, status: str) -> None:
    value = {
        "order_id": "ORD-1003",
        "customer_id": "CUST-1003",
        "looks": 1,
        "patience_days": patience,
    }

    ended = await play(WORKFLOW, value, f"patience-{patience}")

    assert ended.status == status
