"""A planner over the skills and procedures of the repository, with a scripted model or none."""

from __future__ import annotations

import asyncio
import itertools
import json
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from dcf.planner import (
    Bench,
    DraftLimits,
    FindContext,
    Guide,
    ModelAtHand,
    Planner,
    PlanningStore,
    the_embedder,
)
from dcf.search import Embedder, embedder_named
from dcf.skills import SkillCatalog
from dcf.skills.discovery import SkillSearch

ROOT = Path(__file__).parents[3]
T = TypeVar("T")
Reply = dict[str, Any] | Callable[[list[ModelMessage]], dict[str, Any]]
"""``{tool: arguments}``, the arguments as a dictionary or as JSON text."""


@cache
def embedder() -> Embedder:
    return embedder_named("wordllama")


@cache
def catalog() -> SkillCatalog:
    return SkillCatalog.load(ROOT / "generated")


@cache
def skill_search() -> SkillSearch:
    """One index for all tests: embedding the skills takes longer than most of them."""
    folder = tempfile.TemporaryDirectory(prefix="dcf-test-skills-")
    _FOLDERS.append(folder)
    return SkillSearch(Path(folder.name) / "skills.db", embedder())


_FOLDERS: list[tempfile.TemporaryDirectory[str]] = []
"""Gone with the process."""


def stored_copy(folder: Path) -> Path:
    """The stored procedures and workflows of the repository, in a folder of the test's own."""
    workflows = folder / "workflows"
    shutil.copytree(ROOT / "workflows" / "sops", workflows / "sops")
    for file in (ROOT / "workflows").glob("*.json"):
        shutil.copy(file, workflows)
    return workflows


class Script:
    """A model that answers as the test says: each reply calls one tool, ``{tool: arguments}``."""

    def __init__(self, *replies: Reply) -> None:
        self._replies = list(replies)
        self.heard: list[list[ModelMessage]] = []

    def model(self) -> FunctionModel:
        return FunctionModel(self._answer, model_name="scripted")

    def _answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.heard.append(list(messages))
        reply = self._replies.pop(0)
        said = reply(messages) if callable(reply) else reply
        [(tool, arguments)] = said.items()
        return ModelResponse(parts=[ToolCallPart(tool, arguments)])

    def text(self, at: int) -> str:
        """All that the model was told with its request ``at``."""
        return "\n".join(str(part) for message in self.heard[at] for part in message.parts)


@dataclass(frozen=True, slots=True)
class PoisonedBench(Bench):
    """All skills are described as somebody with bad intentions would."""

    described: str = ""

    async def find_skills(self, query: str) -> list[dict[str, Any]]:
        # Not super(): a dataclass with slots is another class than the one in the closure.
        found = await Bench.find_skills(self, query)
        return [{**one, "description": self.described} for one in found]


class Desk:
    """``skills`` may be changed under the planner's hands; ``context`` is what the model is told of
    the project; ``described`` is what the search of a
    model finds as the description of every skill."""

    def __init__(
        self,
        folder: Path,
        *,
        script: Script | None = None,
        limits: DraftLimits | None = None,
        guide: Guide | None = None,
        described: str | None = None,
        context: FindContext | None = None,
    ) -> None:
        self.skills = catalog()
        self.workflows = folder / "workflows"
        if not self.workflows.exists():
            stored_copy(folder)
        search = skill_search()
        ticks = itertools.count(1_700_000_000_000)
        names = itertools.count(1)

        async def current() -> SkillCatalog:
            return self.skills

        def use(work: Callable[[SkillSearch], T]) -> Awaitable[T]:
            return asyncio.to_thread(work, search)

        model = None
        if script is not None:
            model = ModelAtHand(script.model, limits or DraftLimits(), context)
        self.clock = lambda: next(ticks)
        self.store = PlanningStore(self.workflows / "plannings")
        bench = Bench if described is None else partial(PoisonedBench, described=described)
        self.planner = Planner(
            bench(
                current,
                use,
                ROOT / "generated",
                self.workflows,
                "wordllama",
                the_embedder(embedder(), folder / "stored.db"),
            ),
            self.store,
            clock=self.clock,
            new_id=lambda: f"plan{next(names):04}",
            guide=guide,
            model=model,
        )


def procedure(*steps: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A proposal of a model."""
    return {
        "title": "Answer a ticket about a loud machine",
        "objective": "something else entirely",
        "inputs": [{"name": "ticket_id", "example": "TCK-101"}],
        "outputs": [{"name": "category"}],
        "steps": [{"number": str(at), **step} for at, step in enumerate(steps, 1)],
        **more,
    }


TRIAGE = {
    "title": "Read the ticket and sort it",
    "skills": ["support.triage_ticket"],
    "reads": ["ticket_id"],
    "writes": ["category"],
}
"""A step that is right."""


def journal(planning: Any, step: int) -> Sequence[str]:
    return [one["note"] for one in planning.journal if one["step"] == step]


def as_text(value: Any) -> str:
    return json.dumps(value)
