"""The conductor of a session, as commands talk with it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from dcf.cli.commands.command import DEFAULT_POOL
from dcf.cli.platform import open_platform
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf.mcp import Conducting, conductor_for


@asynccontextmanager
async def open_conductor(
    session_id: str, settings: Settings, screen: Screen
) -> AsyncIterator[Conducting]:
    """Whoever conducts the session: the model of the settings, or the rules. Raises
    UnknownSession."""
    async with open_platform(settings, screen, root=None, pool=DEFAULT_POOL) as platform:
        yield await conductor_for(platform, session_id)
