"""How a provider's answers reach the extraction: which of them stop it, and what they cost."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from integration.agents.wire_model import Drop, Refuse, Say, WireModel, serving_model
from memory_world import Numbered, Ticking

from dcf.agents import ModelAsker, extraction_asker
from dcf.agents.models import Models
from dcf.memory import Memory, Source
from dcf.memory.extraction import (
    HOUR_MS,
    AskDenied,
    AskFailed,
    AskPostponed,
    BudgetUsedUp,
    Limits,
    Prompt,
    Spending,
)

PROMPT = Prompt("4f1c", "You keep the notebook.", "What happened?")
ENV = {
    "DCF_MODEL": "openai:gpt-5-mini",
    "OPENAI_API_KEY": "sk-test-1",
    "DCF_MODEL_RETRIES": "0",
}


@pytest.fixture
async def spending(tmp_path: Path) -> AsyncIterator[Spending]:
    source = Source(tmp_path / "m.db")
    opened = Memory.open(source, clock=Ticking(), new_id=Numbered(), embedder="none")
    async with opened as memory:
        yield Spending(memory.ledger, Limits(hour_tokens=10_000))


def asker(spending: Spending, model: WireModel | None = None, **env: str) -> ModelAsker:
    known = ENV | env | ({"OPENAI_BASE_URL": model.url} if model else {})
    made = extraction_asker(Models(known), known, spending)
    assert made is not None
    return made


async def test_the_model_is_asked_within_the_budgets_and_at_its_price(spending: Spending) -> None:
    async with serving_model([Say("Nothing.", usage=(300, 40))]) as model:
        answer = await asker(spending, model).ask(PROMPT)
    assert (answer.text, answer.model) == ("Nothing.", "openai:gpt-5-mini")
    said = [(one["role"], one["content"]) for one in model.requests[0]["messages"]]
    assert said == [("system", PROMPT.system), ("user", PROMPT.user)]
    spent = await spending.within(HOUR_MS)
    # 0.25 and 2 US dollars for a million tokens.
    assert (spent.tokens, spent.requests) == (340, 1)
    assert spent.cost_usd == pytest.approx((300 * 0.25 + 40 * 2) / 1e6)


async def test_what_does_not_fit_in_the_budget_is_not_sent(spending: Spending) -> None:
    await spending.reserve("other", 9_000, None)
    async with serving_model([]) as model:
        with pytest.raises(BudgetUsedUp):
            await asker(spending, model).ask(PROMPT)
    assert model.requests == []


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (Refuse(401), AskDenied),
        (Refuse(404), AskDenied),
        (Refuse(429, code="insufficient_quota"), AskDenied),
        (Refuse(400), AskFailed),
        (Refuse(413), AskFailed),
        (Refuse(429), AskPostponed),
        (Refuse(500), AskPostponed),
        (Refuse(503), AskPostponed),
        (Drop(), AskPostponed),
    ],
)
async def test_what_a_refusal_comes_to(
    spending: Spending, answer: Refuse | Drop, error: type[Exception]
) -> None:
    async with serving_model([answer]) as model:
        with pytest.raises(error):
            await asker(spending, model).ask(PROMPT)


@pytest.mark.parametrize("seconds", [7, 900])
async def test_how_long_a_busy_provider_wants_to_be_left_alone(
    spending: Spending, seconds: int
) -> None:
    busy = Refuse(429, "slow down", headers={"retry-after": str(seconds)})
    async with serving_model([busy]) as model:
        with pytest.raises(AskPostponed) as postponed:
            await asker(spending, model).ask(PROMPT)
    assert postponed.value.asked_s == seconds
    # A request that was refused costs nothing, and is one of the minute.
    spent = await spending.within(HOUR_MS)
    assert (spent.tokens, spent.requests) == (0, 1)


def test_a_model_is_another_one_with_another_key_or_address(spending: Spending) -> None:
    same = asker(spending).identity
    assert asker(spending, DCF_MODEL_REFLECTOR="openai:gpt-5-mini").identity == same
    others = [
        asker(spending, OPENAI_API_KEY="sk-test-2").identity,
        asker(spending, OPENAI_BASE_URL="http://127.0.0.1:1/v1").identity,
        asker(spending, DCF_MODEL_REFLECTOR="openai:gpt-5").identity,
    ]
    assert len({same, *others}) == 4
    assert "sk-test" not in same


@pytest.mark.parametrize("name", ["", "rehearsal", "transcript:answers.jsonl", "soup"])
def test_what_finds_nothing_is_not_asked(spending: Spending, name: str) -> None:
    assert extraction_asker(Models(), {"DCF_MODEL": name}, spending) is None
