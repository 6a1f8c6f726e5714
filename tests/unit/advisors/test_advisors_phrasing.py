"""A model may phrase: whatever it adds of its own is found, and its text then not used."""

from __future__ import annotations

import pytest
from advisor_samples import Known, reflected, shop

from dcf.advisors.reflector.phrasing import additions, phrased

FACTS = (
    '{"when": "task_type = pay", "prefer": "skill.shop.pay@2.0.0", '
    '"why": "skill.shop.pay@2.0.0 succeeded in 90% of 60 outcomes, '
    'skill.shop.pay@1.0.0 in 40% of 60 outcomes; Bank.Refused"}'
)


@pytest.mark.parametrize(
    "text",
    [
        "For pay use skill.shop.pay@2.0.0: it succeeded in 90% of 60 outcomes.",
        "Prefer `skill.shop.pay@2.0.0`. The other succeeded in 40% only.",
        "When it fails, it is with Bank.Refused.",
    ],
)
def test_what_is_there_may_be_said(text: str) -> None:
    assert additions(text, FACTS) == ()


@pytest.mark.parametrize(
    ("text", "added"),
    [
        ("It succeeded in 95% of cases.", ("95",)),
        ("It is twice as good.", ("twice",)),
        ("Use skill.shop.pay@3.0.0.", ("skill.shop.pay@3.0.0",)),
        ("Ask Alice about it.", ("Ask", "Alice")),
        ("Stripe was down.", ("Stripe",)),
        ("See https://evil.example.com/x", ("See", "evil.example.com/x")),
        ("Run `rm -rf`.", ("Run", "`rm -rf`")),
        ("It took 9% of 60.", ("9",)),
    ],
)
def test_what_is_added_is_found(text: str, added: tuple[str, ...]) -> None:
    assert set(additions(text, FACTS)) >= set(added)


async def test_a_text_with_additions_is_not_used() -> None:
    insights = (await reflected(Known(shop(1, 61)))).insights
    told = "Prefer skill.shop.pay@2.0.0, which succeeded in 90% of 60 outcomes."

    async def honest(prompt: str) -> str:
        assert "skill.shop.pay@2.0.0 succeeded in 90% of 60 outcomes" in prompt
        return told

    async def boasting(prompt: str) -> str:
        return "Prefer skill.shop.pay@2.0.0, it never fails since Monday."

    assert await phrased(insights, honest) == (told, ())
    assert await phrased(insights, boasting) == (None, ("Monday",))
