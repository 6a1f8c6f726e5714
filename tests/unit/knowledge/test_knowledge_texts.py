"""Texts that are kept: nothing that must not be, nothing torn apart, nothing else lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcf.knowledge import GRAPH, TEXTS, Privacy, TextEpisode
from dcf.knowledge.asking import GROUPS, chosen, pattern_of
from dcf.knowledge.text_episode import LONGEST, redacted_text


@given(st.text(alphabet="ab .\n", max_size=6_000))
def test_what_holds_no_secret_stays_as_it_is(text: str) -> None:
    assert redacted_text(Privacy(), text) == text or "[not checked]" in redacted_text(
        Privacy(), text
    )


@pytest.mark.parametrize("before", [0, 1_480, 1_495, 1_500, 2_990, 9_000])
def test_a_secret_is_found_wherever_it_stands(before: int) -> None:
    text = "word " * (before // 5) + "\nWrite to ann@mail.example, please.\n" + "word " * 400
    kept = redacted_text(Privacy(), text)
    assert "ann@mail" not in kept and "[email]" in kept


def test_a_long_piece_without_an_end_is_not_kept_unchecked() -> None:
    assert redacted_text(Privacy(), "x" * 5_000) == "[not checked]"
    assert len(redacted_text(Privacy(), "word. " * LONGEST)) <= LONGEST


def test_a_text_that_lacks_something_is_none() -> None:
    whole = TextEpisode("u", "n", "c", 1)
    assert TextEpisode.from_json(whole.to_json()) == whole and whole.group == TEXTS
    for name in ("uuid", "name", "content", "at"):
        with pytest.raises(TypeError):
            TextEpisode.from_json({**whole.to_json(), name: None})


def test_causes_that_differ_in_numbers_and_names_are_alike() -> None:
    assert pattern_of("no answer from 'a1' after 300 ms") == pattern_of(
        "no answer from 'b2' after 7 ms"
    )
    assert pattern_of("no answer") != pattern_of("refused")
    assert pattern_of(None) == ""


def test_groups_take_what_they_stand_for() -> None:
    everything, whole, runs = chosen(()), chosen([GRAPH]), chosen(["dcf_executions"])
    assert everything.takes(["Episodic"], "mine") and not whole.takes(["Episodic"], "mine")
    assert whole.takes(["StateOutcome"], GRAPH) and whole.takes(["Text"], TEXTS)
    assert runs.takes(["WorkflowRun"], GRAPH) and not runs.takes(["StateOutcome"], GRAPH)
    assert runs.takes(["Text"], "dcf_executions") and not runs.takes(["WorkflowRun"], "mine")
    assert {"dcf_executions", "dcf_insights", "dcf_metrics", "amsp_events"} <= set(GROUPS)
