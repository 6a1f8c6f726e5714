"""Formats of other programs, each in a sample that was written by its description."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from transcript_reading import read


def lines(*values: dict[str, Any]) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)


def rollout(kind: str, **payload: Any) -> dict[str, Any]:
    """A line of Codex."""
    return {"timestamp": "2026-01-02T03:04:05.000Z", "type": kind, "payload": payload}


def message(role: str, text: str) -> dict[str, Any]:
    kind = "input_text" if role == "user" else "output_text"
    return rollout(
        "response_item", type="message", role=role, content=[{"type": kind, "text": text}]
    )


def test_a_session_of_codex_has_calls_and_prompts_that_were_taken_back(tmp_path: Path) -> None:
    path = tmp_path / "rollout-x.jsonl"
    path.write_text(
        lines(
            rollout("session_meta", id="c-1", cwd="/w", timestamp="2026-01-02T03:04:04Z"),
            message("user", "<environment_context>…</environment_context>"),
            message("user", "List the ships."),
            rollout(
                "response_item",
                type="function_call",
                name="shell",
                arguments='{"command": ["ls"]}',
                call_id="k1",
            ),
            rollout(
                "response_item",
                type="function_call_output",
                call_id="k1",
                output='{"output": "no ships", "metadata": {"exit_code": 2}}',
            ),
            message("assistant", "There are none."),
            message("user", "Sink them."),
            message("assistant", "They are sunk."),
            rollout("event_msg", type="thread_rolled_back", num_turns=1),
            message("user", "Build one."),
            rollout("response_item", type="quantum_call", of="a ship"),
            rollout("event_msg", type="token_count", info={}),
        )
    )
    found = read(path)
    outline, turns = found.only()
    assert (found.format, outline.source_id, outline.project) == ("codex", "c-1", "/w")
    assert outline.title == "List the ships."
    assert found.left["c-1"] == ["Sink them.", "They are sunk."]
    (tool,) = next(turn.tools for turn in turns if turn.tools)
    assert (tool.name, tool.input, tool.output, tool.failed) == (
        "shell",
        {"command": ["ls"]},
        "no ships",
        True,
    )
    assert found.tally.unknown == {"item quantum_call": 1}
    assert found.tally.left_out == {"event token_count": 1}


def gemini(id: str, kind: str, text: str, **more: Any) -> dict[str, Any]:
    return {"id": id, "timestamp": "2026-01-02T03:04:05Z", "type": kind, "content": text, **more}


CALL = {
    "id": "k1",
    "name": "read_file",
    "args": {"path": "a"},
    "status": "success",
    "timestamp": "2026-01-02T03:04:06Z",
    "result": [{"functionResponse": {"name": "read_file", "response": {"output": "of a"}}}],
}


@pytest.mark.parametrize("form", ["document", "lines"])
def test_a_session_of_gemini_cli_has_its_calls(tmp_path: Path, form: str) -> None:
    about = {"sessionId": "g-1", "projectHash": "abc", "startTime": "2026-01-02T03:04:00Z"}
    said = [gemini("m1", "user", "Read a."), gemini("m2", "gemini", "Done.", toolCalls=[CALL])]
    path = tmp_path / "session.json"
    if form == "document":
        path.write_text(json.dumps({**about, "messages": said}, indent=2))
    else:
        early = gemini("m2", "gemini", "Do")
        again = gemini("m3", "user", "Never mind.")
        path.write_text(lines(about, said[0], early, said[1], again, {"$rewindTo": "m3"}))
    found = read(path)
    outline, turns = found.only()
    assert (found.format, outline.source_id) == ("gemini_cli", "g-1")
    standing = [turn for turn in turns if turn.text not in found.left["g-1"] or turn.tools]
    assert [turn.text for turn in standing] == ["Read a.", "Done.", ""]
    assert found.left["g-1"] == ([] if form == "document" else ["Never mind."])
    assert (standing[2].tools[0].name, standing[2].tools[0].output) == ("read_file", "of a")


SES = {"id": "ses_1", "title": "Ships", "directory": "/w", "time": {"created": 1767323045000}}
PARTS = [
    {"id": "prt_1", "type": "text", "text": "Sorted."},
    {
        "id": "prt_2",
        "type": "tool",
        "tool": "bash",
        "state": {"status": "error", "input": {"command": "sort"}, "error": "no file"},
    },
    {"id": "prt_3", "type": "step-finish"},
]
MSG = {"id": "msg_1", "role": "assistant", "time": {"created": 1767323046000}}


@pytest.mark.parametrize("form", ["export", "storage"])
def test_a_session_of_opencode_is_read_from_its_export_and_its_storage(
    tmp_path: Path, form: str
) -> None:
    if form == "export":
        path = tmp_path / "export.json"
        path.write_text(json.dumps({"info": SES, "messages": [{"info": MSG, "parts": PARTS}]}))
    else:
        path = tmp_path / "storage" / "session" / "p" / "ses_1.json"
        files = {path: SES, tmp_path / "storage" / "message" / "ses_1" / "msg_1.json": MSG}
        files |= {
            tmp_path / "storage" / "part" / "msg_1" / f"{part['id']}.json": part for part in PARTS
        }
        for file, value in files.items():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(value))
    found = read(path)
    outline, turns = found.only()
    assert (found.format, outline.source_id, outline.project) == ("opencode", "ses_1", "/w")
    assert [turn.text for turn in turns] == ["Sorted.", ""]
    assert (turns[1].tools[0].output, turns[1].tools[0].failed) == ("no file", True)
    assert found.tally.left_out == {"step-finish": 1}


def node(parent: str | None, *children: str, role: str = "", text: str = "") -> dict[str, Any]:
    said = {
        "author": {"role": role},
        "create_time": 1767323045.5,
        "content": {"content_type": "text", "parts": [text]},
        "recipient": "all",
    }
    return {"parent": parent, "children": list(children), "message": said if role else None}


CONVERSATION = {
    "title": "Ships",
    "conversation_id": "g-1",
    "create_time": 1767323045.5,
    "current_node": "d",
    "mapping": {
        "root": node(None, "a"),
        "a": node("root", "b", "c", role="user", text="Name a ship."),
        "b": node("a", role="assistant", text="Argo."),
        "c": node("a", "d", role="assistant", text="Vasa."),
        "d": node("c", role="user", text="Another."),
    },
}


def test_an_export_of_chatgpt_has_answers_that_were_asked_for_again(tmp_path: Path) -> None:
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("conversations.json", json.dumps([CONVERSATION, CONVERSATION]))
        archive.writestr("user.json", json.dumps({"email": "ann@example.org"}))
    found = read(path)
    assert found.format == "chatgpt"
    assert found.outlines["g-1"].started_at == 1767323045500
    texts = [turn.text for turn in found.turns["g-1"][:4]]
    assert texts == ["Name a ship.", "Argo.", "Vasa.", "Another."]
    assert found.left["g-1"][:1] == ["Argo."]
    assert found.tally.left_out == {"member of the archive": 1}


def test_an_export_of_claude_has_its_attachments(tmp_path: Path) -> None:
    said = {
        "uuid": "m1",
        "sender": "human",
        "text": "Look at this.",
        "created_at": "2026-01-02T03:04:05Z",
        "attachments": [{"file_name": "ships.csv", "extracted_content": "Argo,3"}],
    }
    answer = {"uuid": "m2", "sender": "assistant", "content": [{"type": "text", "text": "One."}]}
    whole = {"uuid": "k-1", "name": "A list", "chat_messages": [said, answer]}
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([whole]))
    found = read(path)
    outline, turns = found.only()
    assert (found.format, outline.title) == ("claude_ai", "A list")
    assert [(turn.role, turn.text) for turn in turns] == [
        ("user", "Look at this."),
        ("user", "[attachment ships.csv]\nArgo,3"),
        ("assistant", "One."),
    ]


REPORT = """<?xml version="1.0"?>
<testsuites><testsuite name="ships" tests="3" timestamp="2026-01-02T03:04:05">
  <testcase classname="ships" name="floats"/>
  <testcase classname="ships" name="sinks">
    <failure message="it floats" type="Assert">line 3</failure>
    <system-out>splash</system-out>
  </testcase>
  <testcase classname="ships" name="flies"><skipped/></testcase>
  <omen kind="albatross">seen</omen>
</testsuite></testsuites>
"""


def test_a_report_of_tests_has_those_that_failed(tmp_path: Path) -> None:
    path = tmp_path / "junit.xml"
    path.write_text(REPORT)
    found = read(path)
    _, turns = found.only()
    assert [turn.role for turn in turns] == ["suite", "failed", "skipped", "unknown"]
    (tool,) = turns[1].tools
    assert tool.name == "ships.sinks" and tool.failed
    assert all(text in tool.output for text in ("it floats", "line 3", "splash"))
    assert found.tally.left_out == {"passed test": 1}
    assert found.tally.unknown == {"element omen": 1}


def test_entities_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "junit.xml"
    bomb = '<!DOCTYPE t [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>'
    path.write_text(f'{bomb}<testsuite name="x"><testcase name="&b;"/></testsuite>')
    (problem,) = read(path).tally.problems
    assert (problem.code, problem.severity) == ("transcript-xml", "error")


def test_a_log_of_github_actions_has_a_turn_for_each_step(tmp_path: Path) -> None:
    path = tmp_path / "1_build.txt"
    at = "2026-01-02T03:04:05.1234567Z"
    path.write_text(
        f"\ufeff{at} Complete job name: build\n"
        f"{at} ##[group]Run make\n{at} gcc ships.c\nmore of it\n{at} ##[error]exit code 2\n"
        f"{at} ##[group]Run tidy\n{at} tidied\n{at} cut he"
    )
    found = read(path)
    outline, turns = found.only()
    assert (found.format, outline.title) == ("github_actions", "build")
    assert [(turn.role, turn.text) for turn in turns] == [
        ("step", "Set up"),
        ("failed", "make"),
        ("step", "tidy"),
    ]
    assert "more of it" in turns[1].tools[0].output
    assert [one.code for one in found.tally.problems] == ["transcript-cut"]


def test_notes_for_agents_have_a_turn_for_each_section(tmp_path: Path) -> None:
    path = tmp_path / "AGENTS.md"
    path.write_text("Begin.\n# Ships\nSail.\n```sh\n# no heading\n```\n## Tests\nRun make.\n")
    _, turns = read(path).only()
    assert [(turn.key, turn.text.splitlines()[-1]) for turn in turns] == [
        ("", "Begin."),
        ("Ships", "```"),
        ("Ships > Tests", "Run make."),
    ]


def test_an_archive_above_the_limits_is_not_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", "[" + " " * 5_000_000 + "]")
    (problem,) = read(path).tally.problems
    assert problem.code == "transcript-archive"
