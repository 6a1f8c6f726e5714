"""What runs showed, through the tools and as resources: the cheap layer first, then the details."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from integration.mcp.platforms import Desk, desk_on
from integration.tools.conftest import serving_app
from mcp import Client
from mcp.shared.exceptions import MCPError

from dcf.mcp.agent_life import by_tool
from dcf.mcp.http_app import create_app
from dcf.memory import NewObservation, Observation, Origin
from dcf.search import count_tokens
from dcf.tools.serving import Guard

BY = by_tool("test")
PERSON = "the secret of those who approve"
BUSY = NewObservation(
    type="bugfix",
    title="Pay: a retry got over Busy",
    origin=Origin("run", "order-1", state="Pay"),
    project="/shop",
    workflow="orders",
    subtitle="Pay failed with Busy, and a later try succeeded.",
    facts=("Retry of Busy: up to 6 times, first after 1 s.",),
    concepts=("problem-solution",),
    note="the gateway of customer 4711",
)
ENDED = replace(
    BUSY,
    type="discovery",
    title="Sorry ended the run with NotPaid",
    subtitle="Nothing caught the error.",
    origin=Origin("run", "order-2", state="Sorry"),
    facts=(),
    concepts=("gotcha",),
)
BACK = replace(
    BUSY, title="Return: a retry got over Busy", workflow="returns", origin=Origin("run", "back-1")
)


@pytest.fixture
async def desk(redis_url: str, tmp_path: Path) -> AsyncIterator[Desk]:
    """A platform in whose memory three runs of two workflows left something, one after another."""
    async with desk_on(redis_url, tmp_path, approval_token=PERSON) as desk:
        memory = (await desk.platform.home()).memory
        now = round(desk.platform.clock() * 1000)
        for age, one in enumerate((BACK, ENDED, BUSY)):
            told = replace(one, at=now - (3 - age) * 3_600_000)
            await memory.observations.observe(one.origin, "1", told, by=BY)
        yield desk


async def there(desk: Desk) -> dict[str, Observation]:
    """By the first word of the title."""
    memory = (await desk.platform.home()).memory
    found = await memory.observations.list()
    return {one.title.partition(":")[0].partition(" ")[0]: one for one in found}


async def rows(desk: Desk, **arguments: object) -> list[str]:
    """The first words of the titles in the rows of a search."""
    answer = await desk.good("observations_search", **arguments)
    return [row.partition(": ")[2].partition(":")[0].split()[0] for row in answer["rows"]]


async def test_what_a_model_found_is_marked_in_every_layer(desk: Desk) -> None:
    memory = (await desk.platform.home()).memory
    (found,) = await memory.observations.add(replace(BUSY, title="Read it", extracted=True), by=BY)
    ids = [one.id for one in (found, (await there(desk))["Pay"])]
    answers = [
        await desk.good("observations_search"),
        await desk.good("observations_timeline", point=found.id),
        await desk.good("observations_change", action="pin", ids=ids),
    ]
    for answer in answers:
        (marked,) = [row for row in answer["rows"] if "by a model" in row]
        assert "Read it (by a model, run " in marked and len(answer["rows"]) > 1
    details = (await desk.good("observations_details", ids=ids))["observations"]
    assert [one["by_model"] for one in details] == [True, False]


async def test_rows_are_cheap_and_lead_to_the_details(desk: Desk) -> None:
    answer = await desk.good("observations_search", query="which run was not paid")
    row = answer["rows"][0]
    assert "discovery: Sorry ended the run with NotPaid (run " in row and len(answer["scores"]) > 0
    assert all(count_tokens(one) <= 40 for one in answer["rows"])
    around = await desk.good("observations_timeline", point=row.split()[0], each=2)
    assert [one.split(": ", 1)[1].split()[0] for one in around["rows"]] == [
        "Return:",
        "Sorry",
        "Pay:",
    ]
    (seen,) = (await desk.good("observations_details", ids=[row.split()[0]]))["observations"]
    assert "Nothing caught the error." in seen["text"]
    assert [one["source"] for one in seen["seen"]] == ["dcf://run/order-2/state/Sorry"]
    assert seen["uri"] == str((await there(desk))["Sorry"].citation)


async def test_no_model_is_told_what_a_run_was_given(desk: Desk) -> None:
    """It stands in the note, which people read."""
    ids = [one.id for one in (await there(desk)).values()]
    for name, arguments in {
        "observations_search": {"query": "customer 4711 gateway"},
        "observations_timeline": {"point": ids[0]},
        "observations_details": {"ids": ids},
    }.items():
        assert "4711" not in str(await desk.good(name, **arguments)), name


async def test_filters_and_pages_are_those_of_the_list(desk: Desk) -> None:
    assert await rows(desk) == ["Pay", "Sorry", "Return"]
    assert await rows(desk, workflow="returns") == ["Return"]
    assert await rows(desk, project="/elsewhere") == []
    assert await rows(desk, type="bugfix") == ["Pay", "Return"]
    assert await rows(desk, concept="gotcha") == ["Sorry"]
    assert await rows(desk, source_id="order-1") == ["Pay"]
    assert await rows(desk, during="2020") == []
    first = await desk.good("observations_search", limit=2)
    assert await rows(desk, limit=2, before=first["next_before"]) == ["Return"]
    assert (await desk.good("observations_search"))["next_before"] is None


@pytest.mark.parametrize(
    ("name", "arguments", "named"),
    [
        (
            "observations_search",
            {"type": "bugfx", "concept": "gotch", "during": "soon"},
            {"/type": "bugfix", "/concept": "gotcha", "/during": "2026-11"},
        ),
        ("observations_timeline", {"point": "soon"}, {"/point": "2026-11"}),
        ("observations_timeline", {"point": "2026-13-45"}, {"/point": "dcf://observation/ID"}),
    ],
)
async def test_what_is_wrong_is_said_at_the_arguments_with_what_is_right(
    desk: Desk, name: str, arguments: dict[str, object], named: dict[str, str]
) -> None:
    problems = (await desk.call(name, **arguments))["problems"]
    assert [one["path"] for one in problems] == list(named)
    assert all(wanted in one["hint"] for one, wanted in zip(problems, named.values(), strict=True))


@pytest.mark.parametrize(
    ("name", "arguments", "code", "said"),
    [
        ("observations_search", {"type": "bugfx"}, "memory_bad_choice", "did you mean bugfix?"),
        ("observations_search", {"during": "soon"}, "memory_bad_choice", "'soon' is no time"),
        ("observations_search", {"query": "x", "before": "1"}, "bad_arguments", "empty query"),
        ("observations_timeline", {"point": "nothing"}, "memory_bad_choice", "'nothing' is no obs"),
        ("observations_timeline", {"point": "2026-13-45"}, "memory_bad_choice", "and no time"),
        ("observations_details", {"ids": ["ffff"]}, "memory_unknown_observation", "ffff"),
        ("observations_details", {"ids": []}, "bad_arguments", "ids"),
        (
            "observations_change",
            {"action": "edit", "ids": ["a", "b"], "block": "x"},
            "bad_arguments",
            "texts_json: is required for edit; block: is not for edit; ids: one at a time",
        ),
        (
            "observations_change",
            {"action": "edit", "ids": ["a"], "texts_json": {"titel": "x"}},
            "bad_arguments",
            "titel",
        ),
        (
            "observations_change",
            {"action": "promote", "ids": ["a"]},
            "bad_arguments",
            "block: is required for promote; agent_id: is required",
        ),
        ("observations_change", {"action": "burn", "ids": ["a"]}, "bad_arguments", "action"),
    ],
)
async def test_what_is_wrong_is_said(
    desk: Desk, name: str, arguments: dict[str, object], code: str, said: str
) -> None:
    answer = await desk.call(name, **arguments)
    assert answer["error"].partition(":")[0] == code
    assert answer["status"] is None and said in str(answer)


async def test_forgetting_is_tried_first(desk: Desk) -> None:
    pay = (await there(desk))["Pay"]
    order = {"action": "forget", "ids": [pay.id.removeprefix("observation-")[:8]]}
    tried = await desk.good("observations_change", **order)
    assert (tried["status"], tried["way_back"]) == ("would_be_forgotten", None)
    assert "confirm" in tried["hint"] and "Pay" in tried["rows"][0]
    assert (await there(desk)).keys() == {"Pay", "Sorry", "Return"}
    done = await desk.good("observations_change", **order, confirm=True, reason="known by all")
    assert done["status"] == "forgotten" and done["way_back"].startswith("dcf memory rollback")
    assert (await there(desk)).keys() == {"Sorry", "Return"}
    (event, *_) = (await desk.good("read_memory_history"))["events"]
    assert (event["by"], event["reason"]) == ("user:mcp", "known by all")


async def test_what_fits_filters_is_forgotten_but_what_is_pinned(desk: Desk) -> None:
    rows = await there(desk)

    async def forget(which: dict[str, str], **more: object) -> dict[str, Any]:
        answer = await desk.call("observations_change", action="forget", which_json=which, **more)
        return dict(answer)

    wrong = str(await forget({"type": "decison", "during": "yesterweek"}))
    assert all(
        said in wrong for said in ("/which_json/type", "/which_json/during", "mean decision?")
    )
    assert (await forget({"colour": "red"}))["error"].startswith("bad_arguments")
    assert (await forget({}, confirm=True))["error"].startswith("bad_arguments")
    empty = await forget({"topic": " ", "workflow": "orders"}, confirm=True)
    assert empty["error"].startswith("bad_arguments") and "/topic" in str(empty)
    both = await forget({"topic": "bank"}, ids=[rows["Pay"].id], confirm=True)
    assert both["error"].startswith("memory_observations_ids")
    nothing = await forget({"topic": "zeppelin"}, confirm=True)
    assert (nothing["status"], nothing["count"], nothing["rows"]) == ("unchanged", 0, [])
    where = {"workflow": rows["Pay"].workflow}
    mine = {name for name, row in rows.items() if row.workflow == where["workflow"]}
    tried = await forget(where)
    assert (tried["status"], tried["count"]) == ("would_be_forgotten", len(mine)) and len(mine) > 1
    assert await there(desk) == rows
    pin = {"action": "pin", "ids": [rows["Pay"].id], "confirm": True, "approval_token": PERSON}
    await desk.good("observations_change", **pin)
    done = await forget(where, confirm=True, reason="old")
    assert (done["status"], done["count"]) == ("forgotten", len(mine) - 1)
    assert done["way_back"].startswith("dcf memory rollback")
    assert (await there(desk)).keys() == rows.keys() - (mine - {"Pay"})
    (event, *_) = (await desk.good("read_memory_history"))["events"]
    assert (event["by"], event["reason"]) == ("user:mcp", "old")


async def test_a_pin_an_edit_and_a_promotion_are_tried_and_done(desk: Desk) -> None:
    pay = (await there(desk))["Pay"]
    agent = await desk.good("create_agent", agent_name="ann", blocks_json={"project": ""})
    texts = {"subtitle": "The bank is slow at noon.", "facts": []}
    changes: list[dict[str, object]] = [
        {"action": "pin"},
        {"action": "edit", "texts_json": texts},
        {"action": "promote", "block": "project", "agent_id": agent["agent_id"]},
        {"action": "unpin"},
    ]
    before = pay
    for change, done in zip(changes, ("pinned", "edited", "promoted", "unpinned"), strict=True):
        tried = await desk.good("observations_change", ids=[pay.id], **change)
        assert tried["status"] == f"would_be_{done}"
        assert (await there(desk))["Pay"] == before, "nothing is changed by a trial"
        change |= {"confirm": True}
        if done != "unpinned":
            refused = await desk.call("observations_change", ids=[pay.id], **change)
            assert refused["error"].startswith("approval_forbidden")
            assert (await there(desk))["Pay"] == before, "agents would be told it"
        change |= {"approval_token": PERSON}
        answer = await desk.good("observations_change", ids=[pay.id], **change)
        assert answer["status"] == done and answer["rows"]
        again = await desk.good("observations_change", ids=[pay.id], **change)
        assert again["status"] == "unchanged"
        before = (await there(desk))["Pay"]
    assert (before.pinned, before.subtitle, before.facts) == (False, texts["subtitle"], ())
    block = await desk.good("read_memory_block", agent_id=agent["agent_id"], label="project")
    assert "The bank is slow at noon." in block["value"] and str(pay.citation) in block["value"]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_clients_read_tools_and_resources_over_http(desk: Desk, mode: str) -> None:
    app = create_app(desk.platform, Guard(token=None))
    async with serving_app(app) as url, Client(f"{url}/mcp", mode=mode) as client:
        answer = (await client.call_tool("observations_search", {})).structured_content
        assert answer is not None and answer["error"] is None
        id_ = answer["rows"][0].split()[0]
        listed = (await client.list_resources()).resources
        (index,) = [one.uri for one in listed if one.uri.startswith("dcf://")]
        (content,) = (await client.read_resource(index)).contents
        assert all(row in content.text for row in answer["rows"])
        (content,) = (await client.read_resource(f"dcf://observation/{id_}")).contents
        assert BUSY.facts[0] in content.text and "dcf://run/order-1/state/Pay" in content.text
        assert "4711" not in content.text
        assert "Seen once of orders, newest first" in content.text
        for uri, said in {
            "dcf://observation/ffff": "memory_unknown_observation",
            "dcf://run/order-1": "dcf://observations lists",
            "dcf://nonsense": "dcf://observations lists",
        }.items():
            with pytest.raises(MCPError, match=said):
                await client.read_resource(uri)
