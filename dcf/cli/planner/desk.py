"""The planner of the command line, opened from the settings."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from decimal import Decimal
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from dcf.agents.models import REHEARSAL, Models, named_model
from dcf.cli.generated_skills import open_skills
from dcf.cli.model_check import demand_models
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf.guidelines import Guidelines
from dcf.planner import (
    Bench,
    DraftLimits,
    FindContext,
    Guide,
    History,
    ModelAtHand,
    Planner,
    PlanningStore,
    Spending,
    the_embedder,
)
from dcf.search import embedder_named
from dcf.skills import SkillCatalog
from dcf.skills.discovery import SkillSearch, index_path

if TYPE_CHECKING:
    from pydantic_ai.models import Model

T = TypeVar("T")
WORKFLOWS = Path("workflows")
PLANNER = "planner"
"""The name of the agent whose guidelines count."""


def open_planner(
    settings: Settings,
    screen: Screen,
    max_cost: float | None = None,
    context: int | None = None,
    *,
    needs_skills: bool = True,
) -> Planner:
    """The planner for the workflows in this folder. A model is told what fits of the project in at
    most ``context`` tokens (None: nothing). Raises BadInput where it
    ``needs_skills`` and there are none, the model that is set cannot be asked, or the project
    cannot be searched."""
    demand_models(settings)
    return Planner(
        open_bench(settings, needs_skills=needs_skills),
        open_plannings(),
        clock=now_ms,
        new_id=lambda: secrets.token_hex(4),
        guide=open_guide(settings, screen),
        model=_model(settings, screen, max_cost, context),
        explore=settings.explore,
    )


def open_bench(settings: Settings, *, needs_skills: bool = True) -> Bench:
    """What the planner works with. Raises BadInput where it ``needs_skills`` and there are none: a
    procedure whose steps are all done by people needs none."""
    has_skills = needs_skills or (settings.generated / "catalogs").is_dir()
    catalog = open_skills(settings.generated) if has_skills else SkillCatalog([])
    embedder = embedder_named(settings.embedder)
    index = index_path(settings.home, settings.generated, settings.embedder)
    search = SkillSearch(index, embedder)

    async def read_catalog() -> SkillCatalog:
        return catalog

    def use(work: Callable[[SkillSearch], T]) -> Awaitable[T]:
        return asyncio.to_thread(work, search)

    return Bench(
        read_catalog,
        use,
        settings.generated,
        WORKFLOWS,
        settings.embedder,
        the_embedder(embedder, stored_index(settings.home, WORKFLOWS, settings.embedder)),
    )


def open_plannings() -> PlanningStore:
    """The plannings of this folder."""
    return PlanningStore(WORKFLOWS / "plannings")


def stored_index(home: Path, workflows: Path, embedder: str) -> Path:
    """Where the index of what is stored in ``workflows`` lies."""
    place = sha256(str(workflows.resolve()).encode("utf-8", "surrogateescape")).hexdigest()[:12]
    return home / "search" / f"stored-{embedder}-{place}.db"


def now_ms() -> int:
    """Milliseconds since the epoch, UTC."""
    return time.time_ns() // 1_000_000


def _model(
    settings: Settings, screen: Screen, max_cost: float | None, context: int | None
) -> ModelAtHand | None:
    name = named_model(settings.env, role="planner").name
    if name == REHEARSAL:
        return None
    limits = DraftLimits()
    if max_cost is not None:
        limits = replace(limits, cost_usd=Decimal(str(max_cost)))
    models = Models(settings.env)

    def build() -> Model:
        return models.of(name, Spending(limits))

    find = None if context is None else project_context(settings, screen, context)
    return ModelAtHand(build, limits, find)


def project_context(settings: Settings, screen: Screen, budget: int) -> FindContext:
    """Finds what the project of this folder has for an objective, in at most ``budget`` tokens.
    What keeps it from being found is said, and keeps nobody from planning. Raises BadInput."""
    from dcf.cli.memory.opening import person
    from dcf.cli.retrieval.opening import open_retrieval
    from dcf.cli.retrieval.setting import RetrievalSetting
    from dcf.memory import MemoryProblem
    from dcf.retrieval import Caller, ContextQuestion, RetrievalProblem, limit_of

    setting = RetrievalSetting.from_env(settings.env)
    project = setting.projects.chosen(None, None)

    async def find(objective: str) -> list[dict[str, str]]:
        question = ContextQuestion(project, objective, limit=limit_of(None, budget), budget=budget)
        by = person("`dcf plan`")
        try:
            async with open_retrieval(settings, setting, by) as retrieval:
                answered = await retrieval.context(question, Caller(by.name))
        except (MemoryProblem, RetrievalProblem) as problem:
            screen.say(f"warning: the model is told nothing of the project: {problem}")
            return []
        for one in answered.problems:
            screen.say(f"warning: {one.message}")
        return [
            {"citation": one.candidate.citation, "text": one.candidate.text}
            for one in answered.found
        ]

    return find


def open_guide(settings: Settings, screen: Screen) -> Guide:
    """What earlier runs taught. A graph is asked where there may have been runs: an embedded one is
    started for that, and not in a home where nothing ever ran."""
    from dcf.cli.settings import graph_mode

    @asynccontextmanager
    async def history() -> AsyncIterator[History]:
        from dcf.cli.graph.access import open_graph

        async with open_graph(settings, screen) as (knowledge, _):
            yield knowledge

    async def guidelines() -> tuple[Guidelines, str]:
        return await _guidelines(settings)

    is_asked = graph_mode(settings.env) != "off" and _was_used(settings)
    return Guide(guidelines, history if is_asked else None, clock=now_ms)


def _was_used(settings: Settings) -> bool:
    own = any(settings.env.get(name) for name in ("DCF_GRAPH_URL", "DCF_REDIS_URL"))
    return own or any((settings.home / folder).exists() for folder in ("redis", "graph"))


async def _guidelines(settings: Settings) -> tuple[Guidelines, str]:
    """What stands in the block of the agent ``planner``."""
    from dcf.agents import open_runtime
    from dcf.guidelines import LABEL, InvalidGuidelines, read_guidelines
    from dcf.memory import Memory, UnknownBlock, random_id, source_of

    source = source_of(settings.env, settings.home)
    if not source.path.exists():
        return Guidelines(), "there are no guidelines yet"
    async with (
        Memory.open(source, clock=now_ms, new_id=random_id, embedder=settings.embedder) as memory,
        open_runtime(memory, settings.env) as runtime,
    ):
        agent = await runtime.find(PLANNER)
        if agent is None:
            return Guidelines(), "there are no guidelines yet"
        try:
            block = await runtime.block(agent.id, LABEL)
            return read_guidelines(block.value), f"the agent {PLANNER}"
        except UnknownBlock:
            return Guidelines(), "there are no guidelines yet"
        except InvalidGuidelines as wrong:
            return Guidelines(), f"the guidelines cannot be read: {wrong}"
