"""Time limits of a state, as the control plane enforces them."""

from __future__ import annotations

from control_plane import Limits
from dcf import asl

_NONE = Limits()


def state_limits(state: asl.State, visit: asl.Visit) -> Limits:
    """``TimeoutSeconds`` and ``HeartbeatSeconds`` as far as they are known when ``state`` is
    entered; they count from its first lease, whoever holds it."""
    return _limits(*asl.time_limits(state, visit))


def work_limits(work: asl.RunTask) -> Limits:
    """The limits of work that begins: these hold, where they differ from those at entering."""
    return _limits(work.timeout_s, work.heartbeat_s)


def _limits(timeout_s: float | None, heartbeat_s: float | None) -> Limits:
    if timeout_s is None and heartbeat_s is None:
        return _NONE
    return Limits(_milliseconds(timeout_s), _milliseconds(heartbeat_s))


def _milliseconds(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds * 1000)
