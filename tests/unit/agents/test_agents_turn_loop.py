"""A real model takes the same path: here a scripted one stands in for it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
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
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    ModelResponsePart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.usage import RequestUsage

from dcf.agents import Assignment, LocalRuntime, Report, TaskError, TurnEvent, UsageLimits
from dcf.tools import PermissionDenied, ToolTimeout, ToolUnavailable

SEARCH = a_tool("search", schema(("query",), query={"type": "string"}))
Say = Callable[[list[ModelMessage], AgentInfo], ModelResponse]


def call(tool: str, **arguments: Any) -> ToolCallPart:
    return ToolCallPart(tool, arguments)


def respond(*parts: ModelResponsePart) -> ModelResponse:
    return ModelResponse(parts=list(parts), usage=RequestUsage(input_tokens=10, output_tokens=3))


def model(say: Say) -> FunctionModel:
    async def turn(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return say(messages, info)

    return FunctionModel(turn, model_name="scripted")


def script(*responses: ModelResponse) -> FunctionModel:
    remaining = iter(responses)
    return model(lambda messages, info: next(remaining))


def returns(messages: list[ModelMessage]) -> list[Any]:
    requests = [message for message in messages if isinstance(message, ModelRequest)]
    parts = [part for request in requests for part in request.parts]
    return [part.content for part in parts if isinstance(part, ToolReturnPart)]


async def perform(
    scripted: FunctionModel, assignment: Assignment, server: Any, **options: Any
) -> Report:
    runtime = LocalRuntime(scripted, clock=StepClock(), **options)
    return await runtime.perform(assignment, server, unwatched)


def searching(query: str = "x") -> Assignment:
    return an_assignment(a_skill("web", SEARCH), task_input={"query": query})


async def test_a_model_may_try_again_after_an_error_envelope() -> None:
    def say(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        seen = returns(messages)
        if not seen:
            return respond(call("search", query="too long"))
        if seen[-1] == {"status": "error", "error": {"code": "E.Long", "message": "shorten it"}}:
            return respond(call("search", query="short"))
        return respond(call("report_result", data=seen[-1], summary="Found it."))

    server = ToolServer(
        {"search": lambda a: failed("E.Long", "shorten it") if len(a["query"]) > 5 else ["hit"]}
    )
    report = await perform(model(say), searching(), server)
    assert server.calls == [("search", {"query": "too long"}), ("search", {"query": "short"})]
    assert (report.data, report.summary, report.model) == (["hit"], "Found it.", "scripted")
    assert report.metrics["llm_calls"] == 3
    assert report.metrics["tool_calls"] == 2
    assert report.metrics["prompt_tokens"] == 30
    assert report.metrics["completion_tokens"] == 9
    assert report.metrics["total_tokens"] == 39
    assert report.metrics["estimated_cost_usd"] is None


async def test_a_model_says_what_is_missing_of_a_task_that_is_done_in_part() -> None:
    part = script(respond(call("report_result", data=[1], summary="One.", missing="the other")))
    report = await perform(part, searching(), ToolServer())
    assert (report.data, report.summary, report.missing) == ([1], "One.", "the other")
    whole = await perform(
        script(respond(call("report_result", data=[]))), searching(), ToolServer()
    )
    assert whole.missing == ""


async def test_a_rehearsal_and_a_model_that_does_the_same_are_told_the_same_way() -> None:
    rehearsed: list[TurnEvent] = []
    scripted: list[TurnEvent] = []
    same = script(respond(call("search", query="x")), respond(call("report_result", data={})))
    for runtime, told in (
        (LocalRuntime(clock=StepClock()), rehearsed),
        (LocalRuntime(same, clock=StepClock()), scripted),
    ):
        await runtime.perform(searching(), ToolServer(), told.append)
    assert rehearsed == scripted
    assert [event.kind for event in told] == [
        *("model_request", "model_response", "tool_call", "tool_result"),
        *("model_request", "model_response"),
    ]


async def test_a_model_is_told_its_orders_the_skills_the_task_and_its_input() -> None:
    heard: dict[str, Any] = {}

    def say(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        heard["instructions"] = info.instructions
        heard["prompt"] = repr(messages[0].parts)
        heard["tools"] = [(tool.name, tool.parameters_json_schema) for tool in info.function_tools]
        return respond(call("report_result", data={}))

    skill = a_skill("web", SEARCH, a_tool("extra", required=False), directives="Cite sources.")
    task = an_assignment(
        skill, task_input={"b": 1, "a": "ü"}, instructions="Look it up.", state="Look"
    )
    await perform(model(say), task, ToolServer())
    assert heard["instructions"].startswith("# Worker\n")
    assert heard["instructions"].endswith("## Skill web@1.0.0\n\nCite sources.")
    assert "Task: Look" in heard["prompt"]
    assert "Look it up." in heard["prompt"]
    assert '{"a": "ü", "b": 1}' in heard["prompt"]
    assert heard["tools"] == [("search", SEARCH.input_schema), ("extra", schema())]


async def test_a_bound_tool_is_the_only_one_offered() -> None:
    offered: list[str] = []

    def say(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        offered.extend(tool.name for tool in info.function_tools)
        return respond(call("report_result", data={}))

    task = an_assignment(a_skill("web", SEARCH, a_tool("fetch")), tool_name="fetch")
    await perform(model(say), task, ToolServer())
    assert offered == ["fetch"]


@pytest.mark.parametrize(
    ("text", "data"),
    [('{"a": 1}', {"a": 1}), ("[1]", [1]), ("Done.", "Done."), ("42", "42")],
)
async def test_a_plain_text_answer_is_a_result_too(text: str, data: Any) -> None:
    report = await perform(script(respond(TextPart(text))), searching(), ToolServer())
    assert report.data == data


async def test_a_model_can_end_its_task_as_failed() -> None:
    gives_up = script(respond(call("report_failure", error="NO_SOURCE", cause="nothing found")))
    with pytest.raises(TaskError) as failure:
        await perform(gives_up, searching(), ToolServer())
    assert (failure.value.error, failure.value.cause) == ("NO_SOURCE", "nothing found")


async def test_calls_of_one_response_are_made_one_after_another() -> None:
    running: list[str] = []
    order: list[str] = []

    class Slow(ToolServer):
        async def __call__(self, tool: Any, arguments: dict[str, Any]) -> Any:
            assert running == []
            running.append(arguments["query"])
            await asyncio.sleep(0)
            order.append(running.pop())
            return await super().__call__(tool, arguments)

    asks = [call("search", query=word) for word in ("a", "b", "c")]
    scripted = script(respond(*asks), respond(call("report_result", data={})))
    await perform(scripted, searching(), Slow())
    assert order == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("limits", "made"), [(UsageLimits(max_requests=3), 3), (UsageLimits(max_tool_calls=2), 2)]
)
async def test_a_model_that_goes_round_in_circles_is_stopped(
    limits: UsageLimits, made: int
) -> None:
    server = ToolServer()
    endless = model(lambda messages, info: respond(call("search", query="again")))
    with pytest.raises(TaskError) as failure:
        await perform(endless, searching(), server, limits=limits)
    assert failure.value.error == "DCF.LimitExceeded"
    assert f"({made} tool calls were made)" in failure.value.cause
    assert len(server.calls) == made


async def test_limits_hold_for_the_rehearsal() -> None:
    server = ToolServer()
    skill = a_skill("s", *(a_tool(f"t{number}") for number in range(3)))
    runtime = LocalRuntime(limits=UsageLimits(max_tool_calls=2))
    with pytest.raises(TaskError, match=r"DCF\.LimitExceeded"):
        await runtime.perform(an_assignment(skill), server, unwatched)
    assert len(server.calls) == 2


@pytest.mark.parametrize(("requests", "calls"), [(0, 1), (1, 0), (-1, -1)])
def test_limits_below_one_are_refused(requests: int, calls: int) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        UsageLimits(max_requests=requests, max_tool_calls=calls)


@pytest.mark.parametrize(
    ("raised", "error"),
    [
        (ToolTimeout("web", "search", 5.0), "DCF.ToolTimeout"),
        (ToolUnavailable("web", "http://localhost:1", "refused"), "DCF.ToolUnavailable"),
        (PermissionDenied("web", "search", "not granted", []), "DCF.PermissionDenied"),
    ],
)
@pytest.mark.parametrize("kind", ["rehearsal", "scripted"])
async def test_a_call_that_cannot_be_made_ends_the_task(
    kind: str, raised: Exception, error: str
) -> None:
    scripted = script(respond(call("search", query="x")))
    runtime = LocalRuntime() if kind == "rehearsal" else LocalRuntime(scripted)
    with pytest.raises(TaskError) as failure:
        await runtime.perform(searching(), ToolServer({"search": raised}), unwatched)
    assert (failure.value.error, failure.value.cause) == (error, str(raised))


def unfit(reason: str = "/query: 5 is not of type 'string'") -> PermissionDenied:
    said = f"the arguments do not fit the tool's schema: {reason}"
    return PermissionDenied("web", "search", said, [], rule="arguments.invalid")


async def test_a_model_may_correct_arguments_that_do_not_fit() -> None:
    def say(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        seen = returns(messages)
        if not seen:
            return respond(call("search", query=5))
        if seen[-1] == "hit":
            return respond(call("report_result", data=seen[-1]))
        assert seen[-1]["error"]["code"] == "DCF.PermissionDenied"
        assert "/query: 5 is not of type 'string'" in seen[-1]["error"]["message"]
        return respond(call("search", query="5"))

    server = ToolServer({"search": lambda a: unfit() if a["query"] == 5 else "hit"})
    report = await perform(model(say), searching(), server)
    assert (report.data, report.metrics["tool_calls"]) == ("hit", 2)


async def test_a_model_that_does_not_learn_from_its_mistakes_ends_its_task() -> None:
    server = ToolServer({"search": unfit()})
    scripted = model(lambda messages, info: respond(call("search", query=5)))
    with pytest.raises(TaskError, match=r"is not of type 'string'") as failure:
        await perform(scripted, searching(), server)
    assert failure.value.error == "DCF.PermissionDenied"
    assert len(server.calls) == 3


async def test_mistakes_in_a_row_are_counted_for_each_tool() -> None:
    wrong, right = call("search", query=5), call("search", query="x")
    calls = [wrong, wrong, right, wrong, wrong, right, call("report_result", data="done")]
    server = ToolServer({"search": lambda a: unfit() if a["query"] == 5 else "hit"})
    report = await perform(script(*map(respond, calls)), searching(), server)
    assert report.data == "done"


async def test_a_rehearsal_has_no_second_idea_and_fails_at_once() -> None:
    server = ToolServer({"search": unfit()})
    with pytest.raises(TaskError) as failure:
        await rehearse(searching(), server)
    assert (failure.value.error, failure.value.cause) == ("DCF.PermissionDenied", str(unfit()))
    assert len(server.calls) == 1


class LeaseLost(RuntimeError):
    """Stands for any exception of the worker's own."""


@pytest.mark.parametrize("raised", [LeaseLost("fenced off"), asyncio.CancelledError()])
async def test_an_exception_of_the_worker_passes_through_unchanged(raised: BaseException) -> None:
    with pytest.raises(type(raised)):
        await rehearse(searching(), ToolServer({"search": raised}))


async def test_cancelling_the_task_cancels_the_tool_call_in_flight() -> None:
    entered = asyncio.Event()
    ended: list[str] = []

    async def hangs(tool: Any, arguments: dict[str, Any]) -> Any:
        entered.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    runtime = LocalRuntime()
    working = asyncio.create_task(runtime.perform(searching(), hangs, unwatched))
    await entered.wait()
    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await working
    assert ended == ["cancelled"]
    assert working.cancelled()


async def test_a_deadline_around_the_task_is_a_timeout() -> None:
    async def hangs(tool: Any, arguments: dict[str, Any]) -> Any:
        await asyncio.Event().wait()

    runtime = LocalRuntime()
    await runtime.perform(an_assignment(), ToolServer(), unwatched)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await runtime.perform(searching(), hangs, unwatched)


async def test_a_model_that_cannot_be_reached_fails_the_task() -> None:
    def say(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        raise ModelHTTPError(status_code=503, model_name="scripted")

    with pytest.raises(TaskError, match=r"DCF\.ModelUnavailable.*503"):
        await perform(model(say), searching(), ToolServer())


async def test_a_model_that_calls_what_is_not_offered_fails_the_task() -> None:
    server = ToolServer()
    stray = model(lambda messages, info: respond(call("delete_everything")))
    with pytest.raises(TaskError, match=r"DCF\.ModelError"):
        await perform(stray, searching(), server)
    assert server.calls == []


async def test_an_unknown_model_name_fails_the_task() -> None:
    with pytest.raises(TaskError, match=r"DCF\.ModelNotConfigured.*nowhere"):
        await LocalRuntime("nowhere:model").perform(searching(), ToolServer(), unwatched)


async def test_assignments_run_side_by_side_on_one_runtime() -> None:
    runtime = LocalRuntime()

    async def one(number: int) -> Any:
        server = ToolServer({"search": lambda arguments: arguments["query"]})
        return (await runtime.perform(searching(f"q{number}"), server, unwatched)).data

    results = await asyncio.gather(*(one(number) for number in range(20)))
    assert results == [{"search": f"q{number}"} for number in range(20)]


async def test_agents_are_kept_apart_by_the_digests_of_their_skills() -> None:
    runtime = LocalRuntime()
    for number in range(70):
        skill = a_skill("s", a_tool(f"t{number}"))
        report = await runtime.perform(an_assignment(skill), ToolServer(), unwatched)
        assert list(report.data) == [f"t{number}"]


def test_a_task_error_survives_pickling() -> None:
    import pickle

    error = pickle.loads(pickle.dumps(TaskError("E", "why")))
    assert (error.error, error.cause, str(error)) == ("E", "why", "E: why")


async def test_a_report_can_be_written_as_json() -> None:
    report = await rehearse(searching(), ToolServer())
    assert json.loads(json.dumps(report.metrics)) == report.metrics
