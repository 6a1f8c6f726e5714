"""The sessions of the Redis that the settings name."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from control_plane import UnknownSession
from control_plane.embedded import Address
from dcf.cli.preparation import open_catalog
from dcf.cli.redis_access import find_redis, open_store
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf.cli.trouble import NoSuch
from dcf.sessions import Session, Sessions, nearest_sessions
from dcf.skills import SkillCatalog


@dataclass(frozen=True, slots=True)
class Desk:
    """What commands about sessions work with."""

    sessions: Sessions
    settings: Settings
    address: Address

    async def get(self, session_id: str) -> Session:
        """The session. Raises NoSuch, which names those that are called nearly the same."""
        try:
            return await self.sessions.get(session_id)
        except UnknownSession as unknown:
            raise NoSuch(unknown.code, str(unknown), await self._hint(session_id)) from unknown

    async def conductor(self, session_id: str) -> str:
        """Who conducts the session: for whom its user speaks here. Raises NoSuch."""
        return (await self.get(session_id)).head.conductors[0]

    async def _hint(self, session_id: str) -> str:
        near = await nearest_sessions(self.sessions, session_id)
        meant = f"did you mean {' or '.join(near)}? " if near else ""
        return f"{meant}`dcf session list` lists those there are"


@asynccontextmanager
async def open_desk(settings: Settings, screen: Screen) -> AsyncIterator[Desk]:
    """The desk, on a connection of its own that is closed after the block."""
    catalog: list[SkillCatalog] = []

    async def skills() -> SkillCatalog:
        if not catalog:
            catalog.append(open_catalog(settings))
        return catalog[0]

    address = await find_redis(settings, screen)
    async with open_store(address) as store:
        yield Desk(Sessions(store, catalog=skills), settings, address)
