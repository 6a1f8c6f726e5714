"""Requests to a model and its answers, as JSON Lines: one object for each, in order."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from typing import Any

from dcf.agents.models.provider import COMPATIBLE_KEY_NAME
from dcf.problem import Problem
from dcf.secret_name import names_a_secret

VERSION = 1
_DIFF_LINES = 40


class TranscriptProblem(Exception):
    """A transcript cannot be used; ``problem`` says why."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request (see ``request_value``) and the answer of ``model``, a response of pydantic-ai."""

    model: str
    request: Mapping[str, Any]
    response: Mapping[str, Any]

    def to_line(self) -> str:
        """As it stands in the file."""
        entry = {"version": VERSION, "model": self.model, "request": self.request}
        return json.dumps({**entry, "response": self.response}, ensure_ascii=False) + "\n"


def read_transcript(file: Path) -> list[Exchange]:
    """All of ``file``. Raises TranscriptProblem."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise _problem(file, None, f"cannot be read: {error}") from None
    return list(_exchanges(file, text))


def difference(wanted: Mapping[str, Any], found: Mapping[str, Any]) -> str:
    """What differs between two requests, as a unified diff of their JSON, shortened."""
    before, after = (
        json.dumps(one, indent=1, sort_keys=True, ensure_ascii=False).splitlines()
        for one in (wanted, found)
    )
    diff = list(unified_diff(before, after, "recorded", "asked now", n=1, lineterm=""))
    more = [f"… {len(diff) - _DIFF_LINES} more lines"] if len(diff) > _DIFF_LINES else []
    return "\n".join([line[:300] for line in diff[:_DIFF_LINES]] + more)


def secrets_of(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables whose names are those of secrets, or that a setting names as a key: their
    values do not go into a transcript."""
    named = environment.get(COMPATIBLE_KEY_NAME, "").strip()
    return {
        name: value for name, value in environment.items() if name == named or names_a_secret(name)
    }


def _exchanges(file: Path, text: str) -> Iterator[Exchange]:
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
        except ValueError as error:
            raise _problem(file, number, f"is no JSON: {error}") from None
        if not isinstance(entry, dict) or entry.get("version") != VERSION:
            raise _problem(file, number, f"is not version {VERSION} of a transcript")
        parts: Sequence[Any] = [entry.get("request"), entry.get("response")]
        if not all(isinstance(part, dict) for part in parts):
            raise _problem(file, number, "has no request and response")
        yield Exchange(str(entry.get("model", "unnamed")), *parts)


def _problem(file: Path, line: int | None, message: str) -> TranscriptProblem:
    where = "the transcript" if line is None else "a line of the transcript"
    hint = "record it anew with DCF_MODEL_RECORD"
    return TranscriptProblem(
        Problem("MODEL_TRANSCRIPT", f"{where} {message}", hint=hint, file=str(file), line=line)
    )
