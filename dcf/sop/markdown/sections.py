"""Which section is which."""

from __future__ import annotations

from typing import Literal

from dcf.sop.nearest import nearest

SectionKind = Literal["objective", "inputs", "outputs", "guardrails", "roles", "steps", "note"]

_NAMES: dict[str, SectionKind] = {
    "objective": "objective",
    "goal": "objective",
    "purpose": "objective",
    "inputs": "inputs",
    "input": "inputs",
    "outputs": "outputs",
    "output": "outputs",
    "results": "outputs",
    "guardrails": "guardrails",
    "guardrail": "guardrails",
    "rules": "guardrails",
    "limits": "guardrails",
    "roles": "roles",
    "role": "roles",
    "steps": "steps",
    "step": "steps",
    "procedure": "steps",
}
_LIKE = 0.8


def section_kind(title: str) -> SectionKind:
    """A title that begins with a backslash is always a note's."""
    return _NAMES.get(title.rstrip(":").strip().lower(), "note")


def meant(title: str) -> str | None:
    """The name of a section that a note's title seems to misspell."""
    near = nearest(title.rstrip(":").lower(), _NAMES, _LIKE)
    return near.capitalize() if near else None
