"""What kind of step somebody wrote, who did not say it."""

from __future__ import annotations

import re
from collections.abc import Collection

from dcf.sop.direction import Finish, Stop
from dcf.sop.language.clause import Clause, Member
from dcf.sop.step import StepKind

_WORK: frozenset[Member] = frozenset(
    {"skills", "reads", "writes", "role", "tier", "budget", "runs"}
)
_QUESTION = re.compile(r"(?:if|decide|decision|choose|route|whether|which|depending)\b|.*\?$")

_AGREES = re.compile(
    r"(?:\S+\s+){0,4}(?:approves?|agrees?|consents?|signs?\s+off)\b"
    r"|(?:(?:get|obtain|request|await|wait for|ask(?:\s+\S+){0,4}?\s+for)\s+)?(?:the\s+|an?\s+)?"
    r"(?:approval|agreement|permission|consent|sign-off|go-ahead)\b"
)


def kind_of(
    title: str, in_title: Collection[Clause], clauses: Collection[Clause], text: str
) -> StepKind:
    """The kind of a step with this title; ``clauses`` are all of its clauses, ``in_title`` those
    of the title, ``text`` what it says besides. In doubt it is a task: then nothing that is to be
    done gets lost."""
    members = {clause.member for clause in clauses}
    named = next((clause.value for clause in clauses if clause.member == "kind"), None)
    if named is not None:
        kind: StepKind = named
        return kind
    if "choices" in members:
        return "manual"
    for member in ("loop", "parallel"):
        if member in members:
            return "loop" if member == "loop" else "parallel"
    for clause in in_title:
        if clause.member == "wait":
            return "wait"
        if clause.member == "approval":
            return "approval"
    if not members & _WORK:
        if any(c.member == "then" and isinstance(c.value, Finish | Stop) for c in in_title):
            branching = "branch" in members
            return "decision" if branching else "end"
        if "branch" in members and asks(title):
            return "decision"
    said = {clause.member: clause.value for clause in clauses}
    if not text and not members & (_WORK | {"retry"}):
        if "wait" in said and "approval" not in said:
            return "wait"
        if "approval" in said and "wait" not in said and asks_only(title, said["approval"].by):
            return "approval"
    return "task"


def asks_only(title: str, by: Collection[str]) -> bool:
    """Whether a title means nothing but the approval that one of ``by`` gives."""
    words = title.lower()
    asked = words.startswith("ask ") and any(who.lower() in words for who in by)
    return asked or bool(_AGREES.match(words))


def asks(title: str) -> bool:
    """Whether a title is a question that conditions answer."""
    return bool(_QUESTION.match(title.lower()))
