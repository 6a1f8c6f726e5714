"""A Redis that is away, or refuses: how long work waits for it, and what is logged of that."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

import control_plane
from control_plane import ACCEPTED_EVERY_MS, Disconnected, Lease
from dcf.worker.lease_lost import LeaseLost

log = logging.getLogger(__name__)

_T = TypeVar("_T")


async def patiently(lease: Lease, act: Callable[[], Awaitable[_T]]) -> _T:
    """``control_plane.patiently``. Raises LeaseLost in the end: nothing can be put on record, so
    nothing can be called."""
    try:
        return await control_plane.patiently(lease, act)
    except Disconnected as error:
        raise LeaseLost(error.code) from error


class Outage:
    """Says of each reason, once, that it keeps ``name`` waiting, and once that it is over. ``now``
    is a monotonic clock in seconds."""

    def __init__(self, name: str, now: Callable[[], float]) -> None:
        self._name = name
        self._now = now
        self._since: float | None = None
        self._last = 0.0
        self._said: set[str] = set()

    def seen(self, error: Disconnected) -> None:
        """A call was not answered, or refused."""
        self._last = self._now()
        if self._since is None:
            self._since = self._last
        reason = str(error.fields.get("refusal", error.code))
        if reason not in self._said:
            self._said.add(reason)
            log.warning("%s: %s; waiting for it", self._name, error)

    def over(self) -> None:
        """A look at what is due succeeded. It writes once in a while only, so that one alone does
        not say that writes are taken."""
        now = self._now()
        if self._since is None or now - self._last <= ACCEPTED_EVERY_MS / 1000:
            return
        log.warning("%s: Redis serves again, after %.1f s", self._name, self._last - self._since)
        self._since = None
        self._said.clear()
