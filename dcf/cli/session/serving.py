"""Whether anybody works for a session."""

from __future__ import annotations

from control_plane import host_signs
from dcf.cli.session.board import SessionBoard
from dcf.cli.session.opening import Desk


async def who_serves(desk: Desk, board: SessionBoard) -> str | None:
    """What to tell the user when companions should work and nobody serves them; else None."""
    session = board.session
    if session.state == "paused" or all(task.kind != "companion" for task in session.open_tasks):
        return None
    ours = [one for one in session.companions.values() if not one.external]
    if (session.companions and not ours) or any(
        one.companion_id not in board.unserved for one in ours
    ):
        return None
    hosts = await host_signs.living_hosts(desk.sessions.backend)
    if any(host.session_id in (None, session.session_id) for host in hosts):
        return None
    return "Nobody serves its companions: `dcf up --companions 1` does, in the background."
