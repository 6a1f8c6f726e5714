"""The draft of a procedure in our own form, and its sentences with their places."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dcf.sop.conduct import Approval
from dcf.sop.findings import Findings
from dcf.sop.language.labels import read_phrase
from dcf.sop.language.phrase import Unreadable
from dcf.sop.markdown.outline import read_outline
from dcf.sop.markdown.sections import section_kind
from dcf.sop.procedure import Sop
from dcf.sop.runbook.approvals import read_consent
from dcf.sop.runbook.desk import Desk
from dcf.sop.runbook.drafted import Draft, Place, Sentence
from dcf.sop.runbook.wording import Piece

_ANYBODY, _NOBODY = "anybody", "nobody"

_PLACES: dict[str, Place] = {
    "objective": "objective",
    "inputs": "input",
    "outputs": "input",
    "guardrails": "guardrail",
    "roles": "note",
    "note": "note",
}


def exact_draft(text: str, sop: Sop, answers: Mapping[str, str]) -> Draft:
    """The draft of ``sop``, which ``text`` is in our own form. Where the objective says that
    somebody has to agree, and no step asks anybody, the first step does: people write it there, and
    our form has no phrase for it. It is asked whether that is meant."""
    found = Draft(sop, exact_sentences(text, sop), exact=True)
    if sop.steps[0].kind != "task" or any(step.approval for step in sop.all_steps()):
        return found
    said = (one for one in found.sentences if one.place == "objective")
    told = next(((one, consent) for one in said if (consent := read_consent(one.text))), None)
    if told is None:
        return found
    sentence, consent = told
    desk, who = Desk(answers), consent.by[0] if consent.by else _ANYBODY
    asks = f"who has to agree before step {sop.steps[0].number}?"
    piece = Piece(sentence.line, sentence.last_line, sentence.text)
    answer, _ = desk.ask(piece, asks, who, (who, _NOBODY))
    if answer != _NOBODY:
        asked = replace(sop.steps[0], approval=Approval(consent.by))
        sop = replace(sop, steps=(asked, *sop.steps[1:]))
    questions, answered = tuple(desk.questions), tuple(desk.answered)
    return replace(found, sop=sop, questions=questions, answered=answered)


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
