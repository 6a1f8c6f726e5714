"""``support-ticket``: the way each kind of ticket takes, and what the customer reads.

Expected values are read off the cases in ``skills_src/tools/support.tools.yaml``.
"""

from __future__ import annotations

from typing import Any

WORKFLOW = "support-ticket"
ANSWERED = {
    "get_ticket": 1,
    "classify_ticket": 1,
    "lookup_customer": 1,
    "list_orders": 1,
    "search_articles": 1,
    "draft_reply": 1,
    "send_reply": 1,
}


async def test_a_refund_within_the_limit_is_paid_and_explained(play: Any) -> None:
    ended = await play(WORKFLOW, "ticket-refund")

    reply = (
        "Dear Ada Brandt, thank you for writing. We are giving you back 12255 cents EUR. "
        "Money goes back to the card you paid with. It takes three to five working days. "
        "Kind regards, the support desk"
    )
    assert ended.status == "succeeded"
    assert ended.output == {
        "status": "answered",
        "ticket_id": "TCK-101",
        "category": "refund",
        "message_id": "MSG-DRF-TCK-101",
        "reply": reply,
        "report": "Ticket TCK-101 (refund, high) was answered.\n"
        "Done: refund REF-ORD-1001 of 12255 cents EUR\n"
        f"Sent as MSG-DRF-TCK-101: {reply}",
    }
    assert ended.called("refund_payment") == [
        {
            "order_id": "ORD-1001",
            "amount_cents": 12255,
            "currency": "EUR",
            "reason": "Table arrived damaged",
        }
    ]
    assert ended.effects == ANSWERED | {"refund_payment": 1, "update_ticket": 1}


async def test_a_late_parcel_is_looked_for_and_its_delay_named(play: Any) -> None:
    ended = await play(WORKFLOW, "ticket-late-parcel")

    assert ended.status == "succeeded"
    assert ended.output["reply"] == (
        "Dear Tomas Vega, thank you for writing. Your parcel is 4 days late. "
        "The tracking page shows where your parcel is. After ten days we send a new one. "
        "Kind regards, the support desk"
    )
    assert ended.effects == ANSWERED | {"track_shipment": 1}


async def test_a_question_about_an_account_gets_the_article(play: Any) -> None:
    ended = await play(WORKFLOW, "ticket-locked-out")

    assert ended.status == "succeeded"
    assert ended.output["category"] == "account"
    assert ended.output["reply"] == (
        "Dear Robin Example, thank you for writing. Ask for a new link on the sign-in page. "
        "Old passwords stop working at once. Kind regards, the support desk"
    )
    assert ended.effects == ANSWERED


async def test_a_legal_threat_goes_to_people_and_the_customer_hears_of_it(play: Any) -> None:
    ended = await play(WORKFLOW, "ticket-legal")

    assert ended.status == "succeeded"
    assert ended.output == {
        "status": "escalated",
        "ticket_id": "TCK-104",
        "category": "legal",
        "escalation": {
            "escalation_id": "ESC-TCK-104",
            "team": "legal",
            "answer_within_minutes": 60,
        },
        "message_id": "MSG-DRF-TCK-104",
        "reply": "Dear customer, thank you for writing. Our legal team writes to you within "
        "60 minutes. Kind regards, the support desk",
        "report": "Ticket TCK-104 (legal, urgent) went to the legal team as ESC-TCK-104. "
        "They answer within 60 minutes; the customer knows.",
    }
    assert [call.tool for call in ended.calls] == [
        "get_ticket",
        "classify_ticket",
        "escalate_ticket",
        "draft_reply",
        "send_reply",
    ]


async def test_the_team_has_two_seconds_before_the_customer_hears_of_it(play: Any) -> None:
    ended = await play(WORKFLOW, "ticket-legal")

    moments = {call.tool: call.at for call in ended.calls}
    assert moments["draft_reply"] - moments["escalate_ticket"] >= 2.0


async def test_a_busy_mail_server_is_asked_again_and_sends_once(play: Any) -> None:
    # With this run id the mail server refuses the first try.
    ended = await play(WORKFLOW, "ticket-flaky-mail", "ticket-flaky-1")

    assert ended.status == "succeeded"
    assert ended.output["message_id"] == "MSG-DRF-TCK-701"
    assert ended.effects == ANSWERED
    assert ended.refusals == {("send_reply", "MailServerBusy"): 1}


async def test_a_ticket_that_does_not_exist_fails_with_its_number(play: Any) -> None:
    ended = await play(WORKFLOW, "ticket-unknown")

    assert (ended.status, ended.error) == ("failed", "NoSuchTicket")
    assert ended.cause == "there is no ticket TCK-404"
    assert not ended.effects
