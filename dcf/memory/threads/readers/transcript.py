"""Files of any of the known formats, read into threads."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from dcf.memory.thread import NewThread
from dcf.memory.threads.readers.agent_session import AgentSession
from dcf.memory.threads.readers.amp_thread import AmpThread
from dcf.memory.threads.readers.beads_issue import BeadsIssue
from dcf.memory.threads.readers.entry import Adapter, Entry
from dcf.memory.threads.readers.gui_recording import GuiRecording
from dcf.problem import Problem
from dcf.regular_file import read_regular

_ALL: tuple[Adapter, ...] = (AgentSession(), AmpThread(), BeadsIssue(), GuiRecording())
ADAPTERS: Mapping[str, Adapter] = MappingProxyType({one.name: one for one in _ALL})
"""By the names that ``read_transcript`` takes."""

_ESCAPE = "\\u"


@dataclass(frozen=True, slots=True)
class Transcript:
    """What a file held: ``problems`` are of lines that were passed over. The texts are as they
    stood there."""

    format: str
    threads: tuple[NewThread, ...]
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
        # NaN and the like are no JSON, but some programs write them.
        value = json.loads(text, parse_constant=str)
        return _keepable(value) if _ESCAPE in text else value
    # Lists in lists in lists, a hundred thousand deep.
    except (ValueError, RecursionError):
        return None


def _keepable(value: Any) -> Any:
    """``value`` without what only an escape can bring into a text and no memory keeps: NUL, and
    halves of surrogate pairs."""
    if isinstance(value, str):
        return value.replace("\0", "").encode(errors="replace").decode()
    if isinstance(value, list):
        return [_keepable(one) for one in value]
    if isinstance(value, dict):
        return {_keepable(name): _keepable(one) for name, one in value.items()}
    return value
