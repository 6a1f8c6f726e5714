"""Real clients of providers against a model server on loopback."""

from __future__ import annotations

import json
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pytest
from integration.agents.wire_model import (
    Answer,
    Drop,
    Garble,
    Refuse,
    Say,
    WireModel,
    call,
    serving_model,
)
from pydantic import BaseModel
from pydantic_ai import Agent, TextContent
from pydantic_ai.models import Model

from dcf.agents.models import (
    Bound,
    ModelRefused,
    Models,
    ModelTimeout,
    ModelUnavailable,
    Tally,
    Unlimited,
    Used,
)

KEY = "sk-test-0123456789"


class Booked(Unlimited):
    """No budget either, and everything that was asked of it."""

    def __init__(self) -> None:
        super().__init__()
        self.bounds: list[Bound] = []

    async def reserve(self, bound: Bound) -> str:
        self.bounds.append(bound)
        return str(len(self.bounds))


class Desk:
    """Models at a wire server: ``waits`` are the seconds that were waited, without waiting."""

    def __init__(self, server: WireModel, **settings: str) -> None:
        self.server = server
        self.booked = Booked()
        self.waits: list[float] = []

        async def sleep(seconds: float) -> None:
            self.waits.append(seconds)

        environment = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": server.url}
        environment |= {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.url[: -len("/v1")]}
        self.models = Models({**environment, **settings}, sleep=sleep, random=lambda: 1.0)

    def model(self, name: str = "openai:gpt-5-mini", **options: Any) -> Model:
        return self.models.of(name, self.booked, **options)

    async def ask(self, name: str = "openai:gpt-5-mini", **options: Any) -> str:
        result = await Agent(self.model(name, **options)).run("How many?")
        return result.output


@pytest.mark.parametrize("name", ["openai:gpt-5-mini", "anthropic:claude-haiku-4-5"])
async def test_a_request_is_reserved_before_and_settled_by_the_providers_count(name: str) -> None:
    async with serving_model([Say("three", usage=(1000, 10), cached=400)]) as server:
        desk = Desk(server)
        assert await desk.ask(name) == "three"
    (bound,), (used,) = desk.booked.bounds, desk.booked.used
    assert bound.model == used.model == name
    assert (used.input_tokens, used.output_tokens, used.cached_tokens) == (1000, 10, 400)
    # In dollars for a million: 0.25 / 0.025 / 2 of the first, 1 / 0.1 / 5 of the second.
    costs = {"openai:gpt-5-mini": "0.00018", "anthropic:claude-haiku-4-5": "0.00069"}
    assert used.cost_usd == Decimal(costs[name])
    assert bound.tokens > 4096
    assert bound.cost_usd is not None
    assert not used.estimated


async def test_the_client_sends_key_limit_and_model_and_repeats_nothing_by_itself() -> None:
    async with serving_model([Refuse(500), Say("x")]) as server:
        desk = Desk(server, DCF_MODEL_MAX_TOKENS="77", DCF_MODEL_RETRIES="0")
        with pytest.raises(ModelUnavailable):
            await desk.ask()
        assert len(server.requests) == 1
        await desk.ask()
    assert server.headers[0]["authorization"] == f"bearer {KEY}".lower()
    assert server.requests[1]["model"] == "gpt-5-mini"
    assert 77 in (
        server.requests[1].get("max_completion_tokens"),
        server.requests[1].get("max_tokens"),
    )


async def test_a_compatible_server_is_told_the_limit_by_the_name_that_all_of_them_know() -> None:
    async with serving_model([Say("x")]) as server:
        settings = {"DCF_MODEL_BASE_URL": server.url, "DCF_MODEL_MAX_TOKENS": "77"}
        model = Models(settings).of("compatible:any", Tally())
        assert (await Agent(model).run("go")).output == "x"
    assert server.requests[0]["max_tokens"] == 77
    assert "max_completion_tokens" not in server.requests[0]


@pytest.mark.parametrize(
    "trouble", [Refuse(429), Refuse(500), Refuse(503), Refuse(529), Drop(), Garble()]
)
async def test_what_may_pass_is_repeated(trouble: Answer) -> None:
    async with serving_model([trouble, trouble, Say("at last")]) as server:
        desk = Desk(server)
        assert await desk.ask() == "at last"
    assert len(server.requests) == 3
    assert desk.waits == [0.5, 1.0]


@pytest.mark.parametrize(
    ("trouble", "said"),
    [
        (Refuse(400, "max_tokens is too large"), "max_tokens is too large"),
        (Refuse(401, "bad key"), "check its key"),
        (Refuse(403, "no access"), "check its key"),
        (Refuse(404, "no such model", code="model_not_found"), "check the model's name"),
        (Refuse(429, "pay first", code="insufficient_quota"), "nothing left"),
    ],
)
async def test_what_would_be_refused_again_is_not_repeated(trouble: Refuse, said: str) -> None:
    async with serving_model([trouble, Say("x")]) as server:
        desk = Desk(server)
        with pytest.raises(ModelRefused) as caught:
            await desk.ask()
    assert len(server.requests) == 1
    assert said in caught.value.cause
    assert "openai:gpt-5-mini" in caught.value.cause
    assert caught.value.error == "DCF.ModelRefused"
    assert KEY not in str(caught.value)


async def test_a_provider_that_says_the_key_which_it_was_given_is_not_repeated() -> None:
    async with serving_model([Refuse(401, f"{KEY} is no key of ours")]) as server:
        with pytest.raises(ModelRefused, match=r"OPENAI_API_KEY\] is no key") as caught:
            await Desk(server).ask()
    assert KEY not in str(caught.value)


async def test_the_provider_says_how_long_to_wait() -> None:
    busy = Refuse(429, "slow down", headers={"Retry-After": "7"})
    async with serving_model([busy, Say("x")]) as server:
        desk = Desk(server)
        await desk.ask()
    assert desk.waits == [7.5]


async def test_nobody_waits_beyond_the_end_of_the_task() -> None:
    busy = Refuse(429, "slow down", headers={"Retry-After": "60"})
    async with serving_model([busy, Say("x")]) as server:
        desk = Desk(server)
        with pytest.raises(ModelUnavailable, match="the task's time would be over"):
            await desk.ask(timeout_s=30)
    assert (len(server.requests), desk.waits) == (1, [])


async def test_after_the_last_repetition_the_task_fails_with_a_name_that_retry_matches() -> None:
    async with serving_model(lambda _: Refuse(503, "down for an hour")) as server:
        desk = Desk(server, DCF_MODEL_RETRIES="2")
        with pytest.raises(ModelUnavailable, match=r"503: down for an hour \(3 tries\)") as caught:
            await desk.ask()
    assert caught.value.error == "DCF.ModelUnavailable"
    assert len(server.requests) == 3


async def test_a_server_that_is_not_there_is_unavailable() -> None:
    async with serving_model([]) as server:
        pass
    desk = Desk(server, DCF_MODEL_RETRIES="1")
    with pytest.raises(ModelUnavailable, match="cannot be reached"):
        await desk.ask()
    # Nothing arrived: both reservations are given back.
    assert [used.tokens for used in desk.booked.used] == [0, 0]


async def test_a_slow_answer_ends_by_the_timeout_and_keeps_its_reservation() -> None:
    async with serving_model(lambda _: Say("x", after_s=5)) as server:
        desk = Desk(server, DCF_MODEL_TIMEOUT="0.2", DCF_MODEL_RETRIES="1")
        with pytest.raises(ModelTimeout, match=r"did not answer within 0.2 s \(2 tries\)"):
            await desk.ask()
    assert len(desk.booked.bounds) == 2
    assert desk.booked.used == []


async def test_a_task_without_time_asks_nobody() -> None:
    async with serving_model([Say("x")]) as server:
        desk = Desk(server)
        with pytest.raises(ModelTimeout, match="no time left"):
            await desk.ask(timeout_s=0)
    assert (server.requests, desk.booked.bounds) == ([], [])


@pytest.mark.parametrize(
    ("trouble", "billed"), [(Refuse(429), 0), (Refuse(503), 0), (Drop(), None)]
)
async def test_what_was_refused_costs_nothing_and_what_broke_off_may_have_cost(
    trouble: Answer, billed: int | None
) -> None:
    async with serving_model([trouble, Say("x")]) as server:
        desk = Desk(server)
        await desk.ask()
    failed: Sequence[Used] = desk.booked.used[:-1]
    assert [used.tokens for used in failed] == ([] if billed is None else [billed])
    assert len(desk.booked.bounds) == 2


async def test_a_server_that_does_not_count_is_charged_the_bound() -> None:
    async with serving_model([Say("x", usage=None)]) as server:
        desk = Desk(server)
        await desk.ask()
    (bound,), (used,) = desk.booked.bounds, desk.booked.used
    assert used.estimated
    assert (used.tokens, used.cost_usd) == (bound.tokens, bound.cost_usd)


async def test_the_count_of_the_last_request_bounds_the_next_one() -> None:
    script = [call("look", {"at": "x"}, usage=(50, 5)), Say("done", usage=(80, 5))]
    async with serving_model(script) as server:
        desk = Desk(server)
        agent = Agent(desk.model())

        @agent.tool_plain
        def look(at: str) -> str:
            """Look at something."""
            return at * 10

        await agent.run("A question of some length: " + "why? " * 200)
    first, second = desk.booked.bounds
    assert first.tokens - 4096 > 1000
    assert second.tokens - 4096 < 600 < first.tokens - 4096
    assert second.tokens - 4096 > 80


async def test_a_stream_is_reserved_settled_and_its_opening_repeated() -> None:
    async with serving_model([Refuse(429), Say("one two", usage=(30, 3))]) as server:
        desk = Desk(server)
        async with Agent(desk.model()).run_stream("go") as stream:
            assert await stream.get_output() == "one two"
    assert [(used.input_tokens, used.output_tokens) for used in desk.booked.used] == [
        (0, 0),
        (30, 3),
    ]
    assert desk.waits == [0.5]


async def test_any_compatible_server_is_named_by_its_address_and_the_name_of_its_key() -> None:
    async with serving_model([Say("x")]) as server:
        settings = {"DCF_MODEL_BASE_URL": server.url, "DCF_MODEL_KEY_NAME": "MY_KEY"}
        desk = Desk(server, **settings, MY_KEY="a-key-of-mine")
        await desk.ask("compatible:tiny")
    assert server.headers[0]["authorization"] == "bearer a-key-of-mine"
    (used,) = desk.booked.used
    # Nobody knows what it costs: that is not nothing.
    assert used.cost_usd is None


async def test_ollama_costs_nothing_and_needs_no_key() -> None:
    async with serving_model([Say("x")]) as server:
        desk = Desk(server, OLLAMA_BASE_URL=server.url)
        await desk.ask("ollama:qwen3")
    assert [used.cost_usd for used in desk.booked.used] == [0]


async def test_the_arguments_of_a_call_arrive_as_they_were_sent() -> None:
    async with serving_model([call("note", {"text": "ü"}), Say("done")]) as server:
        desk = Desk(server)
        agent = Agent(desk.model())
        heard = []

        @agent.tool_plain
        def note(text: str) -> str:
            """Note a text."""
            heard.append(text)
            return "ok"

        await agent.run("go")
    assert heard == ["ü"]
    assert json.dumps(server.requests[1]).count("call_1_0") == 2


@pytest.mark.parametrize("style", ["json_schema", "json_object"])
async def test_a_model_without_tool_calls_answers_within_a_schema_of_them(style: str) -> None:
    def step(tool: str, **arguments: Any) -> Say:
        return Say(json.dumps({"step": {"tool": tool, "arguments": arguments}}))

    class Found(BaseModel):
        """What was found."""

        grams: int

    async with serving_model([step("weigh", what="x"), step("final_result", grams=7)]) as server:
        desk = Desk(server, DCF_MODEL_TOOLS=style)
        agent = Agent(desk.model(), instructions="Be exact.", output_type=Found)

        @agent.tool_plain
        def weigh(what: str) -> int:
            """Weigh something."""
            return 7

        asked = ["Weigh x.", TextContent("How heavy?")]
        assert (await agent.run(asked)).output == Found(grams=7)
    first, second = server.requests
    form = first["response_format"]
    schema = form["schema"] if style == "json_object" else form["json_schema"]["schema"]
    assert form["type"] == style
    steps = schema["properties"]["step"]["anyOf"]
    assert [one["properties"]["tool"] for one in steps] == [
        {"const": "weigh"},
        {"const": "final_result"},
    ]
    assert "tools" not in first
    said = [message["content"] for message in second["messages"]]
    assert said[0].startswith("Be exact.") or said[0][0]["text"].startswith("Be exact.")
    assert "Weigh x.\n\nHow heavy?" in said, "chat templates of small models take no list of parts"
    assert said[-1] == "Result of weigh: 7"


async def test_an_answer_outside_the_schema_is_asked_for_again() -> None:
    good = json.dumps({"step": {"tool": "say", "arguments": {"text": "fine"}}})
    async with serving_model([Say('{"step": {"tool'), Say("Hello!"), Say(good)]) as server:
        desk = Desk(server, DCF_MODEL_TOOLS="json_object")
        assert await desk.ask() == "fine"
    assert len(server.requests) == 3


async def test_nobody_waits_for_ever_because_a_provider_asks_for_it() -> None:
    busy = Refuse(429, "slow down", headers={"Retry-After": "1000000000"})
    async with serving_model([busy, Say("three")]) as server:
        desk = Desk(server)
        with pytest.raises(ModelUnavailable, match="slow down; ask again in 1,000,000,000 s"):
            await desk.ask()
    assert (desk.waits, len(server.requests)) == ([], 1)


@pytest.mark.parametrize(
    "body", ['{"id": "c", "created": 1, "model": "m", "choices": []}', "[" * 9999]
)
async def test_an_answer_of_another_form_is_asked_for_again(body: str) -> None:
    head = '{"object": "chat.completion", '
    other = Garble(body.replace("{", head, 1), "application/json")
    async with serving_model([other, Say("three")]) as server:
        desk = Desk(server)
        assert await desk.ask() == "three"
    async with serving_model([other] * 5) as server:
        desk = Desk(server, DCF_MODEL_RETRIES="1")
        with pytest.raises(ModelUnavailable, match="answered what is no answer"):
            await desk.ask()


async def test_a_count_that_nothing_can_have_is_no_count() -> None:
    async with serving_model([Say("three", usage=(1 << 70, 1))]) as server:
        desk = Desk(server)
        assert await desk.ask() == "three"
    (bound,), (used,) = desk.booked.bounds, desk.booked.used
    assert used.estimated and used.tokens == bound.tokens


@pytest.mark.parametrize("name", ["openai:gpt-5-mini", "anthropic:claude-haiku-4-5"])
async def test_a_text_that_cannot_be_sent_is_refused_and_costs_nothing(name: str) -> None:
    async with serving_model([Say("three")]) as server:
        desk = Desk(server)
        with pytest.raises(ModelRefused, match="half a surrogate pair"):
            await Agent(desk.model(name)).run("How many \ud800?")
    assert (server.requests, [used.tokens for used in desk.booked.used]) == ([], [0])
