"""Leading a planning on: to a question, to a refusal, or to what can be shown."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from dcf.agents import TaskError
from dcf.planner.conversation.bench import Bench
from dcf.planner.conversation.ceiling import refusals, within
from dcf.planner.conversation.draft_desk import DraftDesk, asks, before, failed, wanted
from dcf.planner.conversation.guidance import Guidance, Guide
from dcf.planner.conversation.planning import Planning
from dcf.planner.conversation.proposing import (
    Compiled,
    asking_objective,
    check_workflow,
    compile_source,
    proposed,
)
from dcf.planner.conversation.sourcing import basis_of, choose_stored, is_chosen
from dcf.planner.conversation.spending import DraftLimits
from dcf.planner.conversation.store import PlanningStore
from dcf.problem import Problem

if TYPE_CHECKING:
    from pydantic_ai.models import Model

GAVE_UP = "PLAN_DRAFT"
"""The problem of a planning for which a model drafted as often as it may."""

FindContext: TypeAlias = Callable[[str], Awaitable[Sequence[Mapping[str, str]]]]
"""Texts of a project that fit: ``{citation, text}`` each, the best first."""


@dataclass(frozen=True, slots=True)
class ModelAtHand:
    """``build`` gives the model for one drafting; it spends what it is given to. ``context`` finds
    what the model is told of the project for an objective (None: nothing is)."""

    build: Callable[[], Model]
    limits: DraftLimits = field(default_factory=DraftLimits)
    context: FindContext | None = None


class Advance:
    """Leads plannings on and saves each step when it is done."""

    def __init__(
        self,
        bench: Bench,
        store: PlanningStore,
        guide: Guide,
        model: ModelAtHand | None,
        clock: Callable[[], int],
    ) -> None:
        self.bench = bench
        self._store = store
        self._guide = guide
        self._model = model
        self._clock = clock

    async def on(self, planning: Planning) -> Planning:
        """``planning`` as far as it goes without asking. What was shown or approved before is to be
        shown again. Raises IndexUnusable, PlanningConflict, OSError."""
        planning = replace(
            planning,
            status="asking",
            problems=(),
            questions=(),
            shown=None,
            approval=None,
            workflow=None,
        )
        if not planning.objective and not (planning.source or planning.answers.get("procedure")):
            return self._saved(asking_objective(planning))
        guidance = await self._guide.consult(planning.id if planning.explores else None)
        if not is_chosen(planning):
            now = self._clock()
            planning = await choose_stored(
                planning, self.bench, has_model=self._model is not None, now=now
            )
            is_open = planning.source is None and not (planning.questions or planning.problems)
            if is_open and self._model is not None:
                return await self._drafted(planning, guidance)
            if planning.source is None:
                return self._saved(planning)
        return await self._proposed(planning, await self._compiled(planning, guidance), guidance)

    async def _compiled(self, planning: Planning, guidance: Guidance) -> Compiled:
        source = planning.source
        assert source is not None
        if source["kind"] == "workflow":
            text, file = source["text"], source["id"]
            return await check_workflow(text, file, planning.answers, self.bench)
        made = await compile_source(source, planning.answers, self.bench, guidance, self._guide)
        if made.document is None or not source["drafted"]:
            return made
        refused = refusals(planning, made.document, await self.bench.catalog())
        return replace(made, problems=(*made.problems, *refused))

    async def _proposed(self, planning: Planning, made: Compiled, guidance: Guidance) -> Planning:
        now = self._clock()
        planning = proposed(planning, made, await self.bench.catalog(), now)
        if planning.source is not None and planning.source["kind"] == "draft":
            planning = await within(planning, self.bench)
        advice = guidance.to_json()
        if planning.workflow is not None:
            name = planning.workflow["workflow_name"]
            advice["past"] = await self._guide.past(name, guidance)
            advice["notes"] = list(guidance.notes)
        if not planning.objective and planning.workflow is not None:
            said = str(planning.workflow.get("description") or planning.workflow["workflow_name"])
            planning = replace(planning, objective=said)
        return self._saved(replace(planning, guidance=advice))

    async def _drafted(self, planning: Planning, guidance: Guidance) -> Planning:
        """Let the model propose until the proposal is clean; each is saved before the next."""
        from dcf.planner.conversation.drafting import DraftOrder, draft

        assert self._model is not None
        limits, basis = self._model.limits, basis_of(planning)
        rounds = tuple(one for one in planning.rounds if one["basis"] == basis)
        planning = self._saved(replace(planning, status="drafting", rounds=rounds))
        desk = DraftDesk(planning, basis, self._compiled_with(guidance), self._saved_draft)
        order = DraftOrder(
            wanted(planning), await self._material(planning, guidance), before(rounds)
        )
        try:
            done = await draft(
                self._model.build(),
                order,
                self.bench.find_skills,
                desk.check,
                limits,
                rounds_left=max(0, limits.rounds - len(rounds)),
            )
        except TaskError as failure:
            return self._saved(failed(desk.planning, failure))
        current = desk.planning
        if done.ok:
            return await self._proposed(current, desk.last, guidance)
        if done.questions:
            return self._saved(asks(current, done.questions, self._clock()))
        hint = "say more with --answer, or write the procedure and plan with --from-sop"
        stuck = Problem(GAVE_UP, done.reason, hint=hint).to_dict()
        problems = (stuck, *current.problems)
        return self._saved(
            replace(current, status="invalid", problems=problems, plan=desk.last.plan)
        )

    async def _material(self, planning: Planning, guidance: Guidance) -> dict[str, Any]:
        find = self._model.context if self._model is not None else None
        found = await find(planning.objective) if find is not None else ()
        return {
            **({"project": list(found)} if found else {}),
            "skills": await self.bench.find_skills(planning.objective),
            "guidelines": guidance.to_json(),
            "stored_procedures_that_are_near": [
                {"id": one["id"], "title": one["title"], "score": one["score"]}
                for one in planning.nearest
            ],
        }

    def _compiled_with(
        self, guidance: Guidance
    ) -> Callable[[Planning, Mapping[str, Any]], Awaitable[Compiled]]:
        async def compiled(planning: Planning, source: Mapping[str, Any]) -> Compiled:
            return await self._compiled(replace(planning, source=source), guidance)

        return compiled

    def _saved_draft(self, planning: Planning, problems: Sequence[Problem]) -> Planning:
        errors = sum(one.is_error for one in problems)
        note = f"draft {len(planning.rounds)} of the model: {errors or 'no'} problems"
        return self._saved(planning.did(3, note, self._clock()))

    def _saved(self, planning: Planning) -> Planning:
        return self._store.save(replace(planning, updated_at=self._clock()))
