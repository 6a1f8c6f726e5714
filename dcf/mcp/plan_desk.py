"""The planner of one server: its skills, what is stored in its workflows, its model if any."""

from __future__ import annotations

import tempfile
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dcf.mcp.agents_home import Home
from dcf.search import DEFAULT_EMBEDDER, embedder_named

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

    from pydantic_ai.models import Model

    from dcf.guidelines import Guidelines
    from dcf.mcp.platform import Platform
    from dcf.planner import FindContext, Guide, History, Matcher, ModelAtHand, Planner

PLANNER = "planner"
"""The agent whose guidelines count, where a client names none."""
_RUN = "wf-"
"""What the id of a planning's run begins with."""
_WRITING_S = 10.0
"""A call writes for so long what waits for the graph; what is left is written by a later one."""
_ATTEMPTS = 5
"""Each lost race is a change that somebody else kept."""


@dataclass(slots=True)
class PlanDesk:
    """``matcher`` is made when something is first matched."""

    platform: Platform
    _matcher: Matcher | None = None
    _folder: tempfile.TemporaryDirectory[str] | None = None

    def planner(
        self,
        planner_agent_id: str | None = None,
        *,
        writes_waiting: bool = True,
        context: FindContext | None = None,
    ) -> Planner:
        """The planner for one call of a tool, who reads the guidelines of that agent; a model that
        drafts is told what ``context`` finds. What waits for the graph is written when it is first
        asked; not at all without ``writes_waiting``."""
        from dcf.planner import Bench, Planner, PlanningStore

        platform = self.platform
        config = platform.config
        bench = Bench(
            platform.catalog,
            platform.index.use,
            config.generated,
            config.workflows,
            DEFAULT_EMBEDDER,
            self._matching,
        )
        return Planner(
            bench,
            PlanningStore(config.workflows / "plannings"),
            clock=self._now_ms,
            new_id=lambda: platform.new_id()[:12].lower(),
            guide=self._guide(planner_agent_id, writes_waiting),
            model=self._model(context),
            # The command line has refused whatever is neither on nor off.
            explore=(config.env.get("DCF_EXPLORE") or "on").lower() == "on",
        )

    def planner_of(
        self,
        planning_id: str,
        *,
        writes_waiting: bool = True,
        context: FindContext | None = None,
    ) -> Planner:
        """As ``planner``, the one who began the planning. Raises UnknownPlanning,
        PlanningDamaged."""
        planner = self.planner(writes_waiting=writes_waiting, context=context)
        advised = planner.store.read(planning_id).advised
        if advised is None:
            return planner
        return self.planner(advised, writes_waiting=writes_waiting, context=context)

    def reflected(self, workflow_id: str, reflection: Mapping[str, Any], note: str) -> None:
        """Keep with the planning whose run it was what was learned of it; a run that nobody planned
        has none. Raises PlanningDamaged, PlanningConflict, OSError."""
        from dcf.planner import PlanningConflict, UnknownPlanning

        planner = self.planner()
        for left in reversed(range(_ATTEMPTS)):
            try:
                planning = planner.store.read(workflow_id.removeprefix(_RUN))
                if planning.run is not None and planning.workflow_id == workflow_id:
                    planner.reflected(planning, reflection, note)
                return
            except UnknownPlanning:
                return
            except PlanningConflict:
                if not left:
                    raise

    def close(self) -> None:
        """Remove a temporary index."""
        if self._folder is not None:
            self._folder.cleanup()

    def _now_ms(self) -> int:
        return round(self.platform.clock() * 1000)

    def _matching(self) -> Matcher:
        from dcf.planner import Matcher

        if self._matcher is None:
            index = self.platform.config.index
            if index is None:
                self._folder = tempfile.TemporaryDirectory(prefix="dcf-stored-")
                path = Path(self._folder.name) / "stored.db"
            else:
                path = index.with_name(f"stored-{index.name}")
            self._matcher = Matcher(path, embedder_named(DEFAULT_EMBEDDER))
        return self._matcher

    def _guide(self, planner_agent_id: str | None, writes_waiting: bool) -> Guide:
        from dcf.knowledge import GraphSetting
        from dcf.planner import Guide

        is_off = GraphSetting.from_env(self.platform.config.env).mode == "off"
        history = None if is_off else _Measured(self.platform, writes_waiting).open
        return Guide(self._guidelines_of(planner_agent_id), history, clock=self._now_ms)

    def _guidelines_of(
        self, planner_agent_id: str | None
    ) -> Callable[[], Awaitable[tuple[Guidelines, str]]]:
        async def read() -> tuple[Guidelines, str]:
            return await guidelines_of(await self.platform.home(), planner_agent_id)

        return read

    def _model(self, context: FindContext | None) -> ModelAtHand | None:
        from dcf.agents.models import REHEARSAL, Models, named_model
        from dcf.planner import DraftLimits, ModelAtHand, Spending

        env = self.platform.config.env
        name = named_model(env, role="planner").name
        if name == REHEARSAL:
            return None
        limits = DraftLimits()

        def build() -> Model:
            return Models(env).of(name, Spending(limits))

        return ModelAtHand(build, limits, context)


@dataclass(slots=True)
class _Measured:
    """The graph for one call, which asks it several times; with ``writes_waiting`` the first time
    writes what waits for it."""

    platform: Platform
    writes_waiting: bool

    @asynccontextmanager
    async def open(self) -> AsyncIterator[History]:
        from dcf.mcp.graph_access import open_graph

        writing_s = _WRITING_S if self.writes_waiting else None
        self.writes_waiting = False
        async with open_graph(self.platform, writing_s=writing_s) as (knowledge, _):
            yield knowledge


async def guidelines_of(home: Home, planner_agent_id: str | None) -> tuple[Guidelines, str]:
    """What stands in the block of that agent, or of the one called ``planner``; and where it is
    from. Raises UnknownAgent for an id that nobody has."""
    from dcf.guidelines import LABEL, Guidelines, InvalidGuidelines, read_guidelines
    from dcf.memory import UnknownBlock

    agent_id = planner_agent_id
    if agent_id is None:
        found = await home.runtime.find(PLANNER)
        if found is None:
            return Guidelines(), "there are no guidelines yet"
        agent_id = found.id
    try:
        block = await home.runtime.block(agent_id, LABEL)
        return read_guidelines(block.value), f"agent {agent_id}"
    except UnknownBlock:
        return Guidelines(), "there are no guidelines yet"
    except InvalidGuidelines as wrong:
        return Guidelines(), f"the guidelines cannot be read: {wrong}"
