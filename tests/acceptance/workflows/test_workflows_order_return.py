"""``order-return``: what counts is priced, shelved and paid back, up to a limit."""

from __future__ import annotations

from typing import Any

WORKFLOW = "order-return"


async def test_a_return_within_the_limit_is_paid_and_its_pieces_find_a_place(play: Any) -> None:
    ended = await play(WORKFLOW, "return-damaged-table")

    assert ended.status == "succeeded"
    assert ended.output == {
        "status": "refunded",
        "order_id": "ORD-1001",
        "refund_id": "REF-ORD-1001",
        "amount_cents": 12255,
        "shelves": [
            "1 x TABLE-OAK to the workshop",
            "1 x LAMP-CLAY to WH-NORTH",
            "2 x CHAIR-LEGACY to quarantine (InventoryUnavailable)",
        ],
        "report": "Return of ORD-1001: 3 of 4 lines count. 12255 cents EUR go back to CUST-1001 "
        "as REF-ORD-1001.\n"
        'Pieces: ["1 x TABLE-OAK to the workshop","1 x LAMP-CLAY to WH-NORTH",'
        '"2 x CHAIR-LEGACY to quarantine (InventoryUnavailable)"]',
    }
    assert ended.effects == {
        "lookup_customer": 1,
        "list_orders": 1,
        "calculate_price": 1,
        "apply_discount": 1,
        "check_inventory": 1,
        "refund_payment": 1,
        "update_ticket": 1,
        "notify_customer": 1,
    }
    assert ended.refusals == {("check_inventory", "InventoryUnavailable"): 2}


async def test_used_pieces_are_not_priced(play: Any) -> None:
    ended = await play(WORKFLOW, "return-damaged-table")

    priced = ended.called("calculate_price")[0]["items"]
    assert [item["sku"] for item in priced] == ["TABLE-OAK", "LAMP-CLAY", "CHAIR-LEGACY"]


async def test_an_amount_above_the_limit_ends_the_run_unpaid(play: Any) -> None:
    ended = await play(WORKFLOW, "return-over-limit")

    assert (ended.status, ended.error) == ("failed", "ApprovalNeeded")
    assert ended.cause == (
        "11100 cents GBP are above the 10000 cents that may be refunded to CUST-1002 without asking"
    )
    assert "refund_payment" not in ended.effects


async def test_only_used_pieces_mean_a_kind_no(play: Any) -> None:
    ended = await play(WORKFLOW, "return-all-used")

    assert ended.status == "succeeded"
    assert ended.output == {
        "status": "refused",
        "order_id": "ORD-1002",
        "report": "Return of ORD-1002: nothing counts, all pieces are used. "
        "CUST-1002 was told by text.",
    }
    assert ended.effects == {"notify_customer": 1}


async def test_an_unknown_customer_ends_all_branches(play: Any) -> None:
    ended = await play(WORKFLOW, "return-unknown-customer")

    assert (ended.status, ended.error) == ("failed", "UnknownCustomer")
    assert ended.cause == "there is no customer CUST-9999"
    assert "refund_payment" not in ended.effects


async def test_somebody_elses_order_is_not_refunded(play: Any) -> None:
    value = {
        "ticket_id": "TCK-204",
        "order_id": "ORD-1002",
        "customer_id": "CUST-1001",
        "currency": "EUR",
        "items": [{"sku": "LAMP-CLAY", "quantity": 1, "condition": "unused"}],
    }

    ended = await play(WORKFLOW, value, "not-their-order")

    assert (ended.status, ended.error) == ("failed", "NotTheirOrder")
    assert ended.cause == "ORD-1002 does not belong to CUST-1001"
    assert "refund_payment" not in ended.effects
