"""``market-research``: topics and sources side by side, and what happens when some of them fail.

Expected values are read off the cases in ``skills_src/tools/research.tools.yaml``.
"""

from __future__ import annotations

from typing import Any

WORKFLOW = "market-research"
DESK_FACTS = [
    {"statement": "Standing desks grew by eleven percent", "confidence": 0.9},
    {"statement": "The median price is 449 euros", "confidence": 0.95},
    {"statement": "Buyers complain about the noise of motors first", "confidence": 0.6},
]
GENERAL_FACT = {"statement": "The market grew by four percent", "confidence": 0.7}
TREND_FACT = {"statement": "Leasing doubles every second year", "confidence": 0.5}


async def test_what_is_sure_is_published_and_the_rest_kept_back(play: Any) -> None:
    ended = await play(WORKFLOW, "research-office")

    assert ended.status == "succeeded"
    report = ended.output.pop("report").splitlines()
    desks = "standing desks: eleven percent growth at a median of 449 euros; quiet motors would "
    desks += "stand out."
    lamps = "What we found on brass lamps points to slow growth."
    assert ended.output == {
        "title": "Office furniture this spring",
        "topics": [
            {
                "topic": "standing desks",
                "published": True,
                "summary": desks,
                "facts": 5,
                "prices": "from 39900 cents EUR",
                "unread": [],
                "text": f"{desks} [published; 5 facts, prices from 39900 cents EUR]",
            },
            {
                "topic": "brass lamps",
                "published": False,
                "summary": lamps,
                "facts": 1,
                "prices": "from 7900 cents EUR",
                "unread": [],
                "text": f"{lamps} [kept back: verdict review; 1 facts, prices from 7900 cents EUR]",
            },
        ],
        "published_count": 1,
        "unread": [],
    }
    assert report[0].startswith("Office furniture this spring (")
    assert report[1] == "1 of 2 topics were published."
    assert report[3] == "Sources that could not be read: []"
    assert ended.effects == {
        "search_sources": 2,
        "competitor_prices": 2,
        "fetch_document": 4,
        "extract_facts": 4,
        "summarize_findings": 2,
        "publish_report": 1,
    }


async def test_the_facts_of_all_pages_come_together_in_the_order_of_trust(play: Any) -> None:
    ended = await play(WORKFLOW, "research-office")

    by_topic = {call["topic"]: call["facts"] for call in ended.called("summarize_findings")}
    assert by_topic["standing desks"] == [*DESK_FACTS, GENERAL_FACT, TREND_FACT]


async def test_the_team_is_the_audience_when_the_input_names_none(play: Any) -> None:
    ended = await play(WORKFLOW, "research-office")

    assert [call["audience"] for call in ended.called("publish_report")] == ["team"]


async def test_a_source_that_fails_is_named_and_costs_only_itself(play: Any) -> None:
    ended = await play(WORKFLOW, "research-broken-sources")

    assert ended.status == "succeeded"
    desks, chairs = ended.output["topics"]
    assert desks["facts"] == 5
    assert desks["unread"] == [
        "https://example.com/broken-page (HostBroken)",
        "https://example.net/unreachable (States.HeartbeatTimeout)",
    ]
    assert chairs["facts"] == 0
    assert chairs["prices"] == "not known"
    assert chairs["unread"] == ["https://example.com/subscribers-only (AccessDenied)"]
    assert ended.output["unread"] == desks["unread"] + chairs["unread"]
    assert ended.output["report"].splitlines()[-1] == (
        "Sources that could not be read: "
        '["https://example.com/broken-page (HostBroken)",'
        '"https://example.net/unreachable (States.HeartbeatTimeout)",'
        '"https://example.com/subscribers-only (AccessDenied)"]'
    )
    # A broken host is asked once more; one that wants money or says nothing is not.
    assert ended.refusals == {
        ("fetch_document", "HostBroken"): 2,
        ("fetch_document", "HostTimeout"): 1,
        ("fetch_document", "AccessDenied"): 1,
        ("competitor_prices", "ProductNotTracked"): 1,
        ("publish_report", "ApprovalMissing"): 1,
    }


async def test_nothing_is_published_for_the_public_without_approval(play: Any) -> None:
    ended = await play(WORKFLOW, "research-broken-sources")

    assert ended.refusals["publish_report", "ApprovalMissing"] == 1
    assert ended.output["published_count"] == 0
    assert "[kept back: not approved for public;" in ended.output["topics"][0]["text"]


async def test_a_busy_search_is_asked_again(play: Any) -> None:
    # With this run id the search refuses the first try.
    ended = await play(WORKFLOW, "research-flaky-search", "research-flaky-1")

    assert ended.status == "succeeded"
    assert ended.output["topics"][0]["facts"] == 2
    assert ended.refusals == {("search_sources", "SearchBusy"): 1}
    assert ended.effects["search_sources"] == 1
