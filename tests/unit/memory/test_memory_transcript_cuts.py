"""A file that is cut at any byte loses nothing that was whole before the cut."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from transcript_reading import read

TEXTS = ['Ärger, "quoted" \\ and a \U0001f600', "[two] {three}", "", "at last"]


def parts(format: str) -> Iterator[tuple[str, str]]:
    """A file of ``format`` in pieces: what stands there, and the text that is whole with it."""
    match format:
        case "claude_code":
            for number, text in enumerate(TEXTS):
                said = {"role": "user", "content": text}
                known = {"type": "user", "uuid": f"u{number}", "sessionId": "s", "message": said}
                yield json.dumps(known, ensure_ascii=number % 2 == 0), text
                yield "\n", ""
        case "beads_issue":
            for number, text in enumerate(TEXTS):
                issue = {"id": f"b-{number}", "title": "t", "status": "open", "issue_type": "bug"}
                yield json.dumps({**issue, "description": text}), text
                yield "\n", ""
        case "amp_thread" | "gemini_cli":
            amp = format == "amp_thread"
            about = {"id": "T-1"} if amp else {"sessionId": "g", "projectHash": "h"}
            yield json.dumps(about, indent=1)[:-1] + ', "messages": [', ""
            for number, text in enumerate(TEXTS):
                content: Any = [{"type": "text", "text": text}] if amp else text
                said = {"id": f"m{number}", "type": "user", "role": "user", "content": content}
                yield (", " if number else "") + json.dumps(said, indent=1), text
            yield "\n], ", ""
            yield '"title": "the end"}', ""
        case "chatgpt" | "claude_ai":
            yield "[\n", ""
            for number, text in enumerate(TEXTS):
                yield (
                    (",\n" if number else "") + json.dumps(conversation(format, number, text)),
                    text,
                )
            yield "]", ""
        case "github_actions":
            for text in TEXTS:
                yield f"2026-01-02T03:04:05.1234567Z ##[group]Run {text}\n", text
        case "cursor_export":
            yield "# T\n_Exported on 1/2/2026 at 1:02:03 GMT from Cursor (2.0.1)_\n\n", ""
            for number, text in enumerate(TEXTS):
                yield f"---\n\n**{('User', 'Cursor')[number % 2]}**\n\n{text}", text
                yield "\n\n", ""
        case "cursor_agent":
            for text in TEXTS:
                said = {"role": "user", "message": {"content": [{"type": "text", "text": text}]}}
                yield json.dumps(said), text
                yield "\n", ""
        case "junit":
            yield '<testsuite name="s">', ""
            for number, text in enumerate(TEXTS[1:2] + TEXTS[3:]):
                yield f'<testcase name="t{number}"><failure>{text}</failure></testcase>', text
            yield "</testsuite>", ""


def conversation(format: str, number: int, text: str) -> dict[str, Any]:
    if format == "claude_ai":
        said = {"uuid": f"m{number}", "sender": "human", "text": text}
        return {"uuid": f"k{number}", "chat_messages": [said]}
    content = {"content_type": "text", "parts": [text]}
    message = {"author": {"role": "user"}, "content": content}
    node = {"parent": None, "children": [], "message": message}
    return {"id": f"c{number}", "current_node": "a", "mapping": {"a": node}}


FORMATS = [
    *("claude_code", "beads_issue", "amp_thread", "gemini_cli", "chatgpt", "claude_ai"),
    *("github_actions", "junit", "cursor_export", "cursor_agent"),
]


@pytest.mark.parametrize("format", FORMATS)
def test_what_was_whole_before_the_cut_is_read(tmp_path: Path, format: str) -> None:
    pieces = list(parts(format))
    data = "".join(piece for piece, _ in pieces).encode()
    whole: list[tuple[int, str]] = []
    end = 0
    for piece, text in pieces:
        end += len(piece.encode())
        if text:
            whole.append((end, text))
    path = tmp_path / "cut.json"
    for cut in range(len(data) + 1):
        path.write_bytes(data[:cut])
        found = read(path, format)
        texts = "\0".join(found.texts())
        for end, text in whole:
            assert end > cut or text in texts, (cut, data[:cut])
        assert not [one for one in found.tally.problems if one.is_error and cut], cut
    assert not [one for one in found.tally.problems if one.code == "transcript-cut"]
