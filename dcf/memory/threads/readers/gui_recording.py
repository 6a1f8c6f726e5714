"""What was seen and done on a screen, as recorders write it: one object a line with ``timestamp``,
``app`` or ``window``, ``action``, ``target``, ``text``, ``screenshot`` (a path), ``id`` where there
is one and, where a file has several, ``session``. There is no common format: this one is ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dcf.memory.thread import NewTurn, Outline, ToolUse
from dcf.memory.threads.piece import Ended, Piece, Said
from dcf.memory.threads.readers.entry import Reading, text_of, time_of
from dcf.memory.threads.readers.json_stream import Entry
from dcf.memory.threads.readers.tally import Tally

_INPUT = ("app", "window", "target", "screenshot")


class GuiRecording:
    """See the module."""

    name = "gui_observation"

    def recognises(self, value: Mapping[str, Any]) -> bool:
        return {"timestamp", "action"} <= value.keys() and bool(value.keys() & {"app", "window"})

    def reading(self, path: Path, tally: Tally) -> Reading:
        return _Reading(path.stem, tally)


@dataclass(slots=True)
class _Reading:
    stem: str
    tally: Tally
    sessions: dict[str, Outline] = field(default_factory=dict)

    def read(self, entry: Entry) -> Iterator[Piece]:
        seen = entry.value
        session = text_of(seen, "session") or self.stem
        if session not in self.sessions:
            app, window = text_of(seen, "app", "window"), text_of(seen, "window", "app")
            self.sessions[session] = Outline(
                session, app, window, started_at=time_of(seen.get("timestamp"))
            )
        if "action" in seen:
            yield Said(session, _turn(seen))
        else:
            yield from self.tally.keep_unknown("entry", seen, session)

    def end(self) -> Iterator[Piece]:
        for outline in self.sessions.values():
            yield Ended(outline)


def _turn(seen: Mapping[str, Any]) -> NewTurn:
    action = text_of(seen, "action") or "seen"
    about = {name: text for name in _INPUT if (text := text_of(seen, name))}
    text = text_of(seen, "text")
    told = " ".join(part for part in (action, about.get("target", "")) if part)
    tool = ToolUse(action, about, text, failed=seen.get("failed") is True)
    return NewTurn("screen", told, (tool,), time_of(seen.get("timestamp")), text_of(seen, "id"))
