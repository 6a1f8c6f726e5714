"""A Markdown text as a procedure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from dcf.sop.findings import Findings
from dcf.sop.language.labels import read_label, split_label
from dcf.sop.language.phrase import Unreadable, bare
from dcf.sop.language.sentences import read_sentence
from dcf.sop.limits import MAX_STEPS
from dcf.sop.markdown.blocks import text_blocks
from dcf.sop.markdown.items import Item, all_items, read_items
from dcf.sop.markdown.outline import Line, Section, read_outline
from dcf.sop.markdown.sections import SectionKind, meant, section_kind
from dcf.sop.markdown.steps import read_steps
from dcf.sop.markdown.values import read_value
from dcf.sop.procedure import Guardrail, Note, Role, Sop, Value
from dcf.sop.prose import one_line

_FRONT = re.compile(r"^---[ \t]*\r?$", re.MULTILINE)


@dataclass(slots=True)
class _Parts:
    members: dict[str, Any] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)


def read_markdown(text: str, findings: Findings) -> Sop:
    """The procedure in ``text`` as far as it can be read; problems go to ``findings``. Checks of
    the whole are not made here."""
    parts = _Parts()
    for section in read_outline(_without_front(text, findings), findings):
        _read_section(section, parts, findings)
    found = {"title": "", "objective": "", "steps": (), **parts.members}
    return Sop(notes=tuple(parts.notes), **found)


def _without_front(text: str, findings: Findings) -> str:
    begin = _FRONT.match(text)
    end = _FRONT.search(text, begin.end()) if begin else None
    if end is None or not re.search(r"^\w+:", text[: end.start()], re.MULTILINE):
        return text
    hint = "say it in sections (# Title, ## Objective …), or write the whole procedure as YAML"
    findings.add("SOP_MARKDOWN", "a block of YAML between --- is not read", hint, 1)
    return "\n" * text.count("\n", 0, end.end()) + text[end.end() :]


def _read_section(section: Section, parts: _Parts, findings: Findings) -> None:
    kind: SectionKind | None = section_kind(section.title) if section.level else None
    if kind is None or (section.level == 1 and kind == "note" and "title" not in parts.members):
        if kind == "note":
            parts.members["title"] = section.title.removeprefix("\\").strip()
        _add_objective(section, parts)
    elif kind == "note":
        _read_note(section, parts, findings)
    elif kind in parts.lines:
        message = f"there are two sections {section.title!r} (first on line {parts.lines[kind]})"
        findings.add("SOP_SECTION", message, "make them one", section.line)
    else:
        parts.lines[kind] = section.line
        if kind == "objective":
            _add_objective(section, parts)
        else:
            parts.members |= _READERS[kind](section, findings)


def _add_objective(section: Section, parts: _Parts) -> None:
    """Prose under the title is the objective too."""
    text = _text(section.lines)
    label = split_label(text)
    if label and section_kind(label[0]) == "objective":
        text = label[1]
    said = parts.members.get("objective", "")
    parts.members["objective"] = "\n".join(each for each in (said, text) if each)


def _text(lines: list[Line]) -> str:
    return "\n".join(block.text for block in text_blocks(lines))


def _read_note(section: Section, parts: _Parts, findings: Findings) -> None:
    literal = section.title.startswith("\\")
    near = None if literal else meant(section.title)
    if near:
        hint = f"did you mean {near!r}? If not, write \\{section.title}"
        message = f"there is no section {section.title!r}"
        findings.add("SOP_SECTION", message, hint, section.line)
        findings.cut_short = True
    elif "steps" in parts.lines and _has_steps(section):
        hint = "one list of steps, without headings; what is only to be read stands before it"
        message = f"the steps under {section.title!r} are not in the section Steps"
        findings.add("SOP_SECTION", message, hint, section.line)
        findings.cut_short = True
    title = section.title.removeprefix("\\").strip()
    parts.notes.append(Note(title, _text(section.lines), section.line))


def _has_steps(section: Section) -> bool:
    return any(re.match(r"\s*[0-9]+[a-z]?[.)]\s", one.text) for one in section.lines)


def _listed(section: Section, findings: Findings) -> Iterator[Item]:
    """The items of a section that is a list; other text in it is a problem, but for ``None``."""
    before, items = read_items(section.lines, findings)
    prose = " ".join(line.text.strip() for line in before).strip()
    if prose and prose.lower().rstrip(".") not in ("none", "nothing", "n/a", "-"):
        line = next(one.number for one in before if one.text.strip())
        message = f"the section {section.title!r} is a list, and this is none of its items"
        findings.add("SOP_SECTION", message, "begin the line with `- `", line)
    yield from items


def _values(section: Section, findings: Findings) -> tuple[Value, ...]:
    read = (read_value(item, findings) for item in _listed(section, findings))
    return tuple(value for value in read if value is not None)


def _inputs(section: Section, findings: Findings) -> dict[str, Any]:
    return {"inputs": _values(section, findings)}


def _outputs(section: Section, findings: Findings) -> dict[str, Any]:
    return {"outputs": _values(section, findings)}


def _guardrails(section: Section, findings: Findings) -> dict[str, Any]:
    """Rules in words; ``Within 2 days`` and ``Budget: 5 USD`` among them are limits of the run."""
    found: dict[str, Any] = {}
    rules = []
    for item in _listed(section, findings):
        blocks = list(text_blocks(item.lines))
        below = [_text(child.lines) for child in item.children]
        text = " ".join([*(block.text for block in blocks), *below])
        literal = bool(blocks) and blocks[0].literal
        limits = {} if literal else _limits(text, item.line, findings)
        for name in set(limits) & set(found):
            findings.add("SOP_TWICE", f"the {name} stands there twice", "keep one", item.line)
        found |= limits
        if not limits and text:
            rules.append(Guardrail(text, item.line))
    return {**found, "guardrails": tuple(rules)}


def _limits(text: str, line: int, findings: Findings) -> dict[str, Any]:
    label = split_label(text)
    limit = label is not None and label[0] in ("budget", "deadline", "time limit")
    if not limit and not text.lower().startswith("within "):
        return {}
    try:
        clauses = (read_label(text) if limit else None) or read_sentence(text)
    except Unreadable as error:
        findings.add(error.code, error.message, error.hint, line)
        return {}
    return {clause.member: clause.value for clause in clauses}


def _roles(section: Section, findings: Findings) -> dict[str, Any]:
    roles = []
    for item in _listed(section, findings):
        text = one_line(" ".join(block.text for block in text_blocks(item.lines)))
        found = re.match(r"(`[^`]*`|\*\*[^*]+\*\*|[^:`]+?)\s*(?::|\s[-–—]\s|$)\s*", text)
        name = bare(found[1].strip("*:")) if found else ""
        if not found or not name:
            hint = "write `- finance: Approves what is over 1,000.`"
            findings.add("SOP_ROLE", f"{text!r} names no role", hint, item.line)
        else:
            roles.append(Role(name, text[found.end() :], item.line))
    return {"roles": tuple(roles)}


def _steps(section: Section, findings: Findings) -> dict[str, Any]:
    before, items = read_items(section.lines, findings)
    for line in before:
        if line.text.strip():
            hint = "number it, or move it to the objective or to a section of its own"
            message = "text before the first step belongs to no step"
            findings.add("SOP_STEP", message, hint, line.number, "warning")
            break
    count = sum(1 for item in all_items(items) if not item.is_bullet)
    if count > MAX_STEPS:
        hint = "split it into several procedures"
        message = f"there are {count:,} steps, over {MAX_STEPS:,}"
        findings.add("SOP_LIMIT", message, hint, 1)
        findings.cut_short = True
        return {}
    return {"steps": read_steps(items, findings)}


_READERS = {
    "inputs": _inputs,
    "outputs": _outputs,
    "guardrails": _guardrails,
    "roles": _roles,
    "steps": _steps,
}
