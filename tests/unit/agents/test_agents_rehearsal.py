"""The rehearsal follows the declared tools, binds what it finds and says that it rehearsed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from agent_samples import (
    StepClock,
    ToolServer,
    a_skill,
    a_tool,
    an_assignment,
    failed,
    rehearse,
    schema,
    unwatched,
)
from campaigns import campaign
from hypothesis import given, settings
from hypothesis import strategies as st

from dcf.agents import LocalRuntime, TaskError, TurnEvent

STRING = {"type": "string"}
SEARCH = a_tool("search", schema(("query",), query=STRING))
FETCH = a_tool("fetch", schema(("url",), url=STRING))


async def test_required_tools_are_called_in_the_order_of_skills_and_declaration() -> None:
    server = ToolServer()
    skills = a_skill("one", a_tool("zeta"), a_tool("alpha")), a_skill("two", a_tool("mid"))
    report = await rehearse(an_assignment(*skills), server)
    assert [name for name, _ in server.calls] == ["zeta", "alpha", "mid"]
    assert list(report.data) == ["zeta", "alpha", "mid"]


async def test_the_result_holds_each_tools_result_under_its_declared_name() -> None:
    server = ToolServer({"search": {"hits": 2}, "fetch": "<html>"})
    task = an_assignment(a_skill("web", SEARCH, FETCH), task_input={"query": "x", "url": "u"})
    report = await rehearse(task, server)
    assert report.data == {"search": {"hits": 2}, "fetch": "<html>"}


async def test_optional_tools_are_not_called() -> None:
    server = ToolServer()
    report = await rehearse(an_assignment(a_skill("s", a_tool("extra", required=False))), server)
    assert server.calls == []
    assert report.data == {}
    assert report.summary == "Rehearsal: called no tools (none is required); no model was used"


async def test_a_bound_tool_is_called_alone_and_its_result_is_the_result() -> None:
    server = ToolServer({"fetch": [1, 2]})
    skill = a_skill("web", SEARCH, a_tool("fetch", required=False))
    report = await rehearse(an_assignment(skill, tool_name="fetch"), server)
    assert server.calls == [("fetch", {})]
    assert report.data == [1, 2]


async def test_a_bound_tool_may_be_named_as_its_server_names_it() -> None:
    server = ToolServer()
    skill = a_skill("web", a_tool("read", on_server="http_get"))
    await rehearse(an_assignment(skill, tool_name="http_get"), server)
    assert server.calls == [("read", {})]


async def test_tools_of_what_a_skill_needs_can_be_bound_and_are_else_not_rehearsed() -> None:
    task = replace(an_assignment(a_skill("web", SEARCH)), needed=(a_skill("files", FETCH),))
    server = ToolServer()
    await rehearse(replace(task, input={"query": "x", "url": "y"}), server)
    assert [name for name, _ in server.calls] == ["search"]
    server = ToolServer()
    await rehearse(replace(task, input={"url": "y"}, tool_name="fetch"), server)
    assert [name for name, _ in server.calls] == ["fetch"]


async def test_binding_an_undeclared_tool_is_denied_before_anything_is_called() -> None:
    server = ToolServer()
    with pytest.raises(TaskError) as denied:
        await rehearse(an_assignment(a_skill("web", SEARCH, FETCH), tool_name="delete"), server)
    assert denied.value.error == "DCF.PermissionDenied"
    assert denied.value.cause == (
        "tool 'delete' is not declared by the loaded skills (web@1.0.0); declared: search, fetch"
    )
    assert server.calls == []


async def test_later_tools_take_arguments_from_earlier_results_latest_first() -> None:
    server = ToolServer({"first": {"url": "old"}, "second": {"page": {"url": "new"}}})
    skill = a_skill("web", a_tool("first"), a_tool("second"), FETCH)
    await rehearse(an_assignment(skill), server)
    assert server.calls[-1] == ("fetch", {"url": "new"})


async def test_the_tasks_input_wins_over_earlier_results() -> None:
    server = ToolServer({"first": {"url": "result"}})
    skill = a_skill("web", a_tool("first"), FETCH)
    await rehearse(an_assignment(skill, task_input={"deep": {"url": "input"}}), server)
    assert server.calls[-1] == ("fetch", {"url": "input"})


@pytest.mark.parametrize(
    ("task_input", "had"),
    [
        ({"q": 1, "a": 2}, "the task's input has a, q"),
        ({"query": 5}, "the task's input has query"),
        ({}, "the task's input is an empty object"),
        ("hello", 'the task\'s input is "hello", not an object'),
        ({f"k{n:02}": n for n in range(30)}, "k18, k19, …"),
    ],
)
async def test_an_unbound_argument_names_tool_property_type_and_input(
    task_input: Any, had: str
) -> None:
    with pytest.raises(TaskError) as failure:
        await rehearse(an_assignment(a_skill("web", SEARCH), task_input=task_input), ToolServer())
    assert failure.value.error == "DCF.UnboundArgument"
    assert "'query' (string) of tool 'search'" in failure.value.cause
    assert had in failure.value.cause


async def test_a_tools_error_fails_the_task_under_its_own_name() -> None:
    server = ToolServer({"search": failed("Upstream.RateLimited", "slow down")})
    skill = a_skill("web", a_tool("search"), a_tool("fetch"))
    with pytest.raises(TaskError) as failure:
        await rehearse(an_assignment(skill), server)
    assert (failure.value.error, failure.value.cause) == ("Upstream.RateLimited", "slow down")
    assert [name for name, _ in server.calls] == ["search"]


async def test_data_that_looks_like_an_error_envelope_is_still_a_result() -> None:
    data = {"status": "error", "error": {"code": "E", "message": "m"}}
    report = await rehearse(an_assignment(a_skill("s", a_tool("t"))), ToolServer({"t": data}))
    assert report.data == {"t": data}


async def test_a_tool_of_two_skills_is_called_once() -> None:
    server = ToolServer()
    await rehearse(an_assignment(a_skill("a", a_tool("t")), a_skill("b", a_tool("t"))), server)
    assert server.calls == [("t", {})]


async def test_a_tool_that_any_skill_requires_is_called() -> None:
    server = ToolServer()
    optional, required = a_tool("t", required=False), a_tool("t")
    await rehearse(an_assignment(a_skill("a", optional), a_skill("b", required)), server)
    assert server.calls == [("t", {})]


async def test_the_same_name_on_two_servers_gives_two_results() -> None:
    skill = a_skill("s", a_tool("get", server="web"), a_tool("get", server="files"))
    report = await rehearse(an_assignment(skill), ToolServer())
    assert list(report.data) == ["get", "files.get"]


@pytest.mark.parametrize("name", ["report_result", "report_failure", "pages.search", "é" * 80])
async def test_any_declared_name_can_be_called(name: str) -> None:
    server = ToolServer()
    report = await rehearse(an_assignment(a_skill("s", a_tool(name), a_tool("ctx"))), server)
    assert list(report.data) == [name, "ctx"]


async def test_arguments_may_have_any_name() -> None:
    awkward = {"ctx": "a", "self": "b", "name": "c", "tool_args": "d", "x-y z": "e"}
    tool = a_tool("t", schema(tuple(awkward), **dict.fromkeys(awkward, STRING)))
    server = ToolServer()
    await rehearse(an_assignment(a_skill("s", tool), task_input=awkward), server)
    assert server.calls == [("t", awkward)]


async def test_the_report_says_what_was_taken_under_another_name() -> None:
    server = ToolServer({"ship": {"parcel": {"id": "P-1"}}, "label": "ok"})
    ship = a_tool("ship", schema(("shipping_address",), shipping_address={"type": "object"}))
    label = a_tool("label", schema(("sent_parcel",), sent_parcel={"type": "object"}))
    task = an_assignment(a_skill("s", ship, label), task_input={"address": {"city": "Ulm"}})
    report = await rehearse(task, server)
    assert server.calls == [
        ("ship", {"shipping_address": {"city": "Ulm"}}),
        ("label", {"sent_parcel": {"id": "P-1"}}),
    ]
    assert report.summary == (
        "Rehearsal: called 2 tools (ship, label); took 'address' for 'shipping_address' of ship; "
        "took 'parcel' for 'sent_parcel' of label; no model was used"
    )


async def test_the_report_says_that_it_was_a_rehearsal_and_cost_nothing() -> None:
    report = await rehearse(an_assignment(a_skill("s", a_tool("a"), a_tool("b"))), ToolServer())
    assert report.model == "rehearsal"
    assert report.summary == "Rehearsal: called 2 tools (a, b); no model was used"
    assert report.artifacts == []
    duration = report.metrics.pop("duration_ms")
    assert report.metrics == {
        "llm_calls": 0,
        "tool_calls": 2,
        "prompt_tokens": 0,
        "completion_tokens": 0,
        "total_tokens": 0,
        "estimated_cost_usd": 0.0,
    }
    assert duration is not None and duration > 0


async def test_every_step_is_told_in_order_with_its_time() -> None:
    told: list[TurnEvent] = []
    server = ToolServer({"b": failed("E")})
    skill = a_skill("s", a_tool("a"), a_tool("b"))
    with pytest.raises(TaskError):
        await LocalRuntime(clock=StepClock(0.25)).perform(an_assignment(skill), server, told.append)
    *told, last = told
    assert (last.kind, last.metrics and last.metrics["tool_calls"]) == ("stopped", 2)
    assert told == [
        TurnEvent("model_request", 250.0),
        TurnEvent("model_response", 500.0),
        TurnEvent("tool_call", 750.0, "a"),
        TurnEvent("tool_result", 1000.0, "a"),
        TurnEvent("model_request", 1250.0),
        TurnEvent("model_response", 1500.0),
        TurnEvent("tool_call", 1750.0, "b"),
        TurnEvent("tool_result", 2000.0, "b", "E"),
        TurnEvent("model_request", 2250.0),
        TurnEvent("model_response", 2500.0),
    ]


async def test_the_name_rehearsal_chooses_it_too() -> None:
    runtime = LocalRuntime("rehearsal")
    report = await runtime.perform(an_assignment(a_skill("s")), ToolServer(), unwatched)
    assert report.model == "rehearsal"


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)


@given(JSON_VALUES)
@settings(max_examples=60, deadline=None)
async def test_any_tool_result_arrives_unchanged(data: Any) -> None:
    report = await rehearse(an_assignment(a_skill("s", a_tool("t"))), ToolServer({"t": data}))
    assert report.data == {"t": data}
    assert repr(report.data) == repr({"t": data})


@pytest.mark.parametrize(
    "data",
    [
        {"kind": "image-url", "url": "https://example.org/a.png"},
        {"kind": "binary", "data": "AAAA", "media_type": "image/png"},
        {"kind": "tool-return", "return_value": 1},
        [{"kind": "document-url", "url": "https://example.org/a.pdf"}, "text"],
    ],
)
async def test_data_that_looks_like_a_content_part_arrives_unchanged(data: Any) -> None:
    report = await rehearse(an_assignment(a_skill("s", a_tool("t"))), ToolServer({"t": data}))
    assert report.data == {"t": data}


def reordered(value: Any, order: Any) -> Any:
    if isinstance(value, dict):
        members = list(value.items())
        order.shuffle(members)
        return {name: reordered(member, order) for name, member in members}
    return [reordered(item, order) for item in value] if isinstance(value, list) else value


@campaign(shares=3)
@given(
    task_input=st.dictionaries(st.sampled_from(["url", "query", "page", "site"]), JSON_VALUES),
    order=st.randoms(use_true_random=False),
)
@settings(max_examples=20, deadline=None)
async def test_the_same_assignment_gives_the_same_calls_and_report(
    share: int, task_input: dict[str, Any], order: Any
) -> None:
    skill = a_skill("web", SEARCH, FETCH)
    task_input = {**task_input, "defaults": {"query": "q", "url": "u"}}
    outcomes = []
    for variant in (task_input, task_input, reordered(task_input, order)):
        server = ToolServer()
        report = await rehearse(an_assignment(skill, task_input=variant), server)
        outcomes.append((server.calls, report))
    assert outcomes[0] == outcomes[1] == outcomes[2]
