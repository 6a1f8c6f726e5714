"""The proposals of a model: each is checked by code and kept with its problems."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from dcf.agents import TaskError
from dcf.planner.conversation.planning import Planning
from dcf.planner.conversation.proposing import Compiled, draft_text
from dcf.planner.conversation.question import WISHES
from dcf.planner.conversation.sourcing import clarified
from dcf.problem import Problem, has_errors


class DraftDesk:
    """Checks the proposals of a model, and keeps each with its problems."""

    def __init__(
        self,
        planning: Planning,
        basis: str,
        compiled: Callable[[Planning, Mapping[str, Any]], Awaitable[Compiled]],
        save: Callable[[Planning, Sequence[Problem]], Planning],
    ) -> None:
        self._basis = basis
        self._compiled = compiled
        self._save = save
        self.planning = planning
        self.last = Compiled(None, ())

    async def check(self, proposal: Mapping[str, Any]) -> Sequence[Problem]:
        """What stands in the way of ``proposal``."""
        planning = self.planning
        text = draft_text(proposal, planning.objective)
        source = {
            "kind": "draft",
            "id": "draft.json",
            "title": str(proposal.get("title") or "draft"),
            "text": text,
            "basis": self._basis,
            "drafted": True,
        }
        self.last = await self._compiled(planning, source)
        said = tuple(one.to_dict() for one in self.last.problems)
        is_clean = not has_errors(self.last.problems)
        entry = {"basis": self._basis, "draft": text, "problems": list(said)}
        kept = replace(
            planning,
            rounds=(*planning.rounds, entry),
            # A draft with errors is no source: whoever goes on has another one drafted.
            source=source if is_clean else None,
            problems=said,
        )
        self.planning = self._save(kept, self.last.problems)
        return self.last.problems


def asks(planning: Planning, questions: tuple[str, ...], now: int) -> Planning:
    """``planning`` with what the model asks the person."""
    asked = clarified(questions, planning.clarifications)
    texts = {one.name: one.text for one in asked}
    noted = planning.did(1, f"the model asks: {'; '.join(texts.values())}", now)
    known = {**planning.clarifications, **texts}
    return replace(noted, status="asking", questions=asked, clarifications=known)


def failed(planning: Planning, failure: TaskError) -> Planning:
    """``planning`` whose model could not be asked, or had no budget left."""
    hint = "`dcf plan --resume ID` asks it again, from where it stopped"
    problem = Problem("PLAN_MODEL", f"the model failed: {failure}", hint=hint)
    return replace(planning, status="drafting", problems=(problem.to_dict(),))


def wanted(planning: Planning) -> dict[str, Any]:
    """What the person said, as the model is told."""
    answers = planning.answers
    said: dict[str, Any] = {"objective": planning.objective}
    said |= {name: answers[name] for name in (*WISHES, "change") if name in answers}
    refused = [name for name, may in planning.allowed.items() if may is False]
    if refused:
        said["not_allowed"] = refused
    answered = [
        {"question": text, "answer": answers[name]}
        for name, text in planning.clarifications.items()
        if name in answers
    ]
    return {**said, "answers": answered} if answered else said


def before(rounds: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """The newest proposal and what was wrong with it."""
    if not rounds:
        return None
    return {"proposal": rounds[-1]["draft"], "problems": rounds[-1]["problems"]}
