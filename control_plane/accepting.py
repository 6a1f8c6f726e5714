"""Whether Redis takes writes just now; if not, why, and since when; and when it took none last.

A sweep of any worker notes each second that a write was taken (see claim.lua). While writes alone
are refused, that note can still be read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from control_plane import keys
from control_plane.backend import Backend
from control_plane.errors import ControlPlaneError, Disconnected, RefusedForNow

# A worker that waits for hints asks anew every two seconds, and more often while it is refused.
_SILENT_S = 10
# A worker that is refused asks again within a second or two.
_APART_S = 5.0
_MARGIN_S = 2.0
# One answer that was lost is no time without renewals.
_LEAST_S = 0.05
_READER = re.compile(r"\bage=(\d+) idle=(\d+) .*\bcmd=(?:xreadgroup|xgroup\|create)\b")


@dataclass(frozen=True, slots=True)
class Refused:
    """``refusal`` (``OOM``), ``scope`` (``writes`` or ``commands``) and ``reason`` are those of
    ``control_plane/refusals.py``; ``for_s``: how long writes were refused by now, None where no
    worker was there to see it begin."""

    refusal: str
    scope: str
    reason: str
    hint: str
    for_s: float | None

    @property
    def sentence(self) -> str:
        """``Redis refuses writes since 12 s: out of memory``."""
        since = "" if self.for_s is None else f" since {_seconds(self.for_s)}"
        return f"Redis refuses {self.scope}{since}: {self.reason}"

    def to_json(self) -> dict[str, Any]:
        """The fields, and the sentence as ``message``."""
        return {
            "refusal": self.refusal,
            "scope": self.scope,
            "reason": self.reason,
            "for_s": self.for_s,
            "message": self.sentence,
            "hint": self.hint,
        }


class Gap:
    """The last time in which a client was refused or not answered again and again: nobody could
    renew a lease then. ``now`` is a monotonic clock in seconds."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._began: float | None = None
        self._last = 0.0

    @contextmanager
    def noticed(self) -> Iterator[None]:
        """Around a call of the server."""
        try:
            yield
        except Disconnected:
            self.seen()
            raise

    def seen(self) -> None:
        """Somebody of this process was refused or not answered."""
        now = self._now()
        if self._began is None or now - self._last > _APART_S:
            self._began = now
        self._last = now

    def ago_ms(self) -> dict[str, Any]:
        """How long ago it began and ended, as ``tick.lua`` takes it, with a margin: others may have
        met it somewhat earlier, and later. Empty where there was none."""
        if self._began is None or self._last - self._began < _LEAST_S:
            return {}
        now = self._now()
        began, last = now - self._began + _MARGIN_S, now - self._last - _MARGIN_S
        return {"away_from": round(began * 1000), "away_to": round(last * 1000)}


async def refused_now(backend: Backend) -> Refused | None:
    """How Redis refuses, None when it does not; asked by a write that changes nothing. Raises
    Disconnected when Redis is away, RefusedForGood."""
    try:
        # No run has an empty id, and with XX none is made.
        await backend.command("ZADD", keys.INDEX, "XX", 0, "")
    except RefusedForNow as error:
        found = {name: str(error.fields[name]) for name in ("refusal", "scope", "reason", "hint")}
    else:
        return None
    try:
        for_s = await _since(backend)
    except ControlPlaneError:
        # Reads are refused too, or not allowed to this user: then nobody knows.
        for_s = None
    return Refused(**found, for_s=for_s)


async def _since(backend: Backend) -> float | None:
    """Seconds since a write was taken; None unless a worker that is there now was there then."""
    accepted = await backend.command("GET", keys.ACCEPTED)
    if accepted is None:
        return None
    seconds, _ = await backend.command("TIME")
    ago = max(0.0, int(seconds) - int(accepted) / 1000)
    for line in str(await backend.command("CLIENT", "LIST", "TYPE", "NORMAL")).splitlines():
        reader = _READER.search(line)
        if reader and int(reader[1]) >= int(ago) and int(reader[2]) < _SILENT_S:
            return round(ago, 1)
    return None


def _seconds(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7_200 else f"{seconds / 3_600:.0f} h"
