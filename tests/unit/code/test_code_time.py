"""The time of what reads questions and code, which are of any length, grows with the length."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from dcf.code.identifiers import asked_names
from dcf.code.symbols import comment_text
from dcf.code.traces import named_places
from dcf.search import segmented


@pytest.mark.parametrize("sign", ["a", "1", "_", "A", "a_", "1a", "0123456789abcdef", "`", "a."])
def test_names_of_a_question(sign: str) -> None:
    _grows_with_the_length(asked_names.__wrapped__, sign, " ")


@pytest.mark.parametrize("sign", ["@", "=.", "[a", "=a.b", "@a.py/"])
def test_places_of_a_trace(sign: str) -> None:
    _grows_with_the_length(named_places, sign, ":1x")


@pytest.mark.parametrize("sign", [" ", "*"])
def test_a_comment(sign: str) -> None:
    _grows_with_the_length(lambda line: comment_text([line]), sign, "a")


def test_marks_on_one_letter() -> None:
    _grows_with_the_length(segmented, "\u0316\u0301", "")


def _grows_with_the_length(read: Callable[[str], object], sign: str, end: str) -> None:
    """Eight times the length takes 64 times as long where the same signs are read again from each
    place, and 8 times where they are not. What is done in 20 ms is not measured well, and nothing
    that reads again needs that little."""
    short, long = (_processor_s(read, sign * (size // len(sign)) + end) for size in (1_000, 8_000))
    assert long < max(24 * short, 0.02)


def _processor_s(read: Callable[[str], object], text: str) -> float:
    """The least of up to three times."""
    least = float("inf")
    for _ in range(3):
        began = time.process_time()
        read(text)
        least = min(least, time.process_time() - began)
        if least > 0.5:
            break
    return least
