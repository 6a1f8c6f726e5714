"""What the guidelines of the Strategist say about one task."""

from __future__ import annotations

from dataclasses import replace

from dcf.sessions.conductor.fired import Fired
from dcf.sessions.conductor.request import Item
from dcf.sessions.guidance import Guided


class Hints:
    """The guidelines at one revision. What is done because of them is said with that revision, so
    that it can be seen whether they are followed."""

    def __init__(self, guided: Guided) -> None:
        self.guidelines = guided.guidelines
        self.revision = guided.revision
        advice = [(one.advice, one.text) for one in self.guidelines.warnings if one.advice]
        self._skills = {
            one.subject["skill"]: text
            for one, text in advice
            if one.kind == "failing_skill" and "skill" in one.subject
        }
        self._companions = {
            one.subject["companion_id"]: text
            for one, text in advice
            if one.kind == "failing_companion" and "companion_id" in one.subject
        }

    def preferred(self, task_type: str) -> str | None:
        """The skill that is advised for this type of task."""
        return self.guidelines.skill_preferences.get(task_type)

    def specialization(self, task_type: str) -> str | None:
        """The specialization that is advised for this type of task."""
        return self.guidelines.companion_preferences.get(task_type)

    def warns_of(self, skill: str) -> bool:
        return skill in self._skills

    def warns_of_companion(self, companion_id: str) -> bool:
        return companion_id in self._companions

    def apply(self, item: Item, task_type: str) -> tuple[Item, list[Fired]]:
        """The item with the tier and the specialization that are advised for it, where it has none
        of its own."""
        fired = []
        tier = self._tier(item, task_type)
        if item.tier is None and tier is not None:
            item = replace(item, tier=tier[0])
            fired.append(self.fired("model_selection", tier[1], f"tier {tier[0]}"))
        special = self.specialization(task_type)
        if special is not None and item.specialization is None and item.whom is None:
            item = replace(item, specialization=special)
            why = f"{special} is advised for {task_type}"
            fired.append(self.fired("companion_preferences", why, f"specialization {special}"))
        return item, fired

    def took(self, preferred: str, instead: str) -> Fired:
        why = f"{preferred} is preferred to {instead}"
        return self.fired("skill_preferences", why, f"skill {preferred}")

    def unknown(self, preferred: str) -> Fired:
        return self.fired("skill_preferences", f"there is no skill {preferred}", "left it alone")

    def does_more(self, preferred: str) -> Fired:
        why = f"{preferred} does more than answer a question"
        return self.fired("skill_preferences", why, "left it alone")

    def avoided(self, skill: str, other: str | None) -> Fired:
        did = "asked the user" if other is None else f"skill {other} instead of {skill}"
        return self.fired("warnings", self._skills[skill], did)

    def avoided_companion(self, companion_id: str, other: str) -> Fired:
        return self.fired("warnings", self._companions[companion_id], f"{other} gets it")

    def fired(self, member: str, why: str, did: str) -> Fired:
        return Fired(f"guidelines.{member}", why, did, revision=self.revision)

    def _tier(self, item: Item, task_type: str) -> tuple[int, str] | None:
        """The tier that is advised, and why."""
        models = self.guidelines.model_selection
        overrides = models.get("skill_tier_overrides", {})
        advised = [(overrides[skill], skill) for skill in item.skills if skill in overrides]
        if advised:
            tier, skill = max(advised)
            return tier, f"tier {tier} is advised for {skill}"
        types = models.get("task_type_tiers", {})
        if task_type in types:
            return types[task_type], f"tier {types[task_type]} is advised for {task_type}"
        # 0 stands there without anybody having said it.
        default = models.get("default_tier") or 0
        return (default, f"tier {default} is the default") if default else None
