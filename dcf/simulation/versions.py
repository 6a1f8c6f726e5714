"""Two versions of the software on one server, as while workers are exchanged one after the other.

``earlier.json`` holds the scripts of an earlier version by their parts. Its runs stood in no lists,
nothing was a suspect, and the client read what was due before a tick. Whoever runs it neither reads
nor writes what came later, and rewrites documents that have it. Once there are releases, it should
hold the scripts of the one before; ``ask_earlier`` is what its client says otherwise.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources

from control_plane import RunKeys, Script
from control_plane import script as scripts
from control_plane.twin import Twin
from dcf.simulation.virtual_loop import at_once

_SHARE = 0.15
_ALWAYS = 1_000
_PATHS_A_TICK = 100


class Versions:
    """Who runs the earlier version: under some seeds some workers, until they died so often that
    the present one is there, and whoever ordered a run. ``differ`` says whether anybody does."""

    def __init__(self, rng: random.Random, workers: Sequence[str], clients: Sequence[str]) -> None:
        self._lives: dict[str, int] = {}
        if workers and rng.random() < _SHARE:
            for name in rng.sample(workers, rng.randint(1, len(workers) - 1)):
                self._lives[name] = rng.choice((1, 2, _ALWAYS))
            self._lives |= dict.fromkeys((name for name in clients if rng.random() < 0.5), _ALWAYS)

    @property
    def differ(self) -> bool:
        return bool(self._lives)

    def earlier(self, who: str, name: str) -> Script | None:
        """The script that ``who`` runs as ``name``, if that is of the earlier version."""
        crew, _, life = who.partition(".")
        if int(life or 1) > self._lives.get(crew, 0):
            return None
        return _load(name) if name in _parts() else None


def ask_earlier(twin: Twin, now_ms: int, script: Script, asked: str) -> str:
    """``asked``, the request of a call, as a client of the earlier version says it."""
    if script.name != "tick":
        return asked
    request = json.loads(asked)
    due = RunKeys(request["run"]).due
    command = twin.command("ZRANGE", due, "-inf", now_ms, "BYSCORE", "LIMIT", 0, _PATHS_A_TICK)
    return json.dumps(request | {"paths": at_once(command)})


@cache
def _parts() -> Mapping[str, str]:
    text = (resources.files("dcf.simulation") / "earlier.json").read_text(encoding="utf-8")
    parts: dict[str, str] = json.loads(text)
    return parts


@cache
def _load(name: str) -> Script:
    return scripts.compose(name, _parts().__getitem__)
