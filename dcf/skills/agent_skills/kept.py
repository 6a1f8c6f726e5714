"""What an imported skill keeps of its SKILL.md: the frontmatter, letter by letter.

A manifest has no place for it, so it is a data source of the skill. Name, license, compatibility,
metadata and allowed-tools live there; the description and the body are the manifest's own, so that
an author changes them in one place.
"""

from __future__ import annotations

from dataclasses import dataclass

from dcf.skills.agent_skills.naming import FRONTMATTER, WHOLE
from dcf.skills.agent_skills.rules import is_skill_name
from dcf.skills.agent_skills.shorten import shortened
from dcf.skills.agent_skills.skill_text import SkillText, read_skill_text
from dcf.skills.agent_skills.yaml_text import yaml_text
from dcf.skills.manifest import Manifest

MOST_DESCRIPTION = 500
"""The longest description of a skill source, in characters."""


@dataclass(frozen=True, slots=True)
class Kept:
    """``id`` is that of the data source; ``bodiless``: the file had no instructions."""

    id: str
    skill: SkillText
    bodiless: bool

    @property
    def name(self) -> str:
        return self.skill.text("name")

    def skill_md(self, manifest: Manifest) -> str:
        """SKILL.md: the frontmatter as it was, unless the description was changed since, and the
        directives as the body."""
        block = self.skill.block
        if manifest.description != description_of(self.skill):
            fields = {**self.skill.fields, "description": manifest.description or self.name}
            block = f"---\n{yaml_text(fields)}---\n"
        if self.bodiless and manifest.directives == directives_of(self.skill):
            return block + self.skill.body
        return block + manifest.directives


def kept_of(manifest: Manifest) -> Kept | None:
    """What ``manifest`` keeps; None for a skill that was written here."""
    for source in manifest.data_sources:
        if source.description in (FRONTMATTER, WHOLE):
            skill, _ = read_skill_text(source.text, "")
            if skill and is_skill_name(skill.text("name")) and skill.text("description"):
                return Kept(source.id, skill, source.description == WHOLE)
    return None


def description_of(skill: SkillText) -> str:
    """The description for a manifest."""
    return shortened(skill.text("description"), MOST_DESCRIPTION)


def directives_of(skill: SkillText) -> str:
    """The directives for a manifest: the body, or the description when there is none."""
    return skill.body if skill.body.strip() else skill.text("description")
