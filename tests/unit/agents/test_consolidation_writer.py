"""A consolidation has a model write: the role's, on its allowance, counted by its provider."""

from __future__ import annotations

import asyncio

import pytest
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.usage import RequestUsage

from dcf.agents import consolidation_writer
from dcf.agents.models import Bound, ModelBudgetExhausted, Models, Unlimited
from dcf.memory.consolidation import WriteFailed, Written


def model(*answers: ModelResponse | Exception) -> FunctionModel:
    left = list(answers)

    async def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        one = left.pop(0)
        if isinstance(one, Exception):
            raise one
        (part,) = messages[0].parts
        assert isinstance(part, UserPromptPart)
        assert part.content == "Shorten this!"
        assert info.model_settings is not None
        assert info.model_settings.get("max_tokens") == 50
        return one

    return FunctionModel(answer, model_name="scripted")


def said(text: str) -> ModelResponse:
    usage = RequestUsage(input_tokens=30, output_tokens=4)
    return ModelResponse(parts=[TextPart(text)], usage=usage)


def models() -> Models:
    async def at_once(_: float) -> None:
        await asyncio.sleep(0)

    return Models({}, sleep=at_once)


async def test_the_model_is_asked_once_and_its_tokens_are_counted() -> None:
    allowance = Unlimited()
    write = consolidation_writer(models(), {}, model=model(said("Short.")), allowance=allowance)
    assert write is not None
    assert await write("Shorten this!", 50) == Written("Short.", 34)
    assert [used.tokens for used in allowance.used] == [34]


async def test_a_failure_says_why_and_what_it_took() -> None:
    busy = [ModelHTTPError(400, "scripted")] * 9
    write = consolidation_writer(models(), {}, model=model(*busy))
    assert write is not None
    with pytest.raises(WriteFailed) as failed:
        await write("Shorten this!", 50)
    assert "scripted" in str(failed.value)


async def test_an_answer_that_was_cut_off_is_a_failure() -> None:
    cut = ModelResponse(
        parts=[TextPart("It goes on and")],
        usage=RequestUsage(input_tokens=30, output_tokens=50),
        finish_reason="length",
    )
    write = consolidation_writer(models(), {}, model=model(cut))
    assert write is not None
    with pytest.raises(WriteFailed) as failed:
        await write("Shorten this!", 50)
    assert failed.value.tokens == 80


async def test_an_allowance_that_is_used_up_stops_the_request() -> None:
    class Nothing(Unlimited):
        async def reserve(self, bound: Bound) -> str:
            raise ModelBudgetExhausted("nothing is left")

    write = consolidation_writer(models(), {}, model=model(), allowance=Nothing())
    assert write is not None
    with pytest.raises(WriteFailed, match="nothing is left") as failed:
        await write("Shorten this!", 50)
    assert failed.value.tokens == 0


@pytest.mark.parametrize("environment", [{}, {"DCF_MODEL": "rehearsal"}])
def test_the_rehearsal_writes_nothing(environment: dict[str, str]) -> None:
    assert consolidation_writer(Models(environment), environment) is None


def test_the_role_names_the_model() -> None:
    named = {"DCF_MODEL": "openai:x", "DCF_MODEL_REFLECTOR": "rehearsal"}
    assert consolidation_writer(Models(named), named) is None
    named = {"DCF_MODEL": "rehearsal", "DCF_MODEL_REFLECTOR": "openai:x"}
    assert consolidation_writer(Models(named), named) is not None
