"""A strange hand: another program, or a person, writes over keys of a run as no script does."""

from __future__ import annotations

import random

from control_plane import RunKeys
from control_plane.twin import Twin
from dcf.simulation.model import Model
from dcf.simulation.virtual_loop import at_once

# Of each document that comes of one of these ``RunDocument.parse`` says what is wrong.
_MEMBERS = (
    ("$", "[1]"),
    ("$.ctl", "7"),
    ("$.ctl", "{}"),
    ("$.ctl.born", '"x"'),
    ("$.ctl.said", "7"),
    ("$.pins", "7"),
    ("$.workflow_id", '"other"'),
)
_PLAIN = ("SET", "HSET")


class StrangeHand:
    """Writes to ``twin`` at once, whatever a server takes, and lets ``model`` know."""

    def __init__(self, twin: Twin, model: Model, rng: random.Random) -> None:
        self._twin, self._model, self._rng = twin, model, rng

    def break_run(self, keys: RunKeys) -> None:
        """Make of the run's document one that no script wrote, or something that is no document."""
        if self._rng.random() < 0.5:
            place, value = self._rng.choice(_MEMBERS)
            if not self._is_object(keys.meta):
                place, value = "$", f'["{self._rng.randrange(9)}"]'
            self._write(keys.meta, "JSON.SET", keys.meta, place, value)
        else:
            self.overwrite(keys.meta)

    def overwrite(self, key: str) -> None:
        """Let a value of another type stand there."""
        at_once(self._twin.command("DEL", key))
        command = self._rng.choice(_PLAIN)
        field = () if command == "SET" else ("status",)
        self._write(key, command, key, *field, str(self._rng.randrange(9)))

    def _is_object(self, key: str) -> bool:
        """Whether a document stands there that has members; whatever else does makes room."""
        if at_once(self._twin.command("TYPE", key)) != "ReJSON-RL":
            at_once(self._twin.command("DEL", key))
            return False
        return bool(at_once(self._twin.command("JSON.TYPE", key)) == "object")

    def _write(self, key: str, *command: str) -> None:
        at_once(self._twin.command(*command))
        self._model.damaged(key)
