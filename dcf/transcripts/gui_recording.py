"""What was seen and done on a screen, as recorders write it: one object a line with ``timestamp``,
``app`` or ``window``, ``action``, ``target``, ``text``, ``screenshot`` (a path) and, where a file
has several, ``session``. There is no common format: this one is ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dcf.transcripts.adapter import Entry
from dcf.transcripts.thread import Thread, ToolUse, Turn
from dcf.transcripts.values import text_of, time_of

_INPUT = ("app", "window", "target", "screenshot")


class GuiRecording:
    """See the module."""

    name = "gui_observation"

    def recognises(self, value: Mapping[str, Any]) -> bool:
        return {"timestamp", "action"} <= value.keys() and bool(value.keys() & {"app", "window"})

    def threads(self, entries: Sequence[Entry], stem: str) -> Iterator[Thread]:
        sessions: dict[str, list[Mapping[str, Any]]] = {}
        for entry in entries:
            sessions.setdefault(text_of(entry.value, "session") or stem, []).append(entry.value)
        for session, seen in sessions.items():
            app = next((text for one in seen if (text := text_of(one, "app", "window"))), "")
            turns = tuple(_turn(number, one) for number, one in enumerate(seen, start=1))
            yield Thread(
                self.name, session, app, text_of(seen[0], "window", "app"), "active", turns
            )


def _turn(number: int, seen: Mapping[str, Any]) -> Turn:
    action = text_of(seen, "action") or "seen"
    about = {name: text for name in _INPUT if (text := text_of(seen, name))}
    text = text_of(seen, "text")
    told = " ".join(part for part in (action, about.get("target", "")) if part)
    tool = ToolUse(action, about, text, failed=seen.get("failed") is True)
    return Turn(number, "screen", told, (tool,), time_of(seen.get("timestamp")))
