"""The sentences of a procedure in our own form, with their places."""

from __future__ import annotations

from dcf.sop.findings import Findings
from dcf.sop.language.labels import read_phrase
from dcf.sop.language.phrase import Unreadable
from dcf.sop.markdown.outline import read_outline
from dcf.sop.markdown.sections import section_kind
from dcf.sop.procedure import Sop
from dcf.sop.runbook.drafted import Place, Sentence

_PLACES: dict[str, Place] = {
    "objective": "objective",
    "inputs": "input",
    "outputs": "input",
    "guardrails": "guardrail",
    "roles": "note",
    "note": "note",
}


def exact_sentences(text: str, sop: Sop) -> tuple[Sentence, ...]:
    """A sentence for each line: what a line means is exact in our own form."""
    steps = sorted((step.line, step.number) for step in sop.all_steps())
    found: list[Sentence] = []
    for section in read_outline(text, Findings("")):
        kind = section_kind(section.title) if section.level else "objective"
        if section.level == 1 and kind == "note":
            kind = "objective"
        if section.title:
            place: Place = "objective" if kind == "objective" else "note"
            found.append(Sentence(section.line, section.line, section.title, place))
        for line in section.lines:
            said = line.text.strip()
            if not any(one.isalnum() for one in said):
                continue
            if kind != "steps":
                found.append(Sentence(line.number, line.number, said, _PLACES[kind]))
                continue
            number = next((name for at, name in reversed(steps) if at <= line.number), None)
            found.append(Sentence(line.number, line.number, said, _in_step(said), number))
    return tuple(found)


def _in_step(said: str) -> Place:
    try:
        clauses = read_phrase(said.lstrip("-*+ "))
    except Unreadable:
        return "step"
    return "condition" if any(one.member in ("branch", "then") for one in clauses) else "step"
