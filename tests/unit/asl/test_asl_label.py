"""Labels of distributed Maps."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcf.asl import Rejection, rejection


def labelled(label: str) -> dict[str, Any]:
    config = {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}
    inner = {"StartAt": "B", "States": {"B": {"Type": "Pass", "End": True}}}
    state = {
        "Type": "Map",
        "Label": label,
        "ItemProcessor": {"ProcessorConfig": config, **inner},
        "End": True,
    }
    return {"StartAt": "A", "States": {"A": state}}


def cause(label: str) -> str:
    refused = rejection(labelled(label))
    assert isinstance(refused, Rejection)
    return refused.cause


@pytest.mark.parametrize("label", ["a", "orders-2026_b", "x" * 40, "größe", "a.b"])
def test_a_label_is_a_short_word(label: str) -> None:
    assert rejection(labelled(label)) is None


@pytest.mark.parametrize(
    "character", [*' ?*<>{}[]:;,\\|^~$#%&`"', "\n", "\t", "\x00", "\x7f", "\x9f"]
)
def test_special_characters_are_refused_by_name(character: str) -> None:
    assert f"Label contains invalid character: {character!r}" in cause(f"label_{character}")


def test_a_label_is_not_empty_and_has_at_most_40_characters() -> None:
    assert "Label cannot be empty" in cause("")
    assert "Label cannot exceed 40 characters" in cause("x" * 41)


@given(st.text())
def test_any_text_is_accepted_or_refused(label: str) -> None:
    # The developer guide's list, besides control characters.
    forbidden = set(' \t\n\r\v\f?*<>{}[]:;,\\|^~$#%&`"')
    control = [c for c in label if c <= "\x1f" or "\x7f" <= c <= "\x9f"]
    is_good = 1 <= len(label) <= 40 and not control and not forbidden & set(label)
    assert (rejection(labelled(label)) is None) == is_good
