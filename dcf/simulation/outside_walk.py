"""A random walk outside of runs: turns to speak, seats, the index, and what waits for the graph.

Calls come at and around the very moments that decide; the model says what comes of each.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from control_plane import Store, claims, payload, script, turns
from control_plane import keys as redis_keys
from dcf.simulation.virtual_loop import at_once

_SEATS = ("s/a", "s/b", "t/a")
_TOKENS = ("one", "two")
_SOON_MS = 20_000


class OutsideWalk:
    """``clock`` tells and sets the server's time (ms), which only grows."""

    def __init__(
        self, store: Store, rng: random.Random, clock: Callable[[int | None], int]
    ) -> None:
        self._store, self._rng, self._clock = store, rng, clock
        self._backend = store.backend

    def go(self, steps: int) -> None:
        """So many calls, and what clients do between them without a script."""
        often, now_and_then = (self._speak, self._tell, self._claim), (self._keep, self._leave)
        acts = (*often, *often, *now_and_then)
        for _ in range(steps):
            self._clock(self._clock(None) + self._rng.choice((0, 0, 1, 900)))
            self._rng.choice(acts)()

    def _speak(self) -> None:
        """Two processes speak for the conductors of two sessions."""
        session, token = self._rng.choice("st"), self._rng.choice(_TOKENS)
        held = at_once(self._backend.command("GET", redis_keys.turn(session)))
        if held and self._rng.random() < 0.2:
            ends = int(held.split()[0])
            self._clock(max(self._clock(None), ends + self._rng.choice((-1, 0, 1))))
        act = self._rng.choice((turns.take, turns.take, turns.keep, turns.leave))
        at_once(act(self._backend, session, token))

    def _keep(self) -> None:
        """Some sit down, some get up, others say that they are still there."""
        seat, key = self._rng.choice(_SEATS), redis_keys.COMPANIONS
        if self._rng.random() < 0.5:
            at_once(claims.put(self._backend, key, seat, self._clock(None) + 5))
        elif self._rng.random() < 0.5:
            at_once(claims.drop(self._backend, key, [seat]))
        at_once(claims.keep(self._backend, key, self._rng.sample(_SEATS, 2), 5_000))

    def _claim(self) -> None:
        """What is due by now, around the moments from which on more is, or a write is noted."""
        key = self._rng.choice((redis_keys.INDEX, redis_keys.INDEX, redis_keys.COMPANIONS))
        found = at_once(self._backend.command("ZRANGE", key, 0, -1, "WITHSCORES"))
        accepted = int(at_once(self._backend.command("GET", redis_keys.ACCEPTED)) or 0)
        moments = [accepted + claims.ACCEPTED_EVERY_MS, *(int(float(at)) for at in found[1::2])]
        now, then = self._clock(None), self._rng.choice(moments) + self._rng.choice((-1, 0, 1))
        if now < then < now + _SOON_MS:
            self._clock(then)
        of = self._rng.choice((None, ["nobody", *found[2:6:2]]))
        at_once(claims.claim(self._backend, key, self._rng.choice((1, 2, 500)), of=of))

    def _leave(self) -> None:
        """As clients of a cluster do it: of a run that was looked at meanwhile, or not."""
        index = at_once(self._backend.command("ZRANGE", redis_keys.INDEX, 0, -1, "WITHSCORES"))
        runs, ats = [*index[::2], "nobody"], [*index[1::2], "1"]
        at = self._rng.randrange(len(runs))
        look_ms = int(float(ats[at])) + self._rng.choice((-1, 0, 0, 1))
        at_once(self._store.leave_index(runs[at], look_ms))

    def _tell(self) -> None:
        """A run or a record; readers take some away. Few may wait, so that there are too many."""
        kind = self._rng.choice(("run", "insight"))
        stream = redis_keys.OUTBOX_RUNS if kind == "run" else redis_keys.OUTBOX_RECORDS
        if self._rng.random() < 0.3:
            first = at_once(self._backend.command("XRANGE", stream, "-", "+", "COUNT", 1))
            if first:
                at_once(self._backend.command("XDEL", stream, first[0][0]))
        asked = {"kind": kind, "id": self._rng.choice("ab"), "limit": self._rng.randint(1, 3)}
        names, texts = [stream, redis_keys.OUTBOX_COUNTS], [payload.to_text(asked)]
        texts += [] if kind == "run" else ['{"said":"é"}']
        at_once(self._backend.run(script.load("tell"), names, texts))
