"""The planner of one server: its skills, what is stored in its workflows, its model if any."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dcf.mcp.agents_home import Home
from dcf.search import DEFAULT_EMBEDDER, embedder_named

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from pydantic_ai.models import Model

    from dcf.guidelines import Guidelines
    from dcf.mcp.platform import Platform
    from dcf.planner import Guide, Matcher, ModelAtHand, Planner

PLANNER = "planner"
"""The agent whose guidelines count, where a client names none."""


@dataclass(slots=True)
class PlanDesk:
    """``matcher`` is made when something is first matched."""

    platform: Platform
    _matcher: Matcher | None = None
    _folder: tempfile.TemporaryDirectory[str] | None = None

    def planner(self, planner_agent_id: str | None = None) -> Planner:
        """The planner, who reads the guidelines of that agent."""
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
            guide=self._guide(planner_agent_id),
            model=self._model(),
        )

    def planner_of(self, planning_id: str) -> Planner:
        """The planner who began the planning. Raises UnknownPlanning, PlanningDamaged."""
        planner = self.planner()
        advised = planner.store.read(planning_id).advised
        return planner if advised is None else self.planner(advised)

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

    def _guide(self, planner_agent_id: str | None) -> Guide:
        from dcf.knowledge import GraphSetting, Knowledge
        from dcf.planner import Guide

        setting = GraphSetting.from_env(self.platform.config.env)
        # A call of a tool waits for nothing that would have to be started first.
        is_there = setting.mode != "off" and setting.url is not None
        history = (lambda: Knowledge.open(setting)) if is_there else None
        return Guide(self._guidelines_of(planner_agent_id), history, clock=self._now_ms)

    def _guidelines_of(
        self, planner_agent_id: str | None
    ) -> Callable[[], Awaitable[tuple[Guidelines, str]]]:
        async def read() -> tuple[Guidelines, str]:
            return await guidelines_of(await self.platform.home(), planner_agent_id)

        return read

    def _model(self) -> ModelAtHand | None:
        from dcf.agents.models import REHEARSAL, Models, named_model
        from dcf.planner import DraftLimits, ModelAtHand, Spending

        env = self.platform.config.env
        name = named_model(env, role="planner").name
        if name == REHEARSAL:
            return None
        limits = DraftLimits()

        def build() -> Model:
            return Models(env).of(name, Spending(limits))

        return ModelAtHand(build, limits)


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
