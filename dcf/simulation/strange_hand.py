"""A strange hand: another program, or a person, writes over keys of a run as no script does."""

from __future__ import annotations

import random

from control_plane import RunKeys
from dcf.simulation.model import Model
from dcf.simulation.server import Server

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
    """Writes at once, and lets ``model`` know."""

    def __init__(self, server: Server, model: Model, rng: random.Random) -> None:
        self._server, self._model, self._rng = server, model, rng

    def break_run(self, keys: RunKeys) -> None:
        """Make of the run's document one that no script wrote, or something that is no document, or
        nothing."""
        if self._rng.random() < 0.1:
            self._write(keys.meta, "DEL", keys.meta)
        elif self._rng.random() < 0.5:
            place, value = self._rng.choice(_MEMBERS)
            if not self._is_object(keys.meta):
                place, value = "$", f'["{self._rng.randrange(9)}"]'
            self._write(keys.meta, "JSON.SET", keys.meta, place, value)
        else:
            self.overwrite(keys.meta)

    def overwrite(self, key: str) -> None:
        """Let a value of another type stand there."""
        self._server.anyway("DEL", key)
        command = self._rng.choice(_PLAIN)
        field = () if command == "SET" else ("status",)
        self._write(key, command, key, *field, str(self._rng.randrange(9)))

    def saw(self, key: str) -> None:
        """Of what stands there only type and text are known from now on."""
        self._model.damaged(key)

    def _is_object(self, key: str) -> bool:
        """Whether a document stands there that has members; whatever else does makes room."""
        if self._server.anyway("TYPE", key) != "ReJSON-RL":
            self._server.anyway("DEL", key)
            return False
        return bool(self._server.anyway("JSON.TYPE", key) == "object")

    def _write(self, key: str, *command: str) -> None:
        self._server.anyway(*command)
        self._model.damaged(key)
