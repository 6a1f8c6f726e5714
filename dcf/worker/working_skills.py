"""The skills that a worker works with: a folder of generated skills, as it is now."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from dcf.skills import SkillCatalog
from dcf.tools import Policy, Registry, SchemaPin, Toolbox
from dcf.worker.current_toolbox import CurrentToolbox
from dcf.worker.generated_rules import LOCK, Generated, read_generated
from dcf.worker.live_environment import LiveEnvironment
from dcf.worker.skill_gates import SkillGates
from dcf.worker.watched import Watched


@dataclass(frozen=True, slots=True)
class SkillsInUse:
    """What one Task works with, all of one generation."""

    gates: SkillGates
    policy: Policy
    toolbox: Toolbox

    @classmethod
    def made_of(
        cls,
        catalog: SkillCatalog,
        toolbox: Toolbox,
        policy: Policy,
        pins: Mapping[str, SchemaPin],
    ) -> SkillsInUse:
        """``pins`` are the schemas of tools by ``server:tool``."""
        return cls(SkillGates(catalog, toolbox.registry, policy, pins), policy, toolbox)


class WorkingSkills(Protocol):
    """Where a Task gets its skills from."""

    def in_use(self) -> AbstractAsyncContextManager[SkillsInUse]:
        """What holds at the start of the block holds, with its connections, to the end of it."""
        ...


class FixedSkills:
    """Skills that do not change."""

    def __init__(self, skills: SkillsInUse) -> None:
        self._skills = skills

    @asynccontextmanager
    async def in_use(self) -> AsyncIterator[SkillsInUse]:
        yield self._skills


class FollowedSkills:
    """The skills in ``folder``, read anew when its lock is another: a stat for each Task. What
    cannot be read leaves the former in use. ``environment`` fills the placeholders of the registry;
    with ``stub_url``, which is asked for each Task too, the stub is where that says.

    A folder that is not there yet has no skills.
    """

    def __init__(
        self,
        folder: Path,
        environment: Mapping[str, str],
        stub_url: Callable[[], str] | None = None,
    ) -> None:
        self._folder = folder
        self._environment = LiveEnvironment(environment, stub_url)
        # The lock has the digest of every artefact: it changes with each of them, and last.
        self._generated = Watched([folder / LOCK], self._read, also=self._environment.stub_url)
        self._had_skills = False
        self._toolboxes = CurrentToolbox()
        self._made: tuple[Generated, SkillsInUse] | None = None

    @property
    def policy(self) -> Policy:
        """The policy that was read last."""
        last = self._generated.last
        return last.policy if last is not None else Policy()

    async def open(self) -> bool:
        """Read the folder for the first time; whether it has skills. Raises SkillError and
        ToolsError."""
        await self._now()
        return self._had_skills

    @asynccontextmanager
    async def in_use(self) -> AsyncIterator[SkillsInUse]:
        skills = await self._now()
        with self._toolboxes.kept(skills.toolbox):
            yield skills

    async def close(self) -> None:
        """Close all connections."""
        await self._toolboxes.close()

    async def _now(self) -> SkillsInUse:
        generated = await self._generated.get()
        made = self._made
        if made is None or made[0] is not generated:
            toolbox = self._toolboxes.of(generated.registry, generated.policy)
            skills = SkillsInUse.made_of(
                generated.catalog, toolbox, generated.policy, generated.pins
            )
            made = self._made = generated, skills
        return made[1]

    def _read(self) -> Generated:
        there = (self._folder / "catalogs").is_dir()
        if not there and not self._had_skills:
            return Generated(SkillCatalog([]), Registry([]), Policy(), {})
        self._had_skills = True
        return read_generated(self._folder, self._environment.now())
