"""What documents said when they became final, to be compared with what they say at the end."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from control_plane import RunKeys, frame_of
from control_plane.twin import Twin
from dcf.simulation.order import EPOCH_S
from dcf.simulation.violation import Violation
from dcf.simulation.virtual_loop import at_once

_FINAL = ("done", "failed", "cancelled", "skipped")
_END = ("status", "error", "exit", "finished_at")
Key = tuple[str, str, int]
"""Run, path (without ``@visit``) and visit."""


@dataclass(slots=True)
class Grant:
    """A lease as the witness knows it; ``ends`` in ms; ``over`` where it may have been given
    back or revoked before."""

    fence: int
    ends: int
    who: str
    over: bool = False


class Records:
    """Final documents by run, path and visit, as texts of state and output."""

    epoch_ms = EPOCH_S * 1000

    def __init__(self, twin: Twin) -> None:
        self._twin = twin
        self._final: dict[Key, tuple[str, str | None]] = {}
        self._ends: dict[str, dict[str, Any]] = {}

    def note_commit(self, run: str, path: str, visit: int) -> None:
        """A commit of ``path`` took effect: note what it may have finished."""
        frame = frame_of(path)
        around = [frame, frame.rpartition("[")[0]] if frame else []
        for name in (path, f"{path}@{visit}", *around):
            self.note(run, name)

    def note(self, run: str, name: str) -> None:
        """Note the document called ``name`` if it is final now."""
        keys = RunKeys(run)
        text = at_once(self._twin.command("JSON.GET", keys.state(name)))
        if text is None or (document := json.loads(text))["ctl"]["status"] not in _FINAL:
            return
        key = (run, name.partition("@")[0], document["ctl"]["visit"])
        # Visit 0 was never entered: a redrive may still enter it.
        if key[2] and key not in self._final:
            output = at_once(self._twin.command("JSON.GET", keys.output(name)))
            self._final[key] = (text, output)

    def note_end(self, run: str) -> None:
        """The run is over."""
        meta = json.loads(at_once(self._twin.command("JSON.GET", RunKeys(run).meta)))
        self._ends[run] = {field: meta.get(field) for field in _END}

    def forget_end(self, run: str) -> None:
        """The run was redriven."""
        self._ends.pop(run, None)

    def snapshot(self) -> tuple[dict[Key, tuple[str, str | None]], dict[str, dict[str, Any]]]:
        """What is final by now."""
        return dict(self._final), dict(self._ends)

    def restore(
        self, known: tuple[dict[Key, tuple[str, str | None]], dict[str, dict[str, Any]]]
    ) -> None:
        """The server lost what came after ``known``."""
        final, ends = known
        self._final, self._ends = dict(final), dict(ends)

    def changed(self) -> Iterator[Violation]:
        """What is not as it was when it became final."""
        for (run, path, visit), (state, output) in self._final.items():
            now = self._find(run, path, visit)
            if now is None:
                yield Violation("terminal", run, f"visit {visit} of {path} is gone")
            elif now[0] != state:
                seen = f"visit {visit} of {path} was {state} and is {now[0]}"
                yield Violation("terminal", run, seen)
            elif now[1] != output:
                seen = f"the output of visit {visit} of {path} was {output} and is {now[1]}"
                yield Violation("terminal", run, seen)
        for run, end in self._ends.items():
            meta = json.loads(at_once(self._twin.command("JSON.GET", RunKeys(run).meta)))
            if any(meta.get(field) != end[field] for field in _END):
                yield Violation("terminal", run, f"it ended as {end} and is {meta} now")

    def _find(self, run: str, path: str, visit: int) -> tuple[str, str | None] | None:
        keys = RunKeys(run)
        for name in (path, f"{path}@{visit}"):
            text = at_once(self._twin.command("JSON.GET", keys.state(name)))
            if text is not None and json.loads(text)["ctl"]["visit"] == visit:
                return text, at_once(self._twin.command("JSON.GET", keys.output(name)))
        return None
