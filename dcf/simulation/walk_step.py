"""What a walk commits: any step that the protocol has, of whatever comes next."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

_FAILED = '{"error":"Sim.Broken","cause":null}'


@dataclass(frozen=True, slots=True)
class Step:
    """A commit that is being made up: its ``request``, and its ``texts`` from ARGV[2] on. A step
    ``of_frame`` can only end, or be tried again."""

    rng: random.Random
    of_frame: bool
    request: dict[str, Any]
    texts: list[str]

    def ends(self) -> None:
        """The frame, or the run, ends with it."""
        failed = self.rng.random() < 0.5
        self.request["outcome"] = self.request["ends"] = "failed" if failed else "done"
        self.texts[0], self.texts[3] = ("", _FAILED) if failed else ('{"data":1}', "")

    def enters(self, siblings: Sequence[str]) -> None:
        """One of its siblings, or itself again."""
        limits = {"timeout_ms": self.rng.choice((None, 100, 900))}
        limits["hb_ms"] = self.rng.choice((None, 200, 300))
        callback = self.rng.choice((None, True))
        following: dict[str, Any] = {
            "path": self.rng.choice(siblings),
            "type": "Task",
            "callback": callback,
        }
        following |= limits
        given = {name: part for name, part in following.items() if part is not None}
        self.request.update(next=given, outcome="done")
        self.texts[0], self.texts[1] = '{"data":2}', '{"given":3}'
        self.texts[7] = self.rng.choice(("", '{"variable":4}'))

    def waits(self, now: int) -> None:
        """For time, an answer, an approval, or what it fans out to."""
        wait = self.rng.choice(("timer", "retry", "callback", "approval", "approval", "join"))
        if self.of_frame:
            wait = "retry"
        self.request.update(outcome="wait", wait=wait)
        if wait == "timer" or (wait == "approval" and self.rng.random() < 0.7):
            self.request["wait_until"] = now + self.rng.choice((1, 300))
        elif wait == "retry":
            self.request.update({"delay": self.rng.choice((0, 200)), "retries": {"0": 1}})
        elif wait == "join":
            shape = {"n": self.rng.randint(1, 4), "window": self.rng.randint(1, 2)}
            self.request["join"] = shape | {"fail_limit": self.rng.randint(0, 1)}
            self.texts[5] = '{"items":5}'
        if wait == "approval":
            self.texts[8] = '{"asked":6}'
        self.texts[6] = self.rng.choice(("", '{"effective":7}'))
        self.texts[9] = self.rng.choice(("", '{"model":8}'))
