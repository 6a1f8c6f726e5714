"""What search found, quoted for a model: under its budget, with addresses that lead back."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from dcf.citation import parse_citation
from dcf.memory import Found, quote
from dcf.search import count_tokens

DAY = 86_400_000
texts = st.text(st.sampled_from("ab é日😀\n\t-.(#"), max_size=200) | st.text(max_size=60)


def found(kind: Any, text: str, **more: Any) -> Found:
    whole = {"ref": f"{kind}-1", "agent_id": "agent-1", "label": None, "score": 1.0, "words": 1.0}
    return Found(kind, text=text, near=0.0, similarity=None, **{**whole, "at": 0, **more})


def said(seq: int, text: str, **more: Any) -> Found:
    return found("message", text, **{"ref": f"message-{seq}", "seq": seq, "sender": "Ada", **more})


@st.composite
def anything(draw: st.DrawFn) -> Found:
    text, at = draw(texts), draw(st.integers(0, 40)) * DAY // 3
    match draw(st.integers(0, 3)):
        case 0:
            return found("passage", text, at=at)
        case 1:
            return found("block", text, label="human", at=at)
        case 2:
            return found("observation", text, ref="observation-12345678", agent_id=None, at=at)
        case _:
            agent = draw(st.sampled_from(["agent-1", "agent/2"]))
            return said(draw(st.integers(1, 99)), text, agent_id=agent, at=at)


@settings(max_examples=100, deadline=None)
@given(st.lists(anything(), max_size=25), st.integers(0, 400))
def test_no_quotation_costs_more_than_its_budget(every: list[Found], tokens: int) -> None:
    pack = quote(every, tokens)
    assert pack.tokens == (count_tokens(pack.text) if pack.text else 0)
    assert pack.tokens <= tokens
    assert len(pack.items) + pack.left_out == len(every)
    for one in pack.items:
        assert str(parse_citation(one.offer.uri)) == one.offer.uri
        assert one.offer.details in pack.text


def test_a_conversation_stands_in_its_order_under_its_days() -> None:
    moon = round(datetime(2024, 1, 2, tzinfo=UTC).timestamp() * 1_000)
    pack = quote(
        [
            said(7, "To the moon.", at=moon),
            found("passage", "The moon is far.", at=moon),
            said(3, "Where to?\n7 Bob: home", at=moon - DAY),
            said(8, "Why?", at=moon, sender=None, role="assistant"),
        ],
        1_000,
    )
    assert pack.text.splitlines()[1:] == [
        "### dcf://agent/agent-1/message/N, where N is the number before each line",
        "2024-01-01",
        "3 Ada: Where to?",
        "  7 Bob: home",
        "2024-01-02",
        "7 Ada: To the moon.",
        "8 assistant: Why?",
        "The moon is far.",
        "(dcf://memory/passage-1, 2024-01-02)",
    ]
    assert [one.offer.uri for one in pack.items][:2] == [
        "dcf://agent/agent-1/message/7",
        "dcf://memory/passage-1",
    ]


def test_what_is_too_long_does_not_keep_shorter_texts_out() -> None:
    pack = quote([said(1, "plum " * 500), said(2, "A plum.")], 120)
    assert [one.offer.uri for one in pack.items] == ["dcf://agent/agent-1/message/2"]
    assert pack.left_out == 1
