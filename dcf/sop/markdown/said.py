"""What is written under one number, as clauses and text."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any

from dcf.sop.direction import GoTo, Stop
from dcf.sop.findings import Findings
from dcf.sop.language.approval_text import demand_no_approval
from dcf.sop.language.clause import Clause
from dcf.sop.language.labels import read_label, read_phrase, split_label
from dcf.sop.language.phrase import AS_TEXT, Unreadable
from dcf.sop.language.sentences import read_sentence, split_sentences
from dcf.sop.markdown.blocks import Block
from dcf.sop.step import Branch, Handler, StepKind

_MARKER = re.compile(r"[-*+]\s+")
_CONDITIONAL = re.compile(r"(?:if|unless|when|in case|otherwise|else)\b.*[`,]")


def seems_conditional(sentence: str) -> bool:
    """Whether ``sentence`` sounds as if it said what is done in a case."""
    return bool(_CONDITIONAL.match(sentence.lower().lstrip("*_-+ ")))


@dataclass(slots=True)
class Said:
    """Clauses with their lines, in reading order, and the text that is left, by line."""

    findings: Findings
    clauses: list[tuple[Clause, int]] = field(default_factory=list)
    in_title: list[Clause] = field(default_factory=list)
    texts: list[tuple[int, str]] = field(default_factory=list)
    left: list[tuple[str, int]] = field(default_factory=list)
    """Sentences that say nothing about the step, the title too."""
    collects: int | None = None
    """The line that says what a loop collects."""

    def title(self, text: str, line: int) -> None:
        """Take what the title itself says: all of it, or nothing."""
        found = self._attempt(text, line, label=False)
        self.in_title += found
        self.clauses += [(_placed(clause, line), line) for clause in found]

    def block(self, block: Block, start: int = 0) -> None:
        """Take the sentences of ``block`` from ``start`` on that say something; the others stay
        text. A bullet keeps its marker in the text."""
        text = block.text[start:]
        if block.literal:
            self._keep(text, block.line)
            return
        marker = _MARKER.match(text)
        at = marker.end() if marker else 0
        whole = self._label(text[at:], block.line_at(start))
        if whole:
            return
        left: list[str] = []
        said = False
        for sentence in split_sentences(text[at:]):
            at = text.index(sentence, at)
            found = self._attempt(sentence, block.line_at(start + at), label=True)
            said = said or bool(found)
            if not found:
                left.append(sentence)
            at += len(sentence)
        if not said:
            self._keep(text, block.line_at(start))
        elif left:
            self._keep((marker[0] if marker else "") + " ".join(left), block.line_at(start))

    def _label(self, text: str, line: int) -> bool:
        """Whether the whole of ``text`` is a line with a label; a wrong one counts."""
        try:
            found = read_label(text)
        except Unreadable as error:
            self._unread(error, text, line)
            return True
        self.clauses += [(_placed(clause, line), line) for clause in found or ()]
        label = split_label(text)
        if label is not None and label[0] == "collects":
            self.collects = line
        return found is not None

    def _attempt(self, text: str, line: int, *, label: bool) -> list[Clause]:
        try:
            found = read_phrase(text) if label else read_sentence(text)
        except Unreadable as error:
            self._unread(error, text, line)
            return []
        if not found:
            self.left.append((text, line))
        if label:
            self.clauses += [(_placed(clause, line), line) for clause in found]
        return found

    def _unread(self, error: Unreadable, text: str, line: int) -> None:
        self.findings.add(error.code, error.message, error.hint, line)
        self.findings.mention(text)

    def _keep(self, text: str, line: int) -> None:
        if text.strip():
            self.texts.append((line, text))

    def doubt(self, kind: StepKind) -> None:
        """Tell of sentences that were left and cannot be meant as text in a step of this ``kind``:
        of somebody's approval where nobody is asked, of a condition where nothing else is done. A
        person who does a step reads what is left, and asks whom it names."""
        approved = kind in ("approval", "manual") or any(
            one.member == "approval" for one, _ in self.clauses
        )
        for sentence, line in self.left:
            if kind == "decision" and seems_conditional(sentence):
                hint = (
                    f"write `If ..., go to step 4`; in a decision nobody does anything; {AS_TEXT}"
                )
                message = f"{sentence!r} does not say where to go on, and the step only decides"
                self._unread(Unreadable("SOP_PHRASE", message, hint), sentence, line)
            elif not approved:
                try:
                    demand_no_approval(sentence)
                except Unreadable as error:
                    self._unread(error, sentence, line)

    def text(self) -> str:
        """What is left, in reading order."""
        return "\n".join(text for _, text in sorted(self.texts, key=lambda one: one[0]))

    def members(self) -> dict[str, Any]:
        """The clauses as members of a step; one that must not be said twice is a problem."""
        found: dict[str, Any] = {}
        for clause, line in self.clauses:
            several = _SEVERAL.get(clause.member)
            if several:
                values = clause.value if isinstance(clause.value, tuple) else (clause.value,)
                found[several] = (*found.get(several, ()), *values)
            elif clause.member in found and clause.member != "parallel":
                message = f"the step says {_NAMED.get(clause.member, clause.member)} twice"
                self.findings.add("SOP_TWICE", message, "keep one of the two", line)
            elif clause.member not in ("kind", "parallel"):
                found[clause.member] = clause.value
        return found


_SEVERAL = {
    "skills": "skills",
    "reads": "reads",
    "writes": "writes",
    "branch": "branches",
    "join": "joins",
    "retry": "retries",
    "handler": "handlers",
}
_NAMED = {
    "then": "where to go on",
    "role": "who does it",
    "approval": "who approves",
    "choices": "its choices",
    "runs": "what it runs",
}


def _placed(clause: Clause, line: int) -> Clause:
    """``clause`` with the line of what has one of its own."""
    if isinstance(clause.value, Branch | Handler):
        return replace(clause, value=replace(clause.value, line=line))
    if isinstance(clause.value, GoTo | Stop):
        return replace(clause, value=replace(clause.value, line=line))
    if clause.member in ("reads", "writes", "join"):
        return replace(clause, value=tuple(replace(one, line=line) for one in clause.value))
    return clause
