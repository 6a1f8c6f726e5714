"""Lua scripts: each transition of the control plane is one file in ``scripts/``.

Preludes (shared local functions; one for all, then one for runs or one for records) are put before
each body, and another where several scripts speak of the same thing, so that one script is one text
with one SHA1, on a real Redis as in the in-process twin.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from importlib import resources

PRELUDES = {"": "prelude", "record_": "record_prelude"}
"""The shared text of the scripts whose names begin so; the longest beginning counts."""
SUBJECTS = {
    "note": "calls_prelude",
    "recall": "calls_prelude",
    "reserve": "calls_prelude",
    "bill": "calls_prelude",
    "beat": "answers_prelude",
    "signal": "answers_prelude",
    "finalize": "outbox_prelude",
    "tell": "outbox_prelude",
}
"""What follows the prelude in the scripts of one subject."""
_CLOCK_LINE = "local TIME = redis.call('TIME')\n"
_CLOCK_KEY = re.compile(r"[A-Za-z0-9:{}_-]+")


@dataclass(frozen=True, slots=True)
class Script:
    """A named Lua script, ready for EVALSHA."""

    name: str
    source: str
    sha1: str = field(init=False)

    def __post_init__(self) -> None:
        digest = hashlib.sha1(self.source.encode(), usedforsecurity=False).hexdigest()
        object.__setattr__(self, "sha1", digest)

    def with_clock(self, key: str) -> Script:
        """This script with the time of ``key``, a hash {seconds, microseconds}, for tests and
        simulations on a real server. Nothing else of the text changes; scripts as ``load`` gives
        them know only the server's own clock.

        Raises ValueError unless the text reads the clock exactly once.
        """
        if self.source.count(_CLOCK_LINE) != 1 or not _CLOCK_KEY.fullmatch(key):
            raise ValueError(f"the clock of {self.name} cannot be {key!r}")
        line = f"local TIME = redis.call('HMGET', '{key}', 'seconds', 'microseconds')\n"
        return Script(self.name, self.source.replace(_CLOCK_LINE, line))


@cache
def load(name: str) -> Script:
    """The script ``scripts/{name}.lua`` with its preludes before it.

    Raises FileNotFoundError for an unknown name: a defect of ours, never of a user.
    """
    folder = resources.files("control_plane") / "scripts"
    return compose(name, lambda part: (folder / f"{part}.lua").read_text(encoding="utf-8"))


def compose(name: str, read: Callable[[str], str]) -> Script:
    """The script called ``name`` of the parts that ``read`` gives by their names."""
    shared = PRELUDES[max((start for start in PRELUDES if name.startswith(start)), key=len)]
    subject = [SUBJECTS[name]] if name in SUBJECTS else []
    return Script(name, "\n".join(map(read, ["refusal_prelude", shared, *subject, name])))
