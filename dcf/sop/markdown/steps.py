"""Numbered list items as steps."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from dcf.sop.findings import Findings
from dcf.sop.kind import asks, kind_of
from dcf.sop.language.labels import BRANCH, is_label, split_label
from dcf.sop.markdown.blocks import Block, is_fence, text_blocks
from dcf.sop.markdown.items import Item
from dcf.sop.markdown.said import Said
from dcf.sop.markdown.title import split_title
from dcf.sop.numbers import full_number, number_jumps
from dcf.sop.step import Lane, Step, StepKind

_PAUSE = re.compile(
    r"\b(?:wait\w*|pauses?|rests?|let|leave|give|hold|until|cool\w*|dry\w*|time)\b", re.IGNORECASE
)


def read_steps(items: Sequence[Item], findings: Findings, parent: str = "") -> tuple[Step, ...]:
    """The steps of one list, numbered in full; problems go to ``findings``."""
    steps = []
    for item in items:
        if item.is_bullet:
            message = "a bullet stands among the steps"
            hint = "number it, or indent it so that it belongs to the step before"
            findings.add("SOP_STEP", message, hint, item.line)
        else:
            steps.append(_read_step(item, findings, full_number(parent, item.number)))
    return number_jumps(steps, parent)


def _read_step(item: Item, findings: Findings, number: str) -> Step:
    said = Said(findings)
    problems = len(findings.problems)
    blocks = list(text_blocks(item.lines))
    title = _title(blocks[0], item, said) if blocks and blocks[0].line == item.line else ""
    for block in blocks[1:] if title else blocks:
        said.block(block)
    lanes: list[Item] = []
    nested: list[Item] = []
    for child in item.children:
        if not child.is_bullet:
            nested.append(child)
        elif _is_lane(child):
            lanes.append(child)
        else:
            _bullet(child, said)
    clauses = [clause for clause, _ in said.clauses]
    kind = kind_of(title, said.in_title, clauses, said.text())
    if lanes and kind == "task" and not any(clause.member == "kind" for clause in clauses):
        kind = "parallel"
    said.doubt(kind)
    if said.collects is not None and kind != "loop":
        findings.add(
            "SOP_KIND",
            f"step {number} is no loop, so it collects nothing",
            "put `Collects:` under the line with `For each`, before the steps inside, which say "
            "`Writes:` what each turn leaves",
            said.collects,
        )
    if len(findings.problems) > problems:
        findings.spoil(item.line)
    members = said.members() | _inside(kind, number, nested, lanes, findings)
    step = Step(number, title, kind, said.text(), line=item.line, **members)
    _doubt_kind(step, clauses, findings)
    return step


def _title(block: Block, item: Item, said: Said) -> str:
    if block.literal:
        return block.text
    title, rest = split_title(block.text)
    said.title(title, item.line)
    said.block(block, rest)
    return title


def _bullet(item: Item, said: Said) -> None:
    """A bullet under a step, with the bullets below it."""
    numbered = [child for child in item.children if not child.is_bullet]
    if numbered:
        hint = "write `- Branch: name` over steps that go on at the same time, or indent them less"
        message = "there are steps under a bullet that is no branch"
        said.findings.add("SOP_NESTED", message, hint, numbered[0].line)
    blocks = list(text_blocks(item.lines))
    if blocks and not is_fence(blocks[0].text):
        blocks[0] = _as_bullet(blocks[0])
    below = [child for child in item.children if child.is_bullet]
    first = blocks[0].text if blocks else ""
    if below and first.endswith(":") and not blocks[0].literal:
        separator = ", " if is_label(first[2:]) else " "
        pieces = [" ".join(block.text for block in text_blocks(child.lines)) for child in below]
        blocks[0] = Block(f"{first} {separator.join(pieces)}", blocks[0].lines)
        below = []
    for block in blocks:
        said.block(block)
    for child in below:
        _bullet(child, said)


def _as_bullet(block: Block) -> Block:
    """A block with the marker of a bullet, so that what stays text stays a bullet."""
    starts = tuple((at and at + 2, line) for at, line in block.lines)
    return Block(f"- {block.text}", starts, block.literal)


def _is_lane(item: Item) -> bool:
    label = split_label(item.lines[0].text.strip())
    return label is not None and label[0] in BRANCH


def _inside(
    kind: StepKind, number: str, nested: list[Item], lanes: list[Item], findings: Findings
) -> dict[str, Any]:
    """The lanes of a parallel step, the steps inside a loop; those inside another step too, for
    the check of kinds to object to."""
    if kind == "parallel":
        return {"lanes": _lanes(number, [*nested, *lanes], findings)}
    return {
        "steps": read_steps(nested, findings, number),
        "lanes": _lanes(number, lanes, findings),
    }


def _lanes(number: str, items: Iterable[Item], findings: Findings) -> tuple[Lane, ...]:
    lanes = []
    for index, item in enumerate(sorted(items, key=lambda one: one.line), start=1):
        if not item.is_bullet:
            lanes.append(Lane(read_steps([item], findings, number), line=item.line))
            continue
        label = split_label(" ".join(block.text for block in text_blocks(item.lines)))
        steps = read_steps(item.children, findings, f"{number}.{index}")
        lanes.append(Lane(steps, label[1] if label else "", item.line))
    return tuple(lanes)


def _doubt_kind(step: Step, clauses: Sequence[Any], findings: Findings) -> None:
    work = step.skills or step.reads or step.writes or step.role
    named = any(clause.member == "kind" for clause in clauses)
    if step.kind == "task" and step.branches and not work and not named and not asks(step.title):
        findings.add(
            "SOP_KIND_GUESSED",
            f"step {step.number} is taken for work whose result is looked at",
            "if it only decides, end its title with ? or add `- Kind: decision`; if it works, "
            "name its skill, what it reads or writes, or add `- Kind: task`",
            step.line,
            "warning",
        )
    has_wait = any(clause.member == "wait" for clause in clauses)
    if step.kind == "wait" and has_wait and not named and not _PAUSE.search(step.title):
        findings.add(
            "SOP_KIND_GUESSED",
            f"step {step.number} is taken for a wait and nothing else",
            "make the work a step of its own, or add `- Kind: wait`",
            step.line,
            "warning",
        )
