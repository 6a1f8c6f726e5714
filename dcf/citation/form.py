"""The forms of citations: one table, from which the parser, the printer and the hints come."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, cast, get_args

SCHEME = "dcf://"

Kind: TypeAlias = Literal[
    "observation",
    "thread",
    "issue",
    "attempt",
    "run",
    "session",
    "skill",
    "agent",
    "document",
    "playbook",
    "memory",
    "node",
    "code",
]
Part: TypeAlias = Literal[
    "turn",
    "observation",
    "step",
    "state",
    "task",
    "companion",
    "version",
    "message",
    "block",
    "page",
    "line",
]
Takes: TypeAlias = Literal["id", "number", "range"]

KINDS: tuple[Kind, ...] = get_args(Kind)

TEMPLATES = (
    "observation/{id}",
    "thread/{id}",
    "thread/{id}/turn/{n}",
    "thread/{id}/observation/{id}",
    "issue/{id}",
    "attempt/{id}",
    "attempt/{id}/step/{n}",
    "run/{workflow_id}",
    "run/{workflow_id}/state/{path}",
    "session/{id}",
    "session/{id}/turn/{n}",
    "session/{id}/task/{id}",
    "session/{id}/companion/{id}",
    "skill/{name}",
    "skill/{name}/version/{v}",
    "agent/{id}/message/{id}",
    "agent/{id}/block/{label}",
    "document/{id}",
    "document/{id}/page/{n}",
    "document/{id}/line/{n}[-{m}]",
    "playbook/{id}",
    "memory/{id}",
    "node/{id}",
    "code/{path}/line/{n}[-{m}]",
)
"""What stands behind the scheme. ``{n}`` is a number, ``{n}[-{m}]`` a number or a range, any other
name in braces an id: one segment, so a slash in it is written ``%2F``."""

_TAKES: dict[str, Takes] = {"{n}": "number", "{n}[-{m}]": "range"}


@dataclass(frozen=True, slots=True)
class Form:
    """One row of the table. ``part`` is None where the whole thing is meant; else ``takes`` is what
    stands behind the part's name."""

    template: str
    kind: Kind
    part: Part | None = None
    takes: Takes | None = None

    @classmethod
    def of(cls, template: str) -> Form:
        name, _, *rest = template.split("/")
        kind = cast(Kind, name)
        if not rest:
            return cls(template, kind)
        part, value = rest
        return cls(template, kind, cast(Part, part), _TAKES.get(value, "id"))


_FORMS: dict[tuple[str, str | None], Form] = {
    (form.kind, form.part): form for form in map(Form.of, TEMPLATES)
}


def form_of(kind: str, part: str | None) -> Form | None:
    """The form of a whole thing (``part`` None) or of a part of one, if there is one."""
    return _FORMS.get((kind, part))


def forms_of(kind: str) -> list[Form]:
    """All forms of a kind; none if it is not known."""
    return [form for form in _FORMS.values() if form.kind == kind]


def listed(kind: str) -> str:
    """All forms of a kind, for a hint."""
    return ", ".join(f"{SCHEME}{form.template}" for form in forms_of(kind))
