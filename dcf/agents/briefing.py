"""What an agent is told: its standing orders, the loaded skills, and the task."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dcf.agents.assignment import Assignment

if TYPE_CHECKING:
    from dcf.skills import Manifest

_HERE = Path(__file__).resolve()
# In an installed package the prompts lie beside this file; in a checkout at its top.
_PROMPTS = (_HERE.parent / "prompts", _HERE.parents[2] / "prompts")


def worker_prompt() -> str:
    """The standing orders of a worker agent; FileNotFoundError when the package is incomplete."""
    for folder in _PROMPTS:
        file = folder / "worker.md"
        if file.is_file():
            return file.read_text(encoding="utf-8").strip()
    raise FileNotFoundError(f"worker.md is in none of {', '.join(map(str, _PROMPTS))}")


def system_prompt(orders: str, skills: Sequence[Manifest]) -> str:
    """``orders``, then the directives of each skill under its name and version."""
    parts = [orders]
    parts += [f"## Skill {skill.name}@{skill.version}\n\n{skill.directives}" for skill in skills]
    return "\n\n".join(parts)


def task_prompt(assignment: Assignment) -> tuple[str, str]:
    """The task in words, and its input as JSON with sorted members."""
    words = [f"Task: {assignment.state}"]
    if assignment.instructions:
        words.append(assignment.instructions)
    words.append("The task's input, as JSON, follows.")
    return "\n\n".join(words), json.dumps(assignment.input, ensure_ascii=False, sort_keys=True)
