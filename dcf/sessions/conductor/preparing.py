"""From what was asked for to what can be delegated: which skills, which tier, by whom at best."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from dcf.schema import PatternTooSlow
from dcf.sessions.conductor.discovering import SAY_SKILL, Discover, SkillFinder, type_of_item
from dcf.sessions.conductor.errors import RuleTooSlow
from dcf.sessions.conductor.fired import Fired
from dcf.sessions.conductor.hinting import Hints
from dcf.sessions.conductor.line import Wish
from dcf.sessions.conductor.request import Item, Question, Topic
from dcf.sessions.conductor.rules import ConductorRules
from dcf.sessions.conductor.traits import found_in
from dcf.sessions.order import Order
from dcf.sessions.sessions import Sessions
from dcf.sessions.task_run import document_of_order
from dcf.skills import SkillError
from dcf.workflow import WorkflowError

Workflows = Callable[[str], Awaitable[Mapping[str, Any]]]
"""The workflow document of a name or file. Raises LookupError, OSError,
ValueError, WorkflowError."""

_VALUES_SHOWN = 5
_SAY_ORDER = "say it anew, or `drop it`"


@dataclass(frozen=True, slots=True)
class Prepared:
    """An item that has no number yet, and what was decided about it; ``label`` is what other lines
    of the message call it, ``follows`` that it comes after the one before."""

    item: Item
    label: str | None = None
    follows: bool = False
    fired: tuple[Fired, ...] = ()


class Preparer:
    """Prepares items for ``by``, with what the guidelines say at this moment."""

    def __init__(
        self,
        sessions: Sessions,
        by: str,
        rules: ConductorRules,
        hints: Hints,
        discover: Discover | None,
        workflows: Workflows | None,
        objective: str = "",
    ) -> None:
        self._sessions = sessions
        self._by = by
        self._rules = rules
        self._hints = hints
        self._workflows = workflows
        self._finder = SkillFinder(sessions, by, rules, hints, discover, objective)

    async def prepare(self, wish: Wish, position: int) -> Prepared:
        """What is asked for, ready to be delegated, or with the question that stands in the way.
        Raises RuleTooSlow."""
        item = Item(
            number=0,
            position=position,
            text=wish.text,
            after=wish.after,
            inputs=wish.inputs,
            whom=None if wish.whom is None else f"{'@' if wish.is_name else ''}{wish.whom}",
            priority=wish.priority,
            timeout_s=wish.timeout_s,
            skills=wish.skills,
            workflow=wish.workflow,
        )
        item, fired = self._by_rules(item)
        item, more = await self.complete(item)
        return Prepared(item, wish.label, wish.follows, (*fired, *more))

    async def complete(self, item: Item) -> tuple[Item, list[Fired]]:
        """The item with its skills as they are now, its tier and its specialization."""
        fired: list[Fired] = []
        if item.workflow is None:
            item, found = await self._finder.with_skills(item)
            fired += found
            if item.question is not None:
                return item, fired
        item, problem = await self._checked(item)
        if problem is not None:
            return _ask(item, "skill" if item.workflow is None else "order", problem), fired
        if item.workflow is not None:
            return item, fired
        item, found = await self._with_inputs(item)
        if item.question is not None:
            return item, [*fired, *found]
        item, more = self._hints.apply(item, type_of_item(item))
        return item, [*fired, *found, *more]

    async def document(self, name: str) -> Mapping[str, Any] | str:
        """The document of a workflow; why there is none."""
        if self._workflows is None:
            return "workflows cannot be found here"
        try:
            return await self._workflows(name)
        except (LookupError, OSError, ValueError, WorkflowError) as error:
            return f"the workflow {name} cannot be read: {error}"

    def _by_rules(self, item: Item) -> tuple[Item, list[Fired]]:
        fired = []
        for rule in self._rules.about("task"):
            try:
                applies = rule.occurs(item.text) and rule.fits_skills(item.skills)
            except PatternTooSlow as slow:
                raise RuleTooSlow(rule=rule.name, pattern=str(slow)) from None
            if not applies:
                continue
            new: dict[str, Any] = {
                name: tuple(value) if name == "skills" else value
                for name, value in rule.set.items()
                if not getattr(item, name)
            }
            if new:
                item = replace(item, **new)
                did = ", ".join(f"{name}: {rule.set[name]}" for name in new)
                fired.append(Fired(rule.name, "the task says so", did))
            if rule.stop:
                break
        return item, fired

    async def _with_inputs(self, item: Item) -> tuple[Item, list[Fired]]:
        """With the inputs of its skills that its text says without their names; that wins over what
        the session shares. Where the text says several, the user is asked."""
        fired: list[Fired] = []
        for skill in item.skills:
            traits = await self._finder.traits(skill)
            found = found_in(item.text, traits.shapes) if traits is not None else {}
            for name, values in found.items():
                if name in item.inputs:
                    continue
                if len(values) > 1:
                    said = " or ".join(values[:_VALUES_SHOWN])
                    text = f"Which {name} is meant, {said}? Say `{name}={values[0]}`, for example"
                    return _ask(item, "input", f"{text}, or `drop it`"), fired
                item = replace(item, inputs={**item.inputs, name: values[0]})
                why = f"the text says {values[0]}, which looks like an input of {skill}"
                fired.append(Fired("inputs", why, f"{name}={values[0]}"))
        return item, fired

    async def _checked(self, item: Item) -> tuple[Item, str | None]:
        """With its skills by their ids, pinned; what is wrong."""
        document: Mapping[str, Any] | None = None
        if item.workflow is not None:
            found = await self.document(item.workflow)
            if isinstance(found, str):
                return item, f"{found}; {_SAY_ORDER}"
            document = found
        order = Order(item.text, self._by, skills=item.skills, workflow=document)
        try:
            order = await self._sessions.checked(order)
        except (SkillError, WorkflowError) as error:
            say = SAY_SKILL if item.workflow is None else _SAY_ORDER
            return item, f"{error}; {say}"
        if document is not None:
            bad = document_of_order(order, (), None).check_input(item.inputs)
            if bad:
                told = "; ".join(str(problem) for problem in bad)
                return item, f"{told}; say the inputs that it needs (`name=value`), or `drop it`"
        return replace(item, skills=tuple(order.skills), pins=dict(order.pins or {}) or None), None


def _ask(item: Item, topic: Topic, text: str) -> Item:
    return replace(item, status="asked", question=Question(topic, text))
