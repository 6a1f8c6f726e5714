"""The planner: leads a planning from an objective to an approved workflow, and to its results."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from dcf.planner.conversation.advancing import GAVE_UP, Advance, ModelAtHand
from dcf.planner.conversation.bench import Bench
from dcf.planner.conversation.ceiling import allowing_source, told, unclear
from dcf.planner.conversation.guidance import Guide, no_guide
from dcf.planner.conversation.permissions import permissions_of, shown_digest
from dcf.planner.conversation.planning import Planning
from dcf.planner.conversation.question import ALLOW, check_answers, not_text
from dcf.planner.conversation.sourcing import GIVEN
from dcf.planner.conversation.store import PlanningStore, ordered_json, write_file
from dcf.planner.conversation.wishing import unreadable
from dcf.planner.errors import InvalidAnswers, ShownOtherwise, WorkflowChanged, WrongStatus
from dcf.problem import Problem
from dcf.regular_file import read_regular

_LONGEST_OBJECTIVE = 4_000


class Planner:
    """Works on plannings in ``store``; each step is saved when it is done, so that whoever is
    killed goes on after the last one. ``clock`` counts ms since the epoch, ``new_id`` gives names
    of small letters and digits. Without ``model`` nothing is drafted. With ``explore`` the
    plannings that it starts take a version of a skill now and then to learn about it."""

    def __init__(
        self,
        bench: Bench,
        store: PlanningStore,
        *,
        clock: Callable[[], int],
        new_id: Callable[[], str],
        guide: Guide | None = None,
        model: ModelAtHand | None = None,
        explore: bool = True,
    ) -> None:
        self.bench = bench
        self.store = store
        self.guide = guide or no_guide(clock)
        self._clock = clock
        self._new_id = new_id
        self._explore = explore
        self._advance = Advance(bench, store, self.guide, model, clock)

    @property
    def generated(self) -> Path:
        """The folder of approved workflows."""
        return self.bench.workflows / "generated"

    async def start(
        self,
        objective: str,
        answers: Mapping[str, Any] | None = None,
        *,
        procedure: tuple[str, str] | None = None,
        strict: bool = False,
        advised: str | None = None,
    ) -> Planning:
        """A new planning, as far as it goes without asking. ``procedure`` is the name and the text
        of one that the person brings, or of any runbook unless it is ``strict``, ``advised`` the
        agent of the guide. Where a model fails, the
        planning says so, and ``resume`` asks it again. Raises InvalidAnswers, OSError."""
        now = self._clock()
        planning = Planning(self._new_id(), now, now, advised=advised, explores=self._explore)
        if procedure is not None:
            name, text = procedure
            if problem := not_text(name, name + text):
                raise InvalidAnswers([problem])
            source = {"kind": "procedure", "id": name, "title": name, "text": text, "basis": GIVEN}
            planning = replace(planning, source={**source, "drafted": False, "strict": strict}).did(
                3, f"given: {name}", now
            )
        given = {**(answers or {})}
        if objective.strip():
            given["objective"] = objective
        return await self._advance.on(self._told(planning, given))

    async def answer(
        self, id_: str, answers: Mapping[str, Any], *, expected: int | None = None
    ) -> Planning:
        """The planning with more answers, led on; what was approved is to be approved again.
        Raises as ``start``, and UnknownPlanning, PlanningConflict, WrongStatus."""
        planning = self._read(id_, expected)
        if planning.status in ("running", "ended"):
            raise WrongStatus(id=id_, status=planning.status, what="nothing of it changes any more")
        return await self._advance.on(self._told(planning, answers))

    async def resume(self, id_: str) -> Planning:
        """The planning, led on from where it was left. One that waits for answers, or for which a
        model drafted as often as it may, is returned as it is: nobody is asked again for the same
        wishes. Raises as ``answer``."""
        planning = self.store.read(id_)
        if planning.status in ("shown", "approved"):
            return await self._refreshed(planning)
        waits = planning.status == "asking" and planning.questions
        gave_up = any(one["code"] == GAVE_UP for one in planning.problems)
        if planning.status in ("running", "ended") or waits or gave_up:
            return planning
        return await self._advance.on(planning)

    async def approve(
        self, id_: str, shown: str, *, by: str, expected: int | None = None
    ) -> Planning:
        """Approve what was shown under the digest ``shown``, and keep the workflow. Raises
        WrongStatus, ShownOtherwise when anything is different by now, PlanningConflict, OSError."""
        planning = self._read(id_, expected)
        if planning.status == "approved" and planning.shown == shown:
            await asyncio.to_thread(self._keep, planning)
            return planning
        if planning.status != "shown":
            raise WrongStatus(id=id_, status=planning.status, what="there is nothing to approve")
        if shown != planning.shown:
            raise ShownOtherwise(why=f"the plan has the digest {planning.shown}, not {shown}")
        planning = await self._refreshed(planning)
        if planning.shown != shown:
            raise ShownOtherwise(why="skills have changed since")
        now = self._clock()
        approval = {"digest": shown, "by": by, "at": now}
        kept = tuple(dict.fromkeys((*planning.kept, _digest_in(ordered_json(planning.workflow)))))
        planning = replace(
            planning, status="approved", approval=approval, kept=kept, updated_at=now
        )
        planning = self.store.save(planning.did(6, f"{by} approved {shown}", now))
        await asyncio.to_thread(self._keep, planning)
        return planning

    async def begin(self, id_: str, *, is_there: bool = False) -> tuple[Planning, Path]:
        """The approved planning, about to run, and the file of its workflow; again for one that
        runs. Where the run ``is_there`` already, it is pinned to the skills it began with; where it
        is not and anything changed after the approval, the planning is shown anew. Raises
        WrongStatus, ShownOtherwise, WorkflowChanged, OSError."""
        planning = self.store.read(id_)
        if planning.status not in ("approved", "running"):
            raise WrongStatus(id=id_, status=planning.status, what="only what is approved runs")
        if not is_there and not await self._is_as_approved(planning):
            await self._advance.on(replace(planning, run=None))
            raise ShownOtherwise(why="the workflow or its skills changed after the approval")
        file = await asyncio.to_thread(self._keep, planning)
        if planning.status == "approved":
            run = {"workflow_id": planning.workflow_id, "file": str(file)}
            planning = self._saved(replace(planning, status="running", run=run))
        return planning, file

    def note(self, planning: Planning, steps: Mapping[int, str]) -> Planning:
        """``planning`` with ``steps`` in its journal. Raises PlanningConflict, OSError."""
        noted = planning
        for step, text in steps.items():
            noted = noted.did(step, text, self._clock())
        return planning if noted is planning else self._saved(noted)

    def ended(
        self, planning: Planning, run: Mapping[str, Any], steps: Mapping[int, str]
    ) -> Planning:
        """``planning`` whose run is over. Raises PlanningConflict, OSError."""
        for step, text in steps.items():
            planning = planning.did(step, text, self._clock())
        return self._saved(replace(planning, status="ended", run={**(planning.run or {}), **run}))

    def reflected(self, planning: Planning, reflection: Mapping[str, Any], note: str) -> Planning:
        """``planning`` of whose run something was learned. Raises PlanningConflict, OSError."""
        planning = planning.did(14, note, self._clock())
        return self._saved(replace(planning, reflection=dict(reflection)))

    def _read(self, id_: str, expected: int | None) -> Planning:
        planning = self.store.read(id_)
        # What was seen is named by its revision; another one is refused when it is saved.
        return planning if expected is None else replace(planning, revision=expected)

    def _told(self, planning: Planning, given: Mapping[str, Any]) -> Planning:
        problems = check_answers(given)
        objective = given.get("objective")
        if isinstance(objective, str) and len(objective) > _LONGEST_OBJECTIVE:
            message = f"has {len(objective):,} characters, more than {_LONGEST_OBJECTIVE:,}"
            problems.append(Problem("PLAN_ANSWER", message, file="objective"))
        if not problems:
            problems += unreadable(given.get("guardrails"))
        if not problems and ALLOW in given and (wrong := unclear(given[ALLOW])) is not None:
            problems.append(wrong)
        if problems:
            raise InvalidAnswers(problems)
        if given.get("change") and not objective:
            planning = allowing_source(planning, given["change"])
        if ALLOW in given:
            planning = told(planning, given[ALLOW])
        kept = {name: one for name, one in given.items() if name not in ("objective", ALLOW)}
        said = str(objective).strip() if objective else planning.objective
        planning = replace(planning, objective=said, answers={**planning.answers, **kept})
        names = ", ".join(given) or "nothing yet"
        return planning.did(1, f"answered: {names}", self._clock())

    async def _refreshed(self, planning: Planning) -> Planning:
        """The planning with permissions as they are now; what is shown otherwise is shown again."""
        assert planning.workflow is not None
        permissions = permissions_of(planning.workflow, await self.bench.catalog()).to_json()
        if permissions == planning.permissions:
            return planning
        return await self._advance.on(planning)

    async def _is_as_approved(self, planning: Planning) -> bool:
        assert planning.workflow is not None and planning.approval is not None
        permissions = permissions_of(planning.workflow, await self.bench.catalog()).to_json()
        now = shown_digest(planning.workflow, planning.input, permissions)
        return bool(planning.approval["digest"] == now)

    def _keep(self, planning: Planning) -> Path:
        """Write the approved workflow; over one that was approved before, over no other."""
        file = self.generated / f"{planning.workflow_id}.json"
        text = ordered_json(planning.workflow)
        found = read_regular(file) if file.exists() else None
        if found is not None and found != text and _digest_in(found) not in planning.kept:
            raise WorkflowChanged(file=file)
        if found != text:
            write_file(file, text)
        return file

    def _saved(self, planning: Planning) -> Planning:
        return self.store.save(replace(planning, updated_at=self._clock()))


def _digest_in(content: bytes) -> str:
    """The digest of a workflow's file, by its bytes: another form of the same is a change too."""
    return sha256(content).hexdigest()
