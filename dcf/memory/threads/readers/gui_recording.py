"""What was seen and done on a screen, as recorders write it: one object a line with ``timestamp``,
``app`` or ``window``, ``action``, ``target``, ``text``, ``screenshot`` (a path) and, where a file
has several, ``session``. There is no common format: this one is ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dcf.memory.thread import NewThread, NewTurn, ToolUse
from dcf.memory.threads.readers.entry import Entry, text_of, time_of

_INPUT = ("app", "window", "target", "screenshot")


class GuiRecording:
    """See the module."""

    name = "gui_observation"

    def recognises(self, value: Mapping[str, Any]) -> bool:
        return {"timestamp", "action"} <= value.keys() and bool(value.keys() & {"app", "window"})

    def threads(self, entries: Sequence[Entry], stem: str) -> Iterator[NewThread]:
        sessions: dict[str, list[Mapping[str, Any]]] = {}
        for entry in entries:
            sessions.setdefault(text_of(entry.value, "session") or stem, []).append(entry.value)
        for session, seen in sessions.items():
            app = next((text for one in seen if (text := text_of(one, "app", "window"))), "")
            yield NewThread(
                source_type=self.name,
                source_id=session,
                project=app,
                title=text_of(seen[0], "window", "app"),
                turns=tuple(map(_turn, seen)),
                started_at=time_of(seen[0].get("timestamp")),
            )


def _turn(seen: Mapping[str, Any]) -> NewTurn:
    action = text_of(seen, "action") or "seen"
    about = {name: text for name in _INPUT if (text := text_of(seen, name))}
    text = text_of(seen, "text")
    told = " ".join(part for part in (action, about.get("target", "")) if part)
    tool = ToolUse(action, about, text, failed=seen.get("failed") is True)
    return NewTurn("screen", told, (tool,), time_of(seen.get("timestamp")))
