"""Reading what other programs keep: samples written by hand, and files that are no good."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from campaigns import REMEMBERED, settled
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from transcript_reading import read

from dcf.memory.threads.piece import outline_problems, turn_problems
from dcf.memory.threads.readers.transcript import FORMATS

pytestmark = settled(*REMEMBERED)

SAMPLES = Path(__file__).parents[2] / "data" / "transcripts"


def test_a_session_of_claude_code_is_a_thread_and_an_errand_another() -> None:
    found = read(SAMPLES / "claude_code.jsonl")
    assert found.format == "claude_code"
    outline, turns = found.outlines["5f0c"], found.turns["5f0c"]
    assert (outline.project, outline.title) == ("/home/ann/shop", "Mend the rounding of invoices")
    assert "one cent off" in turns[0].text
    tools = [tool for turn in turns for tool in turn.tools]
    assert [(tool.name, tool.failed) for tool in tools] == [("Bash", True), ("Edit", False)]
    (errand,) = found.turns["5f0c:s1"]
    assert errand.text == "an errand of another agent"
    assert found.outlines["5f0c:s1"].parent == "5f0c"
    assert found.tally.left_out == {"file-history-snapshot": 1}
    assert [(one.line, one.file) for one in found.tally.problems] == [
        (7, str(SAMPLES / "claude_code.jsonl"))
    ]


def line(kind: str, uuid: str, parent: str | None, content: Any, **more: Any) -> dict[str, Any]:
    """A line of Claude Code."""
    said = {"role": kind, "content": content}
    known = {"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "s", "message": said}
    return {**known, "cwd": "/w", "isSidechain": False, **more}


def written(tmp_path: Path, lines: list[dict[str, Any]], name: str = "s.jsonl") -> Path:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(one) + "\n" for one in lines))
    return path


@pytest.mark.parametrize(
    ("said", "at"),
    [
        # What Go writes for a time that is not set; UTC+14 and UTC-12 are the outermost zones.
        ("0001-01-01T00:00:00Z", None),
        ("0001-01-01T00:00:00+14:00", None),
        ("9999-12-31T23:59:59-12:00", None),
        (253_402_300_799_999, None),
        (-62_135_596_800_000, None),
        ("0001-01-02T00:00:00Z", -62_135_510_400_000),
        ("1969-12-31T23:59:59Z", -1000),
        (1e300, None),
    ],
)
def test_a_time_that_some_zone_cannot_write_is_not_known(
    tmp_path: Path, said: object, at: int | None
) -> None:
    found = read(written(tmp_path, [line("user", "1", None, "Begin.", timestamp=said)]))
    ((turn,),) = found.turns.values()
    assert (turn.text, turn.at) == ("Begin.", at)


def test_what_followed_on_a_prompt_that_was_rewritten_is_a_branch_that_was_left(
    tmp_path: Path,
) -> None:
    progress = {"type": "progress", "uuid": "p", "parentUuid": "2", "sessionId": "s"}
    lines = [
        line("user", "1", None, "Begin."),
        line("assistant", "2", "1", [{"type": "text", "text": "Begun."}]),
        progress,
        line("user", "3", "p", "Paint it red."),
        line("assistant", "4", "3", [{"type": "text", "text": "Red."}]),
        line("user", "5", "2", "Paint it blue."),
        line("assistant", "6", "5", [{"type": "text", "text": "Blue."}]),
    ]
    found = read(written(tmp_path, lines))
    assert found.left["s"] == ["Paint it red.", "Red."]
    assert read(written(tmp_path, lines[:5])).left["s"] == []


def test_results_of_tools_that_ran_side_by_side_are_on_no_branch(tmp_path: Path) -> None:
    def call(uuid: str, parent: str) -> dict[str, Any]:
        use = {"type": "tool_use", "id": f"t{uuid}", "name": "Read", "input": {"path": uuid}}
        return line("assistant", uuid, parent, [use])

    def result(uuid: str, parent: str) -> dict[str, Any]:
        block = {"type": "tool_result", "tool_use_id": f"t{parent}", "content": f"of {parent}"}
        return line("user", uuid, parent, [block])

    lines = [
        line("user", "1", None, "Read both."),
        *(call("2", "1"), call("3", "2"), result("4", "2"), result("5", "3")),
        line("assistant", "6", "5", "Both are read."),
    ]
    found = read(written(tmp_path, lines))
    assert found.left["s"] == []
    tools = [tool for turn in found.turns["s"] for tool in turn.tools]
    assert [(tool.input, tool.output) for tool in tools] == [
        ({"path": "2"}, "of 2"),
        ({"path": "3"}, "of 3"),
    ]


def test_an_agent_that_was_sent_has_a_thread_of_its_own(tmp_path: Path) -> None:
    lines = [
        line("user", "1", None, "Look for ships.", isSidechain=True, agentId="a1b2"),
        line("assistant", "2", "1", "Three ships.", isSidechain=True, agentId="a1b2"),
    ]
    outline, turns = read(written(tmp_path, lines, "s/subagents/agent-a1b2.jsonl")).only()
    assert (outline.source_id, outline.parent) == ("s:a1b2", "s")
    assert [turn.text for turn in turns] == ["Look for ships.", "Three ships."]


def test_what_is_unknown_is_kept_and_counted(tmp_path: Path) -> None:
    blocks = [{"type": "text", "text": "Hello."}, {"type": "hologram", "of": "a ship"}]
    lines = [
        line("user", "1", None, blocks),
        {"type": "dream", "uuid": "2", "parentUuid": "1", "sessionId": "s", "of": "the sea"},
        line("assistant", "3", "1", [{"type": "tool_use", "id": "t", "name": "Bash", "input": {}}]),
    ]
    found = read(written(tmp_path, lines))
    assert found.tally.unknown == {"block hologram": 1, "dream": 1}
    kept = [json.loads(turn.text) for turn in found.turns["s"] if turn.role == "unknown"]
    assert kept == [blocks[1], lines[1]]
    # A call without a result is told, too.
    assert found.turns["s"][-1].tools[0].name == "Bash"


def test_a_thread_of_amp_has_its_tools_with_their_results() -> None:
    outline, turns = read(SAMPLES / "amp_thread.json").only()
    assert outline.source_id.startswith("T-")
    assert (outline.title, outline.status, outline.project) == (
        "A slow search",
        "completed",
        "/home/ann/shop",
    )
    assert len([tool for turn in turns for tool in turn.tools]) == 1


def test_each_issue_is_a_thread_with_its_comments() -> None:
    found = read(SAMPLES / "beads_issue.jsonl")
    billed, labels = found.outlines.values()
    assert (billed.source_id, billed.status) == ("shop-a1", "completed")
    turns = [turn for turn in found.turns["shop-a1"] if turn.role != "fields"]
    assert [turn.role for turn in turns] == ["bug", "ann", "closing"]
    assert "We decided to use a key" in turns[1].text
    assert "A key for each order" in turns[2].text
    assert (labels.source_id, labels.status, labels.title) == ("shop-a2", "active", "Print labels")


def test_a_recording_of_a_screen_is_a_thread() -> None:
    _, turns = read(SAMPLES / "gui_recording.jsonl").only()
    assert [(turn.role, len(turn.tools)) for turn in turns] == [("screen", 1)] * 2


def test_what_is_of_no_known_format_is_said(tmp_path: Path) -> None:
    file = tmp_path / "notes.jsonl"
    file.write_text('{"recipe": "soup"}\n')
    found = read(file)
    assert (found.format, found.outlines) == ("", {})
    (problem,) = found.tally.problems
    assert all(name in problem.hint for name in FORMATS)


def test_a_line_that_is_still_being_written_is_left_for_later(tmp_path: Path) -> None:
    file = tmp_path / "issues.jsonl"
    file.write_text((SAMPLES / "beads_issue.jsonl").read_text() + '{"id": "shop-a3", "ti')
    found = read(file)
    assert list(found.outlines) == ["shop-a1", "shop-a2"]
    assert [(one.severity, one.line) for one in found.tally.problems] == [("warning", 3)]


KEYS = st.sampled_from(
    [
        *("type", "message", "content", "role", "sessionId", "timestamp", "messages", "id"),
        *("title", "status", "created_at", "comments", "text", "tool_use", "tool_result"),
        *("name", "input", "window", "app", "action", "updated_at", "issue_type", "payload"),
        *("parentUuid", "uuid", "isSidechain", "mapping", "chat_messages", "sender", "parts"),
        *("info", "toolCalls", "call_id", "output", "arguments", "attachment", "current_node"),
    ]
)
VALUES = st.sampled_from(
    ["user", "assistant", "text", "tool_use", "tool_result", "message", "function_call", "T-1"]
)
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | VALUES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=250, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(st.dictionaries(KEYS, anything, max_size=6), max_size=5),
    st.sampled_from(sorted(FORMATS)),
)
def test_no_file_breaks_a_reader_and_what_it_gives_can_be_kept(
    tmp_path_factory: pytest.TempPathFactory, entries: list[dict[str, object]], name: str
) -> None:
    file = tmp_path_factory.mktemp("any") / "x.jsonl"
    file.write_text("\n".join(json.dumps(one) for one in entries))
    found = read(file, name)
    assert found.turns.keys() <= found.outlines.keys(), "every thread ends"
    for outline in found.outlines.values():
        assert list(outline_problems(outline)) == []
    for turn in (turn for turns in found.turns.values() for turn in turns):
        assert list(turn_problems("", turn)) == []
