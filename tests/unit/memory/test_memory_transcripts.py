"""Reading what other programs keep: samples written by hand, and files that are no good."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dcf.memory import NewThread
from dcf.memory.threads.readers.transcript import ADAPTERS, read_transcript
from dcf.memory.threads.syncing import problems

SAMPLES = Path(__file__).parents[2] / "data" / "transcripts"


def only(name: str) -> NewThread:
    (thread,) = read_transcript(SAMPLES / name).threads
    return thread


def test_a_session_of_a_coding_agent_is_a_thread_without_errands_and_torn_lines() -> None:
    read = read_transcript(SAMPLES / "agent_session.jsonl")
    (thread,) = read.threads
    assert (read.format, thread.source_id, thread.project) == (
        "agent_session",
        "5f0c",
        "/home/ann/shop",
    )
    assert thread.title == "Mend the rounding of invoices"
    said = " ".join(turn.text for turn in thread.turns)
    assert "one cent off" in said and "errand" not in said
    tools = [tool for turn in thread.turns for tool in turn.tools]
    assert [(tool.name, tool.failed) for tool in tools] == [("Bash", True), ("Edit", False)]
    assert [(one.line, one.file) for one in read.problems] == [
        (7, str(SAMPLES / "agent_session.jsonl"))
    ]


def test_a_thread_of_amp_has_its_tools_with_their_results() -> None:
    thread = only("amp_thread.json")
    assert thread.source_id.startswith("T-")
    assert (thread.title, thread.status, thread.project) == (
        "A slow search",
        "completed",
        "/home/ann/shop",
    )
    assert len([tool for turn in thread.turns for tool in turn.tools]) == 1


def test_each_issue_is_a_thread_with_its_comments() -> None:
    billed, labels = read_transcript(SAMPLES / "beads_issue.jsonl").threads
    assert (billed.source_id, billed.status) == ("shop-a1", "completed")
    assert [turn.role for turn in billed.turns] == ["bug", "ann", "closing"]
    assert "We decided to use a key" in billed.turns[1].text
    assert "A key for each order" in billed.turns[2].text
    assert (labels.source_id, labels.status, labels.title) == ("shop-a2", "active", "Print labels")


def test_a_recording_of_a_screen_is_a_thread() -> None:
    thread = only("gui_recording.jsonl")
    assert [(turn.role, len(turn.tools)) for turn in thread.turns] == [("screen", 1)] * 2


@pytest.mark.parametrize("name", ["agent_session.jsonl", "beads_issue.jsonl"])
def test_a_file_that_grew_begins_with_the_same_turns(tmp_path: Path, name: str) -> None:
    lines = (SAMPLES / name).read_text().splitlines(keepends=True)
    whole = {one.source_id: one.turns for one in read_transcript(SAMPLES / name).threads}
    for count in range(1, len(lines)):
        begun = tmp_path / name
        begun.write_text("".join(lines[:count]))
        for thread in read_transcript(begun).threads:
            texts = [turn.text for turn in thread.turns if not turn.tools]
            later = [turn.text for turn in whole[thread.source_id] if not turn.tools]
            assert texts == later[: len(texts)], count


def test_what_is_of_no_known_format_is_said(tmp_path: Path) -> None:
    file = tmp_path / "notes.jsonl"
    file.write_text('{"recipe": "soup"}\n')
    read = read_transcript(file)
    assert (read.format, read.threads) == ("", ())
    (problem,) = read.problems
    assert all(name in problem.hint for name in ADAPTERS)


def test_a_line_that_is_still_being_written_is_left_for_later(tmp_path: Path) -> None:
    file = tmp_path / "issues.jsonl"
    file.write_text((SAMPLES / "beads_issue.jsonl").read_text() + '{"id": "shop-a3", "ti')
    read = read_transcript(file)
    assert [thread.source_id for thread in read.threads] == ["shop-a1", "shop-a2"]
    assert [(one.severity, one.line) for one in read.problems] == [("warning", 3)]


KEYS = st.sampled_from(
    [
        *("type", "message", "content", "role", "sessionId", "timestamp", "messages", "id"),
        *("title", "status", "created_at", "comments", "text", "tool_use", "tool_result"),
        *("name", "input", "window", "app", "action", "updated_at", "issue_type"),
    ]
)
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(st.dictionaries(KEYS, anything, max_size=6), max_size=5),
    st.sampled_from(sorted(ADAPTERS)),
)
def test_no_file_breaks_a_reader_and_what_it_gives_can_be_kept(
    tmp_path_factory: pytest.TempPathFactory, entries: list[dict[str, object]], name: str
) -> None:
    file = tmp_path_factory.mktemp("any") / "x.jsonl"
    file.write_text("\n".join(json.dumps(one) for one in entries))
    read = read_transcript(file, name)
    for thread in read.threads:
        assert list(problems(thread)) == []
