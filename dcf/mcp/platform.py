"""What the functions of tools work with. Nothing in it belongs to one client or one session."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from control_plane import AgentStore, Backend, Store
from dcf.agents import AgentRuntime
from dcf.agents.loading import SkillLibrary
from dcf.knowledge import GraphFacts
from dcf.mcp.agents_home import AgentsHome, Home
from dcf.mcp.generated_folder import GeneratedFolder
from dcf.mcp.plan_desk import PlanDesk
from dcf.mcp.skill_index import SkillIndex
from dcf.mcp.stores_home import StoresHome
from dcf.memory import Source, project_of_runs
from dcf.retrieval import CodeRetrievers
from dcf.search import Embedder
from dcf.sessions import Sessions
from dcf.sessions.guidance import Guidance, open_guidance
from dcf.skills import SkillCatalog
from dcf.tools import Policy, Registry, Toolbox
from dcf.workflow import RunCache
from dcf.workspace import DocumentKeys, Files, JsonDocuments

if TYPE_CHECKING:
    from dcf.mcp.model_conductor import ModelConductor

DEFAULT_CALL_LIMIT_S = 120.0


@dataclass(frozen=True, slots=True)
class PlatformConfig:
    """Where things lie.

    ``home`` is the folder with the indexes of code, the audit log of what is read and deleted, and
    what is logged where MEM_BACKEND=file keeps it and MEM_PATH names no folder.
    ``memory`` is the file in which agents remember, ``templates`` a folder of the user's own
    templates of agents. ``generated`` holds the generated skills, ``skills_src`` their sources,
    ``workflows`` documents that others import, ``runs`` the audit trails, ``archives`` the sessions
    that were archived (else ``sessions`` beside ``runs``); ``workspace`` is the
    root of the file tools, ``key_prefix`` what every key of the RedisJSON tools begins with;
    ``objects`` is what ItemReader reads. ``pool`` is that of new runs. ``env`` fills the
    placeholders of the tool registry, names the models of agents and is never shown; ``stub_url``
    says where the stub is at the moment, if that is not in ``env`` for good (``DCF_STUB_URL``).
    ``call_limit_s``: no tool call takes longer (seconds). ``index`` is the file of the search index
    of the skills; without one it is a temporary file. ``approval_token`` is asked of
    whoever decides on approvals or budgets here; without one nobody may. Where the server is
    ``exposed``, other machines can reach it: then it is asked of who generates skills too.
    ``is_alone``: it has no Redis, and answers no messages that were left for agents.
    """

    home: Path
    generated: Path
    skills_src: Path
    workspace: Path
    workflows: Path
    runs: Path
    memory: Source
    templates: Path | None = None
    objects: Path | None = None
    archives: Path | None = None
    key_prefix: str = "doc:"
    pool: str = "default"
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    stub_url: Callable[[], str] | None = None
    call_limit_s: float = DEFAULT_CALL_LIMIT_S
    index: Path | None = None
    approval_token: str | None = field(default=None, repr=False)
    exposed: bool = False
    is_alone: bool = False


class Platform:
    """One server's view of the platform. ``clock`` counts seconds since the epoch, ``new_id`` gives
    unguessable ids."""

    def __init__(
        self,
        backend: Backend,
        config: PlatformConfig,
        *,
        clock: Callable[[], float] = time.time,
        new_id: Callable[[], str] = lambda: secrets.token_hex(16),
    ) -> None:
        self.backend = backend
        self.config = config
        self.clock = clock
        self.new_id = new_id
        self.skills = GeneratedFolder(config.generated, config.env, config.stub_url)
        self._outbox = (config.env.get("DCF_GRAPH") or "").lower() != "off"
        self.store = Store(backend, pool=config.pool, outbox=self._outbox)
        self.runs = RunCache(self.store)
        self.agents = AgentStore(backend, tokens=new_id)
        self.homes = AgentsHome(
            *(config.memory, self.agents, self.skills, config.env, config.templates),
            delivers=not config.is_alone,
        )
        self.stores = StoresHome(config.env, config.memory, config.home / "items")
        self.documents = JsonDocuments(backend, DocumentKeys(config.key_prefix), tokens=new_id)
        self.index = SkillIndex(config.index)
        self.plans = PlanDesk(self)
        # Those with a model know how far they read the history of their sessions.
        self.conductors: dict[str, ModelConductor] = {}
        self._stores = {config.pool: self.store}
        self._code: CodeRetrievers | None = None

    @cached_property
    def files(self) -> Files:
        """The files under ``config.workspace``, which is made. Raises OSError.

        Skills and their sources say which programs are started: should they lie in it, they can be
        read there and not changed.
        """
        kept = (self.config.generated, self.config.skills_src)
        return Files(self.config.workspace, tokens=self.new_id, kept=kept)

    @cached_property
    def sessions(self) -> Sessions:
        """The sessions of this control plane, with the skills as they are generated."""
        return Sessions(self.store, catalog=self.catalog)

    @cached_property
    def guidance(self) -> Guidance:
        """What conductors are told. Raises InvalidRules, SettingUnusable."""
        return open_guidance(self.sessions, self.config.env, memory=self._runtime)

    @cached_property
    def facts(self) -> GraphFacts:
        """What the graph knows, for the project of the runs."""
        return GraphFacts(self.config.env, project_of_runs(self.config.generated))

    def store_of(self, pool: str) -> Store:
        """A store whose runs and leases are those of ``pool``."""
        found = self._stores.get(pool)
        if found is None:
            found = self._stores[pool] = Store(self.backend, pool=pool, outbox=self._outbox)
        return found

    async def store_for(self, workflow_id: str) -> Store:
        """The store of the pool that a run belongs to. Raises UnknownRun."""
        return self.store_of((await self.store.run(workflow_id)).pool)

    async def catalog(self) -> SkillCatalog:
        """The generated skills as they are now. Raises CatalogUnreadable."""
        return await self.skills.catalog()

    async def library(self) -> SkillLibrary:
        """Where skills are loaded from. Raises CatalogUnreadable, LoadRefused."""
        return await self.skills.library()

    async def home(self) -> Home:
        """Where agents live. Raises a MemoryProblem, and what keeps the runtime from being used."""
        return await self.homes.get()

    async def _runtime(self) -> AgentRuntime:
        return (await self.home()).runtime

    def code(self, embedder: Embedder | None) -> CodeRetrievers:
        """The code of projects; the first who asks says what compares meanings."""
        if self._code is None:
            self._code = CodeRetrievers(self.config.home / "code", embedder)
        return self._code

    async def policy(self) -> Policy:
        """What tools may do, as it stands now. Raises InvalidDocument."""
        return await self.skills.policy()

    async def registry(self) -> Registry:
        """The tool servers as they are now. Raises InvalidDocument."""
        return await self.skills.registry()

    async def toolbox(self) -> Toolbox:
        """Connections to the tool servers."""
        return await self.skills.toolbox()

    async def close(self) -> None:
        """Close the memory and the connections to tool servers; the backend is its owner's to
        close."""
        if "guidance" in self.__dict__:
            await self.guidance.close()
        if self._code is not None:
            await self._code.close()
        await self.stores.close()
        await self.homes.close()
        await self.skills.close()
        self.index.close()
        self.plans.close()
