"""The generated skills, read anew when they change."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from dcf.agents.loading import SkillLibrary
from dcf.mcp.rules import Rules
from dcf.problem import Problem
from dcf.skills import SkillCatalog
from dcf.tools import InvalidDocument, Policy, Registry, SchemaPin, Toolbox
from dcf.worker import (
    LOCK,
    NO_LOCK,
    POLICY,
    CurrentToolbox,
    LiveEnvironment,
    Watched,
    finished,
    lock_is_missing,
    read_lock,
    read_policy,
)

CATALOG = Path("catalogs/skills_catalog.json")
REGISTRY = Path("registry.json")


class GeneratedFolder:
    """Catalog, registry and connections of one folder of generated skills. ``env`` fills the
    placeholders of the registry; with ``stub_url`` the stub is where that says at the moment."""

    def __init__(
        self, folder: Path, env: Mapping[str, str], stub_url: Callable[[], str] | None = None
    ) -> None:
        self.folder = folder
        environment = LiveEnvironment(env, stub_url)
        self._catalog = Watched(
            # The lock has the digest of every artefact: it changes with each of them.
            [folder / CATALOG, folder / LOCK],
            lambda: SkillCatalog.load(folder) if (folder / CATALOG).exists() else SkillCatalog([]),
        )
        self._registry = Watched(
            [folder / REGISTRY, folder / LOCK],
            lambda: self._read_registry(environment.now()),
            also=environment.stub_url,
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
        self._toolboxes = CurrentToolbox()

    async def catalog(self) -> SkillCatalog:
        """The skills; none where nothing was generated. Raises CatalogUnreadable."""
        return await self._catalog.get()

    async def library(self) -> SkillLibrary:
        """The skills to load from, as they are locked. Raises CatalogUnreadable, LoadRefused."""
        return await self._library.get()

    async def policy(self) -> Policy:
        """What may be called, and who is asked. Raises InvalidDocument."""
        return await self._policy.get()

    @property
    def last_policy(self) -> Policy:
        """The policy that was read last; before that, one that has no budgets."""
        return self._policy.last or Policy()

    def faults(self) -> list[str]:
        """What has changed for the worse, so that what was read before it is used."""
        watched = (self._catalog, self._registry, self._library, self._policy, self._pins)
        return list(dict.fromkeys(one.fault for one in watched if one.fault))

    def warnings(self) -> list[str]:
        """What nobody would see otherwise."""
        return [NO_LOCK.format(LOCK)] if lock_is_missing(self.folder) else []

    def _read_registry(self, env: Mapping[str, str]) -> Registry:
        file = self.folder / REGISTRY
        # No servers of tomorrow for the skills of today.
        with finished(self.folder):
            return Registry.load(file, env) if file.exists() else Registry([])

    def _read_policy(self) -> Policy:
        with finished(self.folder):
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
        return self._toolboxes.of(registry, policy)

    async def close(self) -> None:
        """Close all connections."""
        await self._toolboxes.close()
