"""A procedure as Markdown that reads back as an equal one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from dcf.sop.language.budget_text import print_budget
from dcf.sop.language.duration import print_duration
from dcf.sop.language.labels import is_label
from dcf.sop.markdown.blocks import is_bullet, is_fence
from dcf.sop.markdown.outline import escape_comments, is_structure
from dcf.sop.markdown.print_steps import literal, print_steps, starts_badly
from dcf.sop.markdown.sections import meant, section_kind
from dcf.sop.markdown.values import print_value
from dcf.sop.procedure import Sop, Value
from dcf.sop.prose import blocks


def print_markdown(sop: Sop) -> str:
    """``parse_markdown`` of the text is ``sop`` again, if ``sop`` has no errors."""
    lines = [f"# {_heading(sop.title)}", "", "## Objective", "", *_prose(sop.objective, ""), ""]
    for title, values in (("Inputs", sop.inputs), ("Outputs", sop.outputs)):
        lines += _section(title, _values(values, ""))
    lines += _section("Guardrails", _guardrails(sop))
    lines += _section("Roles", [_role(role.name, role.description) for role in sop.roles])
    for note in sop.notes:
        lines += [f"## {_heading(note.title)}", "", *_prose(note.text, ""), ""]
    lines += _section("Steps", print_steps(sop.steps))
    return escape_comments("\n".join(lines).rstrip("\n") + "\n")


def _heading(title: str) -> str:
    taken = title.startswith("\\") or section_kind(title) != "note" or bool(meant(title))
    # Hashes at the end of a heading close it.
    return literal(title, taken) + (" #" if title.endswith("#") else "")


def _section(title: str, lines: Iterable[str]) -> list[str]:
    listed = list(lines)
    return [f"## {title}", "", *listed, ""] if listed else []


def _prose(text: str, margin: str) -> Iterator[str]:
    """The blocks of ``text``, apart where they would flow together."""
    before: str | None = None
    for block in blocks(text):
        if before is not None and not (is_bullet(before) and is_bullet(block)):
            yield ""
        before = block
        for line in block.split("\n") if is_fence(block) else [_escaped(block)]:
            yield f"{margin}{line}" if line else ""


def _escaped(block: str) -> str:
    if is_structure(block) or (is_bullet(block) and block[1:].lstrip().startswith("\\")):
        return f"\\{block}"
    return block


def _values(values: Sequence[Value], margin: str) -> Iterator[str]:
    for value in values:
        yield f"{margin}- {print_value(value)}"
        yield from _values(value.members, f"{margin}  ")


def _guardrails(sop: Sop) -> Iterator[str]:
    if sop.deadline is not None:
        yield f"- Within {print_duration(sop.deadline)}"
    if sop.budget is not None:
        yield f"- Budget: {print_budget(sop.budget)}"
    for rule in sop.guardrails:
        limit = is_label(rule.text) or rule.text.lower().startswith("within ")
        yield f"- {literal(rule.text, limit or starts_badly(rule.text))}"


def _role(name: str, description: str) -> str:
    return f"- `{name}`{f': {description}' if description else ''}"
