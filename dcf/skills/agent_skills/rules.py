"""The rules of the public Agent Skills specification (agentskills.io)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dcf.problem import Problem
from dcf.skills.agent_skills.skill_text import SkillText
from dcf.skills.authoring.place import Place

NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
MOST_NAME = 64
MOST_DESCRIPTION = 1024
MOST_COMPATIBILITY = 500
MOST_TOKENS = 5000
MOST_LINES = 500
KEYS = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")


def is_skill_name(name: str) -> bool:
    """1 to 64 of a-z, 0-9 and single hyphens between them."""
    return len(name) <= MOST_NAME and NAME.fullmatch(name) is not None


def is_too_long(body: str) -> bool:
    """Whether a body is more than an agent should have to read at once."""
    if len(body.splitlines()) >= MOST_LINES:
        return True
    if len(body.encode("utf-8", "replace")) < MOST_TOKENS:
        return False  # no tokenizer makes more tokens than bytes
    from dcf.search import count_tokens

    return count_tokens(body) >= MOST_TOKENS


def check_skill_text(skill: SkillText, folder: str) -> Iterator[Problem]:
    """Everything that is wrong with a SKILL.md that lies in a folder called ``folder``. What the
    specification only recommends, and what is kept without a meaning, are warnings."""
    root = skill.place
    if not isinstance(root.value, dict):
        yield root.problem("AGENT_SKILL_TYPE", "the frontmatter is no mapping", "write name: …")
        return
    for key, place in root.members():
        if key not in KEYS:
            hint = f"known are {', '.join(KEYS)}; move it into metadata"
            message = f"{key!r} is no key of the specification: kept, without a meaning"
            yield place.problem("AGENT_SKILL_KEY", message, hint, "warning")
    yield from _check_name(root, folder)
    yield from _check_text(root, "description", MOST_DESCRIPTION, required=True)
    yield from _check_text(root, "compatibility", MOST_COMPATIBILITY)
    yield from _check_text(root, "license", None)
    yield from _check_metadata(root.member("metadata"))
    yield from _check_allowed_tools(root.member("allowed-tools"))
    yield from _check_body(skill)


def _check_name(root: Place, folder: str) -> Iterator[Problem]:
    place = root.member("name")
    if place is None:
        yield root.problem("AGENT_SKILL_MISSING", "name is missing", f"write name: {folder}")
        return
    name = place.value
    if not isinstance(name, str) or not is_skill_name(name):
        message = f"{_shown(name)} is no name of a skill"
        hint = "1 to 64 of a-z, 0-9 and -, with no - at an end and no two together"
        yield place.problem("AGENT_SKILL_NAME", message, hint)
    elif name != folder:
        message = f"the skill is called {name!r}, its folder {_shown(folder)}"
        yield place.problem("AGENT_SKILL_FOLDER", message, f"rename the folder to {name}")


def _check_text(
    root: Place, key: str, most: int | None, *, required: bool = False
) -> Iterator[Problem]:
    place = root.member(key)
    if place is None:
        if required:
            hint = f"write {key}: what the skill does and when to use it"
            yield root.problem("AGENT_SKILL_MISSING", f"{key} is missing", hint)
        return
    if not isinstance(place.value, str):
        yield place.problem("AGENT_SKILL_TYPE", f"{key} is no text", "put it in quotes")
    elif most is not None and not place.value.strip():
        yield place.problem("AGENT_SKILL_EMPTY", f"{key} is empty", "say it, or remove the key")
    elif most is not None and len(place.value) > most:
        message = f"{key} has {len(place.value)} characters, at most {most} are allowed"
        yield place.problem("AGENT_SKILL_LENGTH", message, "say it shorter")


def _check_metadata(metadata: Place | None) -> Iterator[Problem]:
    if metadata is None:
        return
    if not isinstance(metadata.value, dict):
        yield metadata.problem("AGENT_SKILL_TYPE", "metadata is no mapping", "write name: text")
    for key, place in metadata.members():
        if not isinstance(place.value, str):
            message = f"metadata {key!r} is no text: kept as it is"
            yield place.problem("AGENT_SKILL_METADATA", message, "put it in quotes", "warning")


def _check_allowed_tools(place: Place | None) -> Iterator[Problem]:
    if place is None:
        return
    listed = place.value.split() if isinstance(place.value, str) else place.value
    if not isinstance(listed, list) or not all(isinstance(item, str) for item in listed):
        message = "allowed-tools is neither a text nor a list of texts"
        yield place.problem("AGENT_SKILL_TYPE", message, "as in allowed-tools: Read Write")
        return
    message = "allowed-tools is kept as a hint and grants nothing"
    hint = "the tools that the skill may call stand in spec.tools"
    yield place.problem("AGENT_SKILL_ALLOWED_TOOLS", message, hint, "warning")


def _check_body(skill: SkillText) -> Iterator[Problem]:
    file, line = skill.place.document.file, skill.block.count("\n") + 1
    if not skill.body.strip():
        message = "the skill has no instructions: its description takes their place"
        hint = "write them after the frontmatter"
        yield Problem("AGENT_SKILL_BODY", message, "", hint, "warning", file, line, 1)
    elif is_too_long(skill.body):
        message = f"the instructions are longer than {MOST_TOKENS} tokens or {MOST_LINES} lines"
        hint = "move what is seldom needed to references/"
        yield Problem("AGENT_SKILL_LONG", message, "", hint, "warning", file, line, 1)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
