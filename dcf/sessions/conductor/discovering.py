"""Which skill a task gets: the one that is named, else one that is found, if it may be taken."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from dcf.sessions.conductor.fired import Fired
from dcf.sessions.conductor.hinting import Hints
from dcf.sessions.conductor.request import Item, Question
from dcf.sessions.conductor.rules import ConductorRules
from dcf.sessions.conductor.traits import Traits, is_harmless, rank, without_names
from dcf.sessions.order import Order, type_of
from dcf.sessions.sessions import Sessions
from dcf.skills import SkillError
from dcf.workflow import WorkflowError

Discover = Callable[[str, int], Awaitable[Sequence[tuple[str, float]]]]
"""Finds skills for a text, at most so many: (manifest id, score), the best first."""
Hits = list[tuple[str, float]]

SAY_SKILL = "say `skill:NAME`, `yes` to give it away without one, or `drop it`"
_KIND = "skill."
_OBJECTIVE = 200
"""Characters of a session's objective that are searched with."""


class SkillFinder:
    """Finds skills for the tasks that ``by`` gives, with what the guidelines say at this moment."""

    def __init__(
        self,
        sessions: Sessions,
        by: str,
        rules: ConductorRules,
        hints: Hints,
        discover: Discover | None,
        objective: str,
    ) -> None:
        self._sessions = sessions
        self._by = by
        self._limits = rules.skills
        self._hints = hints
        self._discover = discover
        self._objective = objective[:_OBJECTIVE]

    async def with_skills(self, item: Item) -> tuple[Item, list[Fired]]:
        """The item with the skills that were named, else with the one that is found; or with the
        question which one shall be taken."""
        if item.skills or item.any_skill or self._discover is None:
            return await self._named(item)
        hits = list(await self._discover(without_names(item.text), self._limits.looked_at))
        is_question = self._limits.is_question(item.text)
        good = await (self._harmless(hits) if is_question else self._good(hits))
        if not good:
            return await self._asked(item, hits, is_question)
        chosen, why = await self._by_objective(item.text, good)
        fired = [Fired("discover", why, f"skill {chosen}")]
        if self._hints.warns_of(chosen):
            other = await self._instead_of(chosen, good)
            fired.append(self._hints.avoided(chosen, other))
            if other is None:
                name = chosen.removeprefix(_KIND)
                text = (
                    f"The guidelines warn of {name} ({fired[-1].why}), and no other skill is "
                    f"nearly as good for this: say `skill:{name}` to use it nevertheless, name "
                    "another one, or `drop it`"
                )
                return replace(item, status="asked", question=Question("skill", text)), fired
            chosen = other
        chosen, more = await self._preferred(item, chosen, is_question)
        return replace(item, skills=(chosen,)), [*fired, *more]

    async def traits(self, skill: str) -> Traits | None:
        """What is known of a skill."""
        try:
            manifest = await self._sessions.skill(skill)
        except SkillError:
            return None
        return None if manifest is None else Traits.of(manifest)

    async def _named(self, item: Item) -> tuple[Item, list[Fired]]:
        """With the one that is preferred to the skill that was named."""
        preferred = self._hints.preferred(item.task_type or type_of_item(item))
        # Who names a version means it.
        if preferred is None or len(item.skills) != 1 or "@" in item.skills[0]:
            return item, []
        if not await self._is_known(preferred):
            return item, [self._hints.unknown(preferred)]
        return replace(item, skills=(preferred,)), [self._hints.took(preferred, item.skills[0])]

    async def _preferred(
        self, item: Item, chosen: str, is_question: bool
    ) -> tuple[str, list[Fired]]:
        """The one that is preferred to the skill that was found."""
        type_ = item.task_type or type_of(Order("x", "", skills=[chosen]))
        preferred = self._hints.preferred(type_)
        if preferred is None or preferred == chosen:
            return chosen, []
        if not await self._is_known(preferred):
            return chosen, [self._hints.unknown(preferred)]
        if is_question and not is_harmless(await self.traits(preferred)):
            return chosen, [self._hints.does_more(preferred)]
        return preferred, [self._hints.took(preferred, chosen)]

    async def _good(self, hits: Hits) -> Hits:
        """Those that score enough; none where the best one does not, since the others were meant
        still less."""
        good = [hit for hit in hits if await self._is_good(*hit)]
        return good if good[:1] == hits[:1] else []

    async def _harmless(self, hits: Hits) -> Hits:
        """Those near the best one that do nothing but answer."""
        least = max(
            [self._limits.min_score, *(score - self._limits.close for _, score in hits[:1])]
        )
        return [
            (name, score)
            for name, score in hits
            if score >= least and is_harmless(await self.traits(name))
        ]

    async def _is_good(self, skill: str, score: float) -> bool:
        """Whether it scores enough: what may do harm must be meant more surely."""
        limits = self._limits
        harmless = is_harmless(await self.traits(skill))
        return score >= (limits.min_score if harmless else max(limits.min_score, limits.sure_score))

    async def _asked(self, item: Item, hits: Hits, is_question: bool) -> tuple[Item, list[Fired]]:
        """The item with the question which skill is meant."""
        if is_question and hits and await self._is_good(*hits[0]):
            about = await self.traits(hits[0][0]) or "nothing is known of its risk"
            name = hits[0][0].removeprefix(_KIND)
            why = f"{name} is nearest to a question, but does more than answer ({about})"
            text = (
                f"This is a question, and the skill that is nearest to it, {name}, does more than "
                f"answer ({about}): say `skill:{name}` to use it all the same, name another one, "
                "or `drop it`"
            )
        else:
            near = "".join(
                f"; the nearest is {name.removeprefix(_KIND)} ({score:.2f})"
                for name, score in hits[:1]
            )
            why = f"none of the {len(hits)} that were found scores as much as it must"
            text = f"I know no skill for this{near}: {SAY_SKILL}"
        asked = replace(item, status="asked", question=Question("skill", text))
        return asked, [Fired("discover", why, "asked the user")]

    async def _by_objective(self, text: str, good: Hits) -> tuple[str, str]:
        """The best one, or of those that score just as much, and where no more can go wrong, the
        one that suits the objective of the session best; why."""
        best, score = good[0]
        most = rank(await self.traits(best))
        tied = [
            name
            for name, at in good
            if at >= score - self._limits.tie and rank(await self.traits(name)) <= most
        ]
        why = f"{best} scores {score:.2f}"
        if len(tied) < 2 or not self._objective or self._discover is None:
            return best, why
        query = f"{without_names(text)} ({self._objective})"
        suits = dict(await self._discover(query, self._limits.looked_at))
        chosen = max(tied, key=lambda name: suits.get(name, 0.0))
        if chosen != best:
            why = f"{why}, and {chosen}, which scores just as much, suits the objective better"
        return chosen, why

    async def _instead_of(self, chosen: str, good: Hits) -> str | None:
        """One that nobody warns of: nearly as good, since another one that is only somehow like it
        may do what nobody asked for, and where no more can go wrong."""
        least = max(score for _, score in good) - self._limits.close
        most = rank(await self.traits(chosen))
        for name, score in good:
            if score < least or self._hints.warns_of(name):
                continue
            if rank(await self.traits(name)) <= most:
                return name
        return None

    async def _is_known(self, skill: str) -> bool:
        try:
            await self._sessions.checked(Order("x", self._by, skills=[skill]))
        except (SkillError, WorkflowError):
            return False
        return True


def type_of_item(item: Item) -> str:
    """What statistics will call its task."""
    order = Order(
        item.text, "", specialization=item.specialization, skills=item.skills,
        task_type=item.task_type,
    )  # fmt: skip
    return type_of(order)
