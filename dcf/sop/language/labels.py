"""Lines with a label: ``Skill: orders.price_order``."""

from __future__ import annotations

import re

from dcf.sop.language.approval_text import demand_no_approval, read_approval
from dcf.sop.language.budget_text import read_budget
from dcf.sop.language.choices_text import read_choices
from dcf.sop.language.clause import Clause
from dcf.sop.language.direction_text import read_direction
from dcf.sop.language.duration import read_duration
from dcf.sop.language.phrase import (
    AS_TEXT,
    Unreadable,
    bare,
    check_length,
    single_blanks,
    split_list,
)
from dcf.sop.language.retry_text import read_retry
from dcf.sop.language.run_text import read_run
from dcf.sop.language.sentences import read_sentence, split_sentences
from dcf.sop.language.transfer_text import read_transfers
from dcf.sop.language.wait_text import read_wait
from dcf.sop.nearest import nearest
from dcf.sop.step import STEP_KINDS, Handler

_LABEL = re.compile(
    r"(?:\*\*|__)?(?P<label>[A-Za-z][A-Za-z ]{1,20}?)(?:\*\*:|__:|:\*\*|:__|:)"
    r"(?:\s+(?P<value>.*)|$)",
    re.DOTALL,
)
_MEANING = {
    "skill": "skills",
    "skills": "skills",
    "role": "role",
    "by": "role",
    "who": "role",
    "owner": "role",
    "responsible": "role",
    "reads": "reads",
    "read": "reads",
    "needs": "reads",
    "writes": "writes",
    "write": "writes",
    "gives": "writes",
    "produces": "writes",
    "collects": "writes",
    "retry": "retry",
    "deadline": "deadline",
    "time limit": "deadline",
    "approval": "approval",
    "approval by": "approval",
    "runs": "runs",
    "choices": "choices",
    "choice": "choices",
    "on error": "handler",
    "on failure": "handler",
    "tier": "tier",
    "budget": "budget",
    "kind": "kind",
    "wait": "wait",
    "then": "then",
    "next": "then",
    "otherwise": "then",
    "branch": "branch",
    "lane": "branch",
}
BRANCH = frozenset(label for label, meaning in _MEANING.items() if meaning == "branch")
_LIKE = 0.82
"""How near to a label a word is that was meant as it; a misspelt letter of five is."""


def split_label(text: str) -> tuple[str, str] | None:
    """Label in small letters and the value of ``Label: value``; None when there is none."""
    found = _LABEL.match(text)
    return (found["label"].lower(), (found["value"] or "").strip()) if found else None


def is_label(text: str) -> bool:
    """Whether ``text`` begins with a label that means something."""
    label = split_label(text)
    return label is not None and label[0] in _MEANING


def read_label(text: str) -> list[Clause] | None:
    """What the line says; None when it begins with no label, or one that is only text.

    Raises ``Unreadable``, also for a label that seems to be misspelt.
    """
    label = split_label(text)
    if label is None:
        return None
    name, value = label
    if name in _MEANING:
        check_length(text)
    if name not in _MEANING:
        near = nearest(name, _MEANING, _LIKE)
        if near:
            hint = f"did you mean `{near.capitalize()}:`? If not, {AS_TEXT}"
            raise Unreadable("SOP_LABEL", f"the label {name!r} is not known", hint)
        return None
    if not value and name not in BRANCH:
        raise Unreadable("SOP_LABEL", f"after {name!r} there is nothing", "write it on the line")
    # Blanks of a command may stand in its quotes.
    return _read(_MEANING[name], value if name == "runs" else single_blanks(value))


def read_phrase(text: str) -> list[Clause]:
    """What a sentence says, with or without a label; nothing when it is only text. Raises
    ``Unreadable``."""
    return read_label(text) or read_sentence(text)


def steers(text: str) -> bool:
    """Whether anything in ``text`` says something about its step, or looks as if it did."""
    try:
        if read_label(text) is not None:
            return True
        for sentence in split_sentences(text):
            if read_phrase(sentence):
                return True
            demand_no_approval(sentence)
        return False
    except Unreadable:
        return True


def _read(meaning: str, value: str) -> list[Clause]:
    match meaning:
        case "skills":
            return [Clause("skills", read_skills(value))]
        case "role":
            return [Clause("role", bare(value))]
        case "reads":
            return [Clause("reads", read_transfers(value))]
        case "writes":
            return [Clause("writes", read_transfers(value))]
        case "retry":
            return [Clause("retry", read_retry(value))]
        case "deadline":
            return [Clause("deadline", read_duration(re.sub(r"^within ", "", value.rstrip("."))))]
        case "approval":
            return [Clause("approval", read_approval(re.sub(r"^by ", "", value)))]
        case "choices":
            return [Clause("choices", read_choices(value))]
        case "runs":
            return [Clause("runs", read_run(value))]
        case "handler":
            return [Clause("handler", Handler((), read_direction(value)))]
        case "tier":
            return [Clause("tier", read_tier(value))]
        case "budget":
            return [Clause("budget", read_budget(value))]
        case "kind":
            return [Clause("kind", read_kind(value))]
        case "wait":
            return [Clause("wait", read_wait(value))]
        case "then":
            return [Clause("then", read_direction(value))]
    return []


SKILL = r"[A-Za-z_][\w-]*(?:\.[\w-]+)*(?:@[\w.^~<>=*+-]*[\w*])?"


def read_skills(text: str) -> tuple[str, ...]:
    """Raises ``Unreadable``."""
    names = tuple(bare(name).removeprefix("skill://") for name in split_list(text.rstrip(".")))
    for name in names:
        if not re.fullmatch(SKILL, name, re.ASCII):
            hint = "write names as orders.price_order or orders.price_order@^1"
            raise Unreadable("SOP_SKILL", f"{name!r} is no name of a skill", hint)
    return names


def read_tier(text: str) -> int:
    """Raises ``Unreadable``."""
    if not re.fullmatch(r"[0-3]", text):
        hint = "write 0 (simple work) to 3 (the hardest)"
        raise Unreadable("SOP_TIER", f"{text!r} is no tier of models", hint)
    return int(text)


def read_kind(text: str) -> str:
    """Raises ``Unreadable``."""
    kind = text.rstrip(".").lower()
    if kind not in STEP_KINDS:
        raise Unreadable("SOP_KIND", f"there is no kind {text!r}", f"it is {', '.join(STEP_KINDS)}")
    return kind
