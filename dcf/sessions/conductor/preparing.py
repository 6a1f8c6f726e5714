"""From what was asked for to what can be delegated: which skills, which tier, by whom at best."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dcf.schema import PatternTooSlow
from dcf.sessions.conductor.errors import RuleTooSlow
from dcf.sessions.conductor.fired import Fired
from dcf.sessions.conductor.hinting import Hints
from dcf.sessions.conductor.line import Wish
from dcf.sessions.conductor.request import Item, Question, Topic
from dcf.sessions.conductor.rules import ConductorRules
from dcf.sessions.order import Order, type_of
from dcf.sessions.sessions import Sessions
from dcf.skills import SkillError
from dcf.workflow import WorkflowError

Discover = Callable[[str, int], Awaitable[Sequence[tuple[str, float]]]]
"""Finds skills for a text, at most so many: (manifest id, score), the best first."""
Workflows = Callable[[str], Awaitable[Mapping[str, Any]]]
"""The workflow document of a name or file. Raises LookupError, OSError,
ValueError, WorkflowError."""

_OBJECTIVE = 200
"""Characters of a session's objective that are searched with."""
_SAY_SKILL = "say `skill:NAME`, `yes` to give it away without one, or `drop it`"
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
        self._discover = discover
        self._workflows = workflows
        self._objective = objective[:_OBJECTIVE]

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
            item, found = await self._with_skills(item)
            fired += found
            if item.question is not None:
                return item, fired
        item, problem = await self._checked(item)
        if problem is not None:
            return _ask(item, "skill" if item.workflow is None else "order", problem), fired
        if item.workflow is not None:
            return item, fired
        item, found = self._hints.apply(item, _type(item))
        return item, [*fired, *found]

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

    async def _with_skills(self, item: Item) -> tuple[Item, list[Fired]]:
        """With the skills that were named, else with the one that is found."""
        if item.skills or item.any_skill or self._discover is None:
            preferred = self._hints.preferred(item.task_type or _type(item))
            # Who names a version means it.
            if preferred is None or len(item.skills) != 1 or "@" in item.skills[0]:
                return item, []
            if not await self._is_known(preferred):
                return item, [self._hints.unknown(preferred)]
            return replace(item, skills=(preferred,)), [self._hints.took(preferred, item.skills[0])]
        limits = self._rules.skills
        hits = list(await self._discover(item.text, limits.looked_at))
        good = [(name, score) for name, score in hits if score >= limits.min_score]
        if not good:
            near = "".join(f"; the nearest is {name} ({score:.2f})" for name, score in hits[:1])
            question = f"I know no skill for this{near}: {_SAY_SKILL}"
            why = f"none of {len(hits)} that were found scores {limits.min_score:g}"
            return _ask(item, "skill", question), [Fired("discover", why, "asked the user")]
        good, why = await self._by_objective(item.text, good)
        chosen = good[0][0]
        fired = [Fired("discover", why, f"skill {chosen}")]
        if self._hints.warns_of(chosen):
            # Another one that is only somehow like it may do what nobody asked for.
            least = max(score for _, score in good) - limits.close
            close = [name for name, score in good if score >= least]
            other = next((name for name in close if not self._hints.warns_of(name)), None)
            fired.append(self._hints.avoided(chosen, other))
            if other is None:
                question = (
                    f"The guidelines warn of {chosen} ({fired[-1].why}), and no other skill is "
                    f"nearly as good for this: say `skill:{chosen}` to use it nevertheless, name "
                    "another one, or `drop it`"
                )
                return _ask(item, "skill", question), fired
            chosen = other
        preferred = self._hints.preferred(
            item.task_type or type_of(Order("x", "", skills=[chosen]))
        )
        if preferred is not None and preferred != chosen:
            if await self._is_known(preferred):
                fired.append(self._hints.took(preferred, chosen))
                chosen = preferred
            else:
                fired.append(self._hints.unknown(preferred))
        return replace(item, skills=(chosen,)), fired

    async def _by_objective(
        self, text: str, good: list[tuple[str, float]]
    ) -> tuple[list[tuple[str, float]], str]:
        """Those that score nearly as much as the best one in the order in which they suit the
        objective of the session, then the others; why the first one is the first."""
        limits = self._rules.skills
        best, score = good[0]
        close = [name for name, at in good if at >= score - limits.close]
        why = f"{best} scores {score:.2f}"
        if len(close) < 2 or not self._objective or self._discover is None:
            return good, why
        hits = dict(await self._discover(f"{text} ({self._objective})", limits.looked_at))
        ordered = sorted(good, key=lambda one: (one[0] not in close, -hits.get(one[0], 0.0)))
        if ordered[0][0] != best:
            why = f"{why}, and {ordered[0][0]}, close to it, suits the objective better"
        return ordered, why

    async def _is_known(self, skill: str) -> bool:
        try:
            await self._sessions.checked(Order("x", self._by, skills=[skill]))
        except (SkillError, WorkflowError):
            return False
        return True

    async def _checked(self, item: Item) -> tuple[Item, str | None]:
        """With its skills by their ids, pinned; what is wrong."""
        document: Mapping[str, Any] | None = None
        if item.workflow is not None:
            found = await self.document(item.workflow)
            if isinstance(found, str):
                return item, f"{found}; {_SAY_ORDER}"
            document = found
        try:
            order = await self._sessions.checked(
                Order(item.text, self._by, skills=item.skills, workflow=document)
            )
        except (SkillError, WorkflowError) as error:
            say = _SAY_SKILL if item.workflow is None else _SAY_ORDER
            return item, f"{error}; {say}"
        return replace(item, skills=tuple(order.skills), pins=dict(order.pins or {}) or None), None


def _type(item: Item) -> str:
    """What statistics will call its task."""
    order = Order(
        item.text, "", specialization=item.specialization, skills=item.skills,
        task_type=item.task_type,
    )  # fmt: skip
    return type_of(order)


def _ask(item: Item, topic: Topic, text: str) -> Item:
    return replace(item, status="asked", question=Question(topic, text))
