"""``order-processing``: what comes out, and what was done at the tools, for each of its inputs.

Expected values are read off the cases in ``skills_src/tools`` and the input files.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from typing import Any

WORKFLOW = "order-processing"
# What a shipped order of one line does at the tools, each thing once.
SHIPPED = {
    "validate_order": 1,
    "calculate_price": 1,
    "apply_discount": 1,
    "charge_payment": 1,
    "quote_shipping": 1,
    "create_shipment": 1,
    "notify_customer": 1,
}


def lines(count: int) -> dict[str, int]:
    """What holding ``count`` lines does."""
    return {"check_inventory": count, "reserve_inventory": count}


def line(number: int, order_id: str, quantity: int, sku: str, warehouse: str) -> dict[str, Any]:
    return {
        "line": number,
        "held": True,
        "sku": sku,
        "quantity": quantity,
        "warehouse_id": warehouse,
        "reservation_id": f"RES-{order_id}",
        "text": f"{quantity} x {sku} from {warehouse}",
    }


async def test_a_normal_order_is_shipped_and_has_a_receipt(play: Any) -> None:
    ended = await play(WORKFLOW, "order-normal")

    assert ended.status == "succeeded"
    output = ended.output
    tracking = output["shipment"].pop("tracking_number")
    assert re.fullmatch(r"TRK\d{6}", tracking)
    report = output.pop("report").splitlines()
    assert output == {
        "status": "shipped",
        "order_id": "ORD-1001",
        "lines": [
            line(1, "ORD-1001", 1, "TABLE-OAK", "WH-NORTH"),
            line(2, "ORD-1001", 2, "LAMP-CLAY", "WH-NORTH"),
        ],
        "price": {
            "list_cents": 12900,
            "discount_cents": 645,
            "discount_rule": "5 percent for gold customers",
            "amount_cents": 12255,
            "currency": "EUR",
        },
        "payment_id": "PAY-ORD-1001",
        "shipment": {
            "carrier": "ParcelOne",
            "days": 2,
            "shipment_id": "SHP-ORD-1001",
            "shipment_status": "booked",
        },
        "told_by": "email",
    }
    assert report[:5] == [
        "Order ORD-1001 for CUST-1001 is on its way.",
        'Held: ["1 x TABLE-OAK from WH-NORTH","2 x LAMP-CLAY from WH-NORTH"]',
        "Paid: 12255 cents EUR with payment PAY-ORD-1001, "
        "discount 645 cents (5 percent for gold customers)",
        f"Parcel: SHP-ORD-1001 with ParcelOne, about 2 days, tracking number {tracking}",
        "Customer told by: email",
    ]
    assert re.fullmatch(r"Run order-processing-order-normal of \d{4}-\d\d-\d\dT.*Z", report[5])
    assert ended.effects == SHIPPED | lines(2)
    assert not ended.refusals


async def test_the_price_after_the_discount_is_what_is_charged(play: Any) -> None:
    ended = await play(WORKFLOW, "order-normal")

    assert ended.called("charge_payment") == [
        {
            "order_id": "ORD-1001",
            "customer_id": "CUST-1001",
            "amount_cents": 12255,
            "currency": "EUR",
        }
    ]


async def test_the_demo_order_has_one_slow_call_and_it_books_one_parcel(play: Any) -> None:
    ended = await play(WORKFLOW, "order-demo")

    assert ended.status == "succeeded"
    assert ended.output["status"] == "shipped"
    assert ended.output["price"]["amount_cents"] == 12900
    assert [held["sku"] for held in ended.output["lines"]] == ["CHAIR-ASH", "LAMP-CLAY", "RUG-WOOL"]
    assert ended.effects == SHIPPED | lines(3)
    pauses = {call.tool: later.at - call.at for call, later in itertools.pairwise(ended.calls)}
    assert pauses["create_shipment"] >= 3.0
    assert max(pauses, key=pauses.__getitem__) == "create_shipment"


async def test_no_more_than_two_lines_are_in_work_at_once(play: Any) -> None:
    ended = await play(WORKFLOW, "order-demo")

    # A line is in work from its first call to its last.
    seen = [call.state.split("/")[0] for call in ended.calls if call.state.startswith("HoldItems")]
    spans = {name: (seen.index(name), len(seen) - seen[::-1].index(name)) for name in set(seen)}
    overlaps = [sum(start <= at < end for start, end in spans.values()) for at in range(len(seen))]
    assert len(spans) == 3
    assert max(overlaps) <= 2


async def test_a_declined_card_gives_everything_back_and_tells_the_customer(play: Any) -> None:
    ended = await play(WORKFLOW, "order-declined-card")

    assert ended.status == "succeeded"
    assert ended.output == {
        "status": "payment_declined",
        "order_id": "ORD-1010",
        "error": "CardDeclined",
        "undone": {"released": True, "cancelled": True},
        "told_by": "email",
        "report": "Order ORD-1010 was cancelled: the bank said CardDeclined. The items went back "
        "to the stock, nothing was charged, and CUST-4002 was told by email.",
    }
    assert ended.refusals == {("charge_payment", "CardDeclined"): 1}
    assert ended.called("release_inventory") == [{"order_id": "ORD-1010"}]
    assert ended.called("cancel_order") == [{"order_id": "ORD-1010", "reason": "CardDeclined"}]
    assert ended.called("notify_customer") == [
        {"customer_id": "CUST-4002", "order_id": "ORD-1010", "event": "order_cancelled"}
    ]
    assert "create_shipment" not in ended.effects


async def test_an_item_that_is_sold_out_fails_the_order_before_it_is_priced(play: Any) -> None:
    ended = await play(WORKFLOW, "order-sold-out")

    assert (ended.status, ended.error) == ("failed", "ItemsNotHeld")
    assert ended.cause == 'not every line could be held: ["LAMP-BRASS: SoldOut"]'
    assert ended.effects == {
        "validate_order": 1,
        "check_inventory": 2,
        "reserve_inventory": 1,
        "release_inventory": 1,
        "cancel_order": 1,
        "notify_customer": 1,
    }


async def test_nothing_is_held_any_more_when_an_order_is_given_up(play: Any) -> None:
    ended = await play(WORKFLOW, "order-sold-out")

    last_hold = max(call.at for call in ended.calls if call.tool == "reserve_inventory")
    release = min(call.at for call in ended.calls if call.tool == "release_inventory")
    assert last_hold < release


async def test_a_parcel_that_cannot_be_booked_gives_the_money_back_first(play: Any) -> None:
    ended = await play(WORKFLOW, "order-carrier-on-strike")

    assert (ended.status, ended.error) == ("failed", "CarrierOnStrike")
    assert ended.refusals == {("create_shipment", "CarrierOnStrike"): 1}
    assert ended.called("refund_payment") == [
        {
            "order_id": "ORD-1008",
            "amount_cents": 11100,
            "currency": "GBP",
            "reason": "CarrierOnStrike",
        }
    ]
    undoing = [call.tool for call in ended.calls if call.at >= ended.calls[-4].at]
    assert undoing == ["refund_payment", "release_inventory", "cancel_order", "notify_customer"]


async def test_a_large_amount_waits_for_a_person_and_is_not_shipped(play: Any) -> None:
    ended = await play(WORKFLOW, "order-large-amount")

    assert ended.status == "succeeded"
    assert ended.output["status"] == "payment_in_review"
    assert ended.output["lines"] == [line(1, "ORD-1004", 1, "SOFA-GRAND", "WH-SOUTH")]
    assert ended.output["report"] == (
        "Order ORD-1004 waits: payment PAY-ORD-1004 over 130000 cents EUR is reviewed by a person. "
        "The items are held, nothing was shipped."
    )
    assert "create_shipment" not in ended.effects


async def test_an_order_without_items_is_refused_before_anything_happens(play: Any) -> None:
    ended = await play(WORKFLOW, "order-without-items")

    assert (ended.status, ended.error) == ("failed", "OrderRejected")
    assert ended.cause == "the order has no items"
    assert ended.effects == {"validate_order": 1}


async def test_a_gateway_that_breaks_leaves_the_order_to_a_person(play: Any) -> None:
    ended = await play(WORKFLOW, "order-payment-unclear")

    assert (ended.status, ended.error) == ("failed", "PaymentUnclear")
    assert ended.cause is not None
    assert ended.cause.startswith("ORD-1013 may have been charged (GatewayDown: ")
    assert ended.refusals == {("charge_payment", "GatewayDown"): 1}
    assert "release_inventory" not in ended.effects


async def test_busy_services_are_asked_again_until_they_answer_once(play: Any) -> None:
    # With this run id the first line's hold and the charge each fail at their first try.
    ended = await play(WORKFLOW, "order-flaky", "order-flaky-12")

    assert ended.status == "succeeded"
    assert ended.effects == SHIPPED | lines(2)
    assert ended.refusals == {
        ("reserve_inventory", "WarehouseBusy"): 1,
        ("charge_payment", "GatewayBusy"): 1,
    }
    assert ended.output["price"]["amount_cents"] == 11610
    assert ended.output["shipment"] == {
        "carrier": "HeavyHaul",
        "days": 6,
        "shipment_id": "SHP-ORD-7001",
        "tracking_number": "HH-ORD-7001",
        "shipment_status": "awaiting_appointment",
    }
    assert Counter(call.state for call in ended.calls)["ChargePayment"] == 2


async def test_a_very_large_quantity_is_left_to_a_person(play: Any) -> None:
    order = {
        "order_id": "ORD-1014",
        "customer_id": "CUST-1001",
        "items": [{"sku": "CHAIR-ASH", "quantity": 100}],
        "currency": "EUR",
        "address": {"city": "Kassel", "country": "DE"},
    }

    ended = await play(WORKFLOW, order, "large-quantity")

    assert (ended.status, ended.error) == ("failed", "ReviewNeeded")
    assert ended.effects == {"validate_order": 1}
