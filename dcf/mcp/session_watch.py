"""What a server does for sessions beside answering: nobody else may be there to do it."""

from __future__ import annotations

import asyncio
import logging

from control_plane import ControlPlaneError
from dcf.agents import meanwhile
from dcf.mcp.outside_companions import forget
from dcf.mcp.platform import Platform
from dcf.sessions import Session, tick_for_ever
from dcf.sessions.companions import forget_outside, lost_outside

log = logging.getLogger(__name__)

_CLEAN_S = 600.0


async def watch_sessions(platform: Platform) -> None:
    """For ever: look at the sessions that are due, and take away what companions from outside left
    behind; when their session ends, and now and then where nobody noticed that."""

    async def ended(session: Session) -> None:
        await forget(platform, session.session_id, session.former.values())

    async with meanwhile(_clean_for_ever(platform)):
        await tick_for_ever(platform.sessions, ended=ended)


async def _clean_for_ever(platform: Platform) -> None:
    while True:
        try:
            for agent_id in await lost_outside(platform.sessions, platform.agents):
                await forget_outside(platform.agents, agent_id)
        except ControlPlaneError as error:
            log.warning("what companions left behind is looked for later: %s", error)
        await asyncio.sleep(_CLEAN_S)
