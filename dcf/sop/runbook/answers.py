"""Answers to what was asked just before: ``Yes: …``, ``If not, …``, ``Otherwise …``."""

from __future__ import annotations

import re

from dcf.sop.runbook.flow import NO, YES
from dcf.sop.runbook.wording import is_order, plain

ARROW = r"(?:→|⇒|➔|➜|⟶|—>|-{1,2}>|={1,2}>)"
_OTHERWISE = re.compile(
    r"(?:(?:otherwise|else|failing that|in (?:all|any) other cases?|sonst|andernfalls|sinon"
    rf"|de lo contrario)\b\s*(?:[,:]|{ARROW}|\s|$)"
    r"|(?:if not|if no|if it (?:is not|isn't|does not|doesn't|did not|didn't)|if (?:this|that) "
    r"(?:is not"
    r"|isn't) the case|if (?:they|these) (?:are not|aren't|do not|don't)|si no"
    rf"|if none of (?:these|the above)[^,:]{{0,30}})\s*(?:[,:]|{ARROW}))\s*",
    re.IGNORECASE,
)
_ANSWER = re.compile(
    r"[*_`\"“(]*(?:if\s+)?(?P<label>yes|no|ja|nein|oui|non|sí|true|false|passed|failed|pass|fail"
    rf"|success|failure|successful|unsuccessful)[*_`\"”)]*(?:\s*(?:[:,]|{ARROW})"
    rf"|\s+[-–—]\s)[*_]*\s*",
    re.IGNORECASE,
)
_SHORT = re.compile(
    r"(?:it|they|he|she|there|that|this) (?:is|are|does|do|did|has|have|was|were|can|will)"
    r"(?P<no>n['’]t| not|not)?\s*:\s+",
    re.IGNORECASE,
)
"""``It does: …``, ``They don't: …``"""
_POINTER = re.compile(rf"{ARROW}\s*")
_SAID_AGAIN = re.compile(r"[^:.;]{3,80}:(?:\s+|$)")
"""``No, the disks are gone: …``"""
_YES = frozenset({"yes", "ja", "oui", "sí", "true", "passed", "pass", "success", "successful"})


def read_otherwise(text: str) -> str | None:
    """What is done otherwise; None where ``text`` is not of that."""
    found = _OTHERWISE.match(plain(text))
    return plain(text)[found.end() :].strip() if found else None


def read_answer(text: str) -> tuple[str, str] | None:
    """``Yes: …``: the label, and what follows from it."""
    text = _POINTER.sub("", text, count=1) if _POINTER.match(text) else text
    if short := _SHORT.match(text):
        return NO if short["no"] else YES, text[short.end() :].strip()
    found = _ANSWER.match(text)
    if found is None:
        return None
    label = YES if found["label"].lower() in _YES else NO
    then = text[found.end() :].strip()
    again = _SAID_AGAIN.match(then)
    if again and not is_order(again[0]):
        then = then[again.end() :]
    return label, then
