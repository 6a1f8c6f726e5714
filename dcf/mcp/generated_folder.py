"""The generated skills, read anew when they change."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Generic, TypeVar

from dcf.agents.loading import SkillLibrary
from dcf.mcp.rules import Rules
from dcf.problem import Problem
from dcf.skills import SkillCatalog, is_unfinished
from dcf.tools import InvalidDocument, Policy, Registry, SchemaPin, Toolbox
from dcf.worker import LOCK, NO_LOCK, POLICY, lock_is_missing, read_lock, read_policy

log = logging.getLogger(__name__)

T = TypeVar("T")
Mark = tuple[tuple[int, int, int] | None, ...]
CATALOG = Path("catalogs/skills_catalog.json")
REGISTRY = Path("registry.json")
_CLOSE_OLD_S = 60.0


class Watched(Generic[T]):
    """What ``load`` makes of files, made again when one of them is another.

    While a new version cannot be read the one before it is used.
    """

    def __init__(self, files: Sequence[Path], load: Callable[[], T]) -> None:
        self._files = tuple(files)
        self._load = load
        self._seen: Mark | None = None
        self._value: T | None = None
        self.fault: str | None = None
        """Why what lies there now is not what is used."""
        self._reading = asyncio.Lock()

    async def get(self) -> T:
        """The value. Raises what ``load`` raises when there was never one to use."""
        mark = tuple(map(_mark, self._files))
        if self._value is not None and mark == self._seen:
            return self._value
        async with self._reading:
            if self._value is None or mark != self._seen:
                await self._read(mark)
        if self._value is None:
            raise RuntimeError(f"{self._files[0]} gave nothing")
        return self._value

    async def _read(self, mark: Mark) -> None:
        try:
            made = await asyncio.to_thread(self._load)
            # What says the same stays the same: connections hang on it.
            self._value = self._value if made == self._value else made
            self.fault = None
        except Exception as error:
            if self._value is None:
                raise
            self.fault = f"{self._files[0].name} cannot be used, the one before it holds"
            log.warning("%s changed and cannot be used: %s", self._files[0], error)
        self._seen = mark


class GeneratedFolder:
    """Catalog, registry and connections of one folder of generated skills. ``env`` fills the
    placeholders of the registry."""

    def __init__(self, folder: Path, env: Mapping[str, str]) -> None:
        self.folder = folder
        self._catalog = Watched(
            # The lock has the digest of every artefact: it changes with each of them.
            [folder / CATALOG, folder / LOCK],
            lambda: SkillCatalog.load(folder) if (folder / CATALOG).exists() else SkillCatalog([]),
        )
        self._registry = Watched(
            [folder / REGISTRY, folder / LOCK], lambda: self._read_registry(env)
        )
        self._library = Watched(
            [folder / CATALOG, folder / LOCK],
            lambda: (
                SkillLibrary.load(folder)
                if (folder / CATALOG).exists()
                else SkillLibrary(SkillCatalog([]))
            ),
        )
        # The lock says whether there has to be a policy.
        self._policy = Watched([folder / POLICY, folder / LOCK], self._read_policy)
        self._had_policy = False
        self._pins = Watched([folder / LOCK], lambda: dict(read_lock(folder)))
        self._rules: Rules | None = None
        self._toolbox: tuple[Registry, Policy, Toolbox] | None = None
        self._closing: set[asyncio.Task[None]] = set()

    async def catalog(self) -> SkillCatalog:
        """The skills; none where nothing was generated. Raises CatalogUnreadable."""
        return await self._catalog.get()

    async def library(self) -> SkillLibrary:
        """The skills to load from, as they are locked. Raises CatalogUnreadable, LoadRefused."""
        return await self._library.get()

    async def policy(self) -> Policy:
        """What may be called, and who is asked. Raises InvalidDocument."""
        return await self._policy.get()

    def faults(self) -> list[str]:
        """What has changed for the worse, so that what was read before it is used."""
        watched = (self._catalog, self._registry, self._library, self._policy, self._pins)
        return list(dict.fromkeys(one.fault for one in watched if one.fault))

    def warnings(self) -> list[str]:
        """What nobody would see otherwise."""
        return [NO_LOCK.format(LOCK)] if lock_is_missing(self.folder) else []

    def _read_registry(self, env: Mapping[str, str]) -> Registry:
        self._demand_finished()
        file = self.folder / REGISTRY
        return Registry.load(file, env) if file.exists() else Registry([])

    def _demand_finished(self) -> None:
        """No rules of tomorrow for the skills of today. Raises InvalidDocument."""
        if is_unfinished(self.folder):
            message = f"{self.folder} is being generated, or that was broken off"
            raise InvalidDocument([Problem("LOCK_UNREADABLE", message)])

    def _read_policy(self) -> Policy:
        self._demand_finished()
        policy = read_policy(self.folder)
        there = os.path.lexists(self.folder / POLICY)
        if self._had_policy and not there and not os.path.lexists(self.folder / LOCK):
            raise InvalidDocument([Problem("POLICY_GONE", f"{POLICY} is not there any more")])
        self._had_policy = there
        return policy

    async def registry(self) -> Registry:
        """The tool servers. Raises InvalidDocument."""
        return await self._registry.get()

    async def pins(self) -> dict[str, SchemaPin]:
        """The pinned schemas of tools by ``server:tool``. Raises InvalidDocument."""
        return await self._pins.get()

    async def rules(self) -> Rules:
        """What decides on calls of tools, as it is now."""
        parts = await self.catalog(), await self.registry(), await self.policy(), await self.pins()
        if self._rules is None or not self._rules.made_of(parts):
            self._rules = Rules(parts)
        return self._rules

    async def toolbox(self) -> Toolbox:
        """Connections to the servers of the registry as it is now, where its policy lets them lead.
        Raises InvalidDocument."""
        registry, policy = await self.registry(), await self.policy()
        now = self._toolbox
        if now is None or now[0] is not registry or now[1] is not policy:
            if now is not None:
                # Calls under way through the old connections are let end.
                task = asyncio.create_task(_close_later(now[2]))
                self._closing.add(task)
                task.add_done_callback(self._closing.discard)
            now = self._toolbox = registry, policy, Toolbox(registry, egress=policy.egress)
        return now[2]

    async def close(self) -> None:
        """Close all connections."""
        for task in tuple(self._closing):
            task.cancel()
        if self._toolbox is not None:
            await self._toolbox[2].close()


async def _close_later(toolbox: Toolbox) -> None:
    try:
        await asyncio.sleep(_CLOSE_OLD_S)
    finally:
        await toolbox.close()


def _mark(file: Path) -> tuple[int, int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
