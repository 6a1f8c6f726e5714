"""A procedure in our own form of which nothing is wrong but that several branches write a name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from dcf.sop.clash import clashes
from dcf.sop.conduct import KEEPS, Join
from dcf.sop.findings import Findings
from dcf.sop.markdown.document import read_markdown
from dcf.sop.parse import check, form_of
from dcf.sop.procedure import Sop
from dcf.sop.reading import Reading
from dcf.sop.runbook.desk import Desk
from dcf.sop.runbook.drafted import Draft
from dcf.sop.runbook.exact import exact_sentences
from dcf.sop.runbook.wording import Piece
from dcf.sop.step import Step


def joined(text: str, file: str, reading: Reading, answers: Mapping[str, str]) -> Draft | None:
    """The draft in which every branch's value is kept until somebody says which one is; None for
    a ``reading`` that has another error."""
    errors = {one.code for one in reading.problems if one.is_error}
    if errors != {"SOP_JOIN"}:
        return None
    sop = _read(text, file)
    if sop is None:
        return None
    desk = Desk(answers)
    sop = replace(sop, steps=_joined(sop.steps, desk))
    if any(one.is_error for one in check(sop)):
        return None
    found = Draft(sop, exact_sentences(text, sop), tuple(desk.questions), exact=True)
    return replace(found, answered=tuple(desk.answered))


def _read(text: str, file: str) -> Sop | None:
    # Loaded when it is needed: the YAML reader belongs to a larger room.
    from dcf.sop.yaml_form.document import read_yaml_form

    text = text.removeprefix("\ufeff")
    reads = read_yaml_form if form_of(file, text) == "yaml" else read_markdown
    return reads(text, Findings(file))


def _joined(steps: Iterable[Step], desk: Desk) -> tuple[Step, ...]:
    return tuple(_with_rules(step, desk) for step in steps)


def _with_rules(step: Step, desk: Desk) -> Step:
    ruled = {join.name for join in step.joins}
    added = tuple(
        _ruled(step, name, max(lines.values()), desk)
        for name, lines in clashes(step).items()
        if name not in ruled and step.kind == "parallel"
    )
    return replace(
        step,
        joins=(*step.joins, *added),
        steps=_joined(step.steps, desk),
        lanes=tuple(replace(lane, steps=_joined(lane.steps, desk)) for lane in step.lanes),
    )


def _ruled(step: Step, name: str, line: int, desk: Desk) -> Join:
    asks = f"which value of `{name}` is kept, which several branches of step {step.number} write?"
    said, _ = desk.ask(Piece(line, line, f"Writes: `{name}`"), asks, "every", KEEPS)
    [keep] = [one for one in KEEPS if one == said]
    return Join(name, keep, step.line)
