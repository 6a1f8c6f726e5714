"""Nothing that names a person or opens a door gets past; ordinary words and numbers do."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcf.knowledge import Privacy, SettingUnusable

PRIVACY = Privacy({"PAYMENTS_API_KEY": "hunter2-hunter2"})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mail to ann.o'neil+x@mail.example.co.uk now", "mail to [email] now"),
        ("Müller <jürgen@beispiel.de>", "Müller <[email]>"),
        # Numbers that card schemes and banks publish for tests.
        ("card 4111 1111 1111 1111.", "card [card]."),
        ("card 378282246310005 refused", "card [card] refused"),
        ("5555-5555-5555-4444", "[card]"),
        ("to DE89 3704 0044 0532 0130 00", "to [iban]"),
        ("GB82WEST12345698765432 is blocked", "[iban] is blocked"),
        ("call +49 (0)30 901820", "call [phone]"),
        ("call 0049 30 901820 1", "call [phone]"),
        ("call 030 901820", "call [phone]"),
        ("call (415) 555-2671", "call [phone]"),
        ("key hunter2-hunter2 refused", "key [secret PAYMENTS_API_KEY] refused"),
        ("Authorization: Bearer abcdef0123456789", "Authorization: [token]"),
        ("token eyJhbGciOiJIUzI1.eyJzdWIiOiIx.abc-123", "token [token]"),
        ("sk-proj-abcdefghijklmnop1234 expired", "[token] expired"),
        ("password=Tr0ub4dor&3, retry", "password=[token], retry"),
        ("redis://user:pa55word@host:6379/0", "redis://[token]@host:6379/0"),
        ("{'client_secret': 'hunter2'}", "{'client_secret': '[token]'}"),
        ("card 4111\u00a01111\u00a01111\u00a01111.", "card [card]."),
        ("card 4111.1111.1111.1111 refused", "card [card] refused"),
        ("card 3782.822463.10005", "card [card]"),
        ("to de89 3704 0044 0532 0130 00 today", "to [iban] today"),
        ("gb82west12345698765432 is blocked", "[iban] is blocked"),
        ("to DE89\u00a03704\u00a00044\u00a00532\u00a00130\u00a000", "to [iban]"),
        ("call +49\u00a030\u00a0901820", "call [phone]"),
        ("mail ann＠mail.example now", "mail [email] now"),
        ("mail a\u200bnn@mail.example now", "mail [email] now"),
    ],
)
def test_what_must_not_be_kept_is_replaced(text: str, expected: str) -> None:
    assert PRIVACY.text(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "order 20261122 of 4500.00 EUR failed after 3 of 4 tries",
        "HTTP 503 from payments at 2026-11-22T21:41:55.123Z",
        "card 4111 1111 1111 1112 has a wrong checksum",
        # A time in milliseconds with the checksum of a card (2025-11-23).
        "ended at 1763887000018",
        "DE00370400440532013000 has a wrong checksum",
        "de00370400440532013000 has a wrong checksum",
        "at 1763846515.123456 it took 1200.0000.1 of 41111111.11111111",
        "the 1200 tokens of two keys: name and id; the token: expired",
        "skill.orders.charge_payment@1.0.0 is not loaded",
        "id 550e8400-e29b-41d4-a716-446655440000 unknown",
        "10.0.0.1:8080 refused, error 0x80070005, took 1200 ms",
        "order-1234567890123 is missing",
    ],
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert PRIVACY.text(text) == text


def test_texts_are_cut_after_they_are_cleaned() -> None:
    text = "x" * 290 + " ann@mail.example"
    assert PRIVACY.text(text) == "x" * 290 + " [email]"
    assert PRIVACY.text("y" * 301) == "y" * 299 + "…"
    assert PRIVACY.optional(None) is None


@given(st.integers(0, 4_000))
def test_no_cut_lets_a_part_of_an_address_through(at: int) -> None:
    text = "x " * (at // 2) + "ann.meyer@mail.example " * 200
    assert "ann.meyer@" not in PRIVACY.text(text, limit=10_000)


def test_patterns_of_the_user_are_applied_and_secrets_come_from_the_environment(
    tmp_path: Path,
) -> None:
    file = tmp_path / "patterns.txt"
    file.write_text("# our customers\nC-\\d{6}\n\n", encoding="utf-8")
    privacy = Privacy.from_env({"DCF_GRAPH_REDACT": str(file), "MY_TOKEN": "topsecretvalue"})
    text = "C-123456 with topsecretvalue"
    assert privacy.text(text) == "[redacted] with [secret MY_TOKEN]"


def test_every_line_that_is_no_pattern_is_named(tmp_path: Path) -> None:
    file = tmp_path / "patterns.txt"
    file.write_text("(\nok\\d\nx*\n", encoding="utf-8")
    with pytest.raises(SettingUnusable) as caught:
        Privacy.from_env({"DCF_GRAPH_REDACT": str(file)})
    assert f"{file}:1:" in caught.value.message
    assert f"{file}:3: it is found in an empty text" in caught.value.message
    assert f"{file}:2:" not in caught.value.message


def test_a_file_that_is_not_there_is_told() -> None:
    with pytest.raises(SettingUnusable, match=r"/no/such: No such file"):
        Privacy.from_env({"DCF_GRAPH_REDACT": "/no/such"})


def test_a_pattern_that_takes_too_long_hides_the_text() -> None:
    privacy = Privacy(patterns=[r"(a|a)+$"])
    began = time.monotonic()
    assert privacy.text("a" * 60 + "!") == "[not checked]"
    assert time.monotonic() - began < 1
