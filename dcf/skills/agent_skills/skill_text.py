"""The text of a SKILL.md: a block of YAML between two lines of ``---``, then the body."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from dcf.problem import Problem
from dcf.skills.authoring.marked_yaml import read_yaml
from dcf.skills.authoring.place import Document, Place

_BLOCK = re.compile(r"\ufeff?---[ \t]*\r?\n(?P<yaml>(?:.*\n)*?)---[ \t]*(?:\r?\n|\Z)", re.ASCII)


@dataclass(frozen=True, slots=True)
class SkillText:
    """``block`` and ``body`` are the file, cut in two without a loss; ``place`` is the frontmatter
    with the lines of the file."""

    block: str
    body: str
    place: Place

    @property
    def fields(self) -> dict[str, Any]:
        """The frontmatter."""
        return self.place.value if isinstance(self.place.value, dict) else {}

    def text(self, name: str) -> str:
        """A field of the frontmatter, ``""`` when it is missing or no text."""
        value = self.fields.get(name)
        return value if isinstance(value, str) else ""


def split_skill_text(text: str) -> tuple[str, str] | None:
    """Frontmatter block and body, which together are ``text``; None without a frontmatter."""
    found = _BLOCK.match(text)
    return (text[: found.end()], text[found.end() :]) if found else None


def read_skill_text(text: str, file: str) -> tuple[SkillText | None, list[Problem]]:
    """The SKILL.md ``text`` with all problems of reading it; None when it cannot be read."""
    found = _BLOCK.match(text)
    if found is None:
        message = "the file does not begin with frontmatter: YAML between two lines of ---"
        hint = "write ---, name: and description:, --- and then the instructions"
        return None, [Problem("AGENT_SKILL_FRONTMATTER", message, "", hint, "error", file, 1, 1)]
    # The line before the YAML is kept empty, so that lines are those of the file.
    document, problems = read_yaml("\n" + found["yaml"], file)
    if document is None:
        if any(problem.code == "SKILL_YAML_EMPTY" for problem in problems):
            document, problems = Document(file, {}, {}), []
        else:
            return None, problems
    return SkillText(text[: found.end()], text[found.end() :], document.root), problems
