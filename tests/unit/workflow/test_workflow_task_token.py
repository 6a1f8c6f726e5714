"""Task tokens: derived, signed, and kept out of what is stored."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcf.workflow.task_token import REDACTED, make_token, read_token, without_token

SECRET = "s" * 32


def test_a_token_says_which_try_of_which_visit_it_is_for() -> None:
    claim = read_token(make_token(SECRET, "run-1", "Fan[2]/Ask", 3, 2))
    assert claim is not None
    assert (claim.workflow_id, claim.path, claim.visit, claim.try_) == ("run-1", "Fan[2]/Ask", 3, 2)
    assert claim.is_signed_with(SECRET)


def test_the_same_try_has_the_same_token_and_another_one_another() -> None:
    tokens = {
        make_token(SECRET, *what)
        for what in (
            ("run-1", "Ask", 1, 1), ("run-1", "Ask", 1, 1), ("run-1", "Ask", 1, 2),
            ("run-1", "Ask", 2, 1), ("run-2", "Ask", 1, 1), ("run-1", "Beg", 1, 1),
        )
    }  # fmt: skip
    assert len(tokens) == 5


@pytest.mark.parametrize("secret", ["", "other"])
def test_a_token_of_another_secret_is_not_signed(secret: str) -> None:
    claim = read_token(make_token(SECRET, "run-1", "Ask", 1, 1))
    assert claim is not None
    assert not claim.is_signed_with(secret)


def test_a_run_without_a_secret_has_given_no_token_out() -> None:
    claim = read_token(make_token("", "run-1", "Ask", 1, 1))
    assert claim is not None
    assert not claim.is_signed_with("")


def test_a_forged_claim_is_not_signed() -> None:
    token = make_token(SECRET, "run-1", "Ask", 1, 1)
    content = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
    forged = json.dumps(["run-1", "Ask", 1, 2], separators=(",", ":")).encode() + content[-32:]
    claim = read_token(base64.urlsafe_b64encode(forged).rstrip(b"=").decode())
    assert claim is not None
    assert not claim.is_signed_with(SECRET)


@pytest.mark.parametrize("text", ["", "x", "====", "ä", "e30", "W10", "a" * 10_000, "WzFd" * 20])
def test_what_is_no_token_is_none(text: str) -> None:
    assert read_token(text) is None


@given(st.text())
def test_no_text_breaks_the_reading(text: str) -> None:
    claim = read_token(text)
    assert claim is None or not claim.is_signed_with(SECRET)


def test_a_token_is_replaced_wherever_it_stands() -> None:
    token = make_token(SECRET, "run-1", "Ask", 1, 1)
    given = {"token": token, "url": f"https://x/?t={token}", "list": [token, 1, None]}
    kept = without_token(given, token)
    assert kept == {
        "token": REDACTED,
        "url": f"https://x/?t={REDACTED}",
        "list": [REDACTED, 1, None],
    }
    assert given["token"] == token


def test_a_token_is_replaced_in_member_names_too() -> None:
    token = make_token(SECRET, "run-1", "Ask", 1, 1)
    assert without_token({f"a {token}": {token: 1}}, token) == {f"a {REDACTED}": {REDACTED: 1}}


@given(st.binary(max_size=7), st.binary(max_size=7), st.sampled_from("+-"))
def test_nothing_is_kept_where_the_token_stands_encoded(
    before: bytes, after: bytes, alphabet: str
) -> None:
    token = make_token(SECRET, "run-1", "Ask", 1, 1)
    encode = base64.b64encode if alphabet == "+" else base64.urlsafe_b64encode
    text = encode(before + token.encode() + after).decode()
    assert without_token({"a": [f"see {text}"]}, token) == REDACTED
    assert without_token({text: 1}, token) == REDACTED


@given(st.binary())
def test_other_encoded_texts_are_kept(content: bytes) -> None:
    token = make_token(SECRET, "run-1", "Ask", 1, 1)
    value = {"a": base64.b64encode(content).decode()}
    assert without_token(value, token) == value
