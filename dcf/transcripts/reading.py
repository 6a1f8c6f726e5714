"""Files of any of the known formats, read into threads."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from dcf.problem import Problem
from dcf.regular_file import read_regular
from dcf.transcripts.adapter import Adapter, Entry
from dcf.transcripts.agent_session import AgentSession
from dcf.transcripts.amp_thread import AmpThread
from dcf.transcripts.beads_issue import BeadsIssue
from dcf.transcripts.gui_recording import GuiRecording
from dcf.transcripts.thread import Thread

_ALL: tuple[Adapter, ...] = (AgentSession(), AmpThread(), BeadsIssue(), GuiRecording())
ADAPTERS: Mapping[str, Adapter] = MappingProxyType({one.name: one for one in _ALL})
"""By the names that ``read_transcript`` takes."""


@dataclass(frozen=True, slots=True)
class Transcript:
    """What a file held: ``problems`` are of lines that were passed over."""

    format: str
    threads: tuple[Thread, ...]
    problems: tuple[Problem, ...]


def read_transcript(path: Path, format: str | None = None) -> Transcript:
    """The threads of the file at ``path``; without ``format`` (of ``ADAPTERS``) it is found out.

    Raises ``OSError`` for a file that cannot be read. All else is a problem: where the format is
    not known, there are no threads and ``format`` is empty.
    """
    text = read_regular(path).decode("utf-8-sig", errors="replace")
    entries, problems = _entries(text, str(path))
    adapter = ADAPTERS.get(format) if format is not None else _recognised(entries)
    if adapter is None:
        problem = Problem(
            "transcript-format",
            "the format is not known" if format is None else f"there is no format {format!r}",
            file=str(path),
            hint=f"known are: {', '.join(sorted(ADAPTERS))}",
        )
        return Transcript("", (), (*problems, problem))
    return Transcript(adapter.name, tuple(adapter.threads(entries, path.stem)), tuple(problems))


def _recognised(entries: list[Entry]) -> Adapter | None:
    return next((one for entry in entries for one in _ALL if one.recognises(entry.value)), None)


def _entries(text: str, file: str) -> tuple[list[Entry], list[Problem]]:
    # One document over many lines would fail on each of them.
    whole = _parsed(text) if text.lstrip()[:1] in ("{", "[") else None
    if isinstance(whole, list):
        return [Entry(1, one) for one in whole if isinstance(one, dict)], []
    if isinstance(whole, dict):
        return [Entry(1, whole)], []
    entries: list[Entry] = []
    problems: list[Problem] = []
    lines = text.split("\n")
    for number, line in enumerate(lines, start=1):
        value = _parsed(line) if line.strip() else {}
        if isinstance(value, dict):
            if value:
                entries.append(Entry(number, value))
        elif number == len(lines):
            message = "the last line is not complete: it will be read when it is"
            problems.append(Problem("transcript-cut", message, "", "", "warning", file, number))
        else:
            hint = "the line was passed over; each has to be one JSON object"
            problems.append(
                Problem(
                    "transcript-line", "it is no JSON object", hint=hint, file=file, line=number
                )
            )
    return entries, problems


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    # Lists in lists in lists, a hundred thousand deep.
    except (ValueError, RecursionError):
        return None
