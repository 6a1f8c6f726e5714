"""Time limits of a state, as the control plane enforces them."""

from __future__ import annotations

from dcf import asl


def state_limits(state: asl.State, visit: asl.Visit) -> tuple[int | None, int | None]:
    """``TimeoutSeconds`` and ``HeartbeatSeconds`` in milliseconds, None where there is none.

    They are evaluated when the state is entered, so that they count from its first lease.
    """
    timeout, heartbeat = asl.time_limits(state, visit)
    return (
        round(timeout * 1000) if timeout is not None else None,
        round(heartbeat * 1000) if heartbeat is not None else None,
    )
