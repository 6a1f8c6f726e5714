"""Approvals in words: ``finance``, ``ana or ben``, ``anybody``; and what only sounds like one."""

from __future__ import annotations

import re

from dcf.sop.conduct import Approval
from dcf.sop.language.phrase import AS_TEXT, Unreadable, bare, masked, split_at

_PLAIN_NAME = re.compile(r"[A-Za-z][\w-]*(?: [A-Za-z][\w-]*)*")
_OR = re.compile(r"\s*,\s*(?:or\s+)?|\s+or\s+")
_COUNT = r"(?:[0-9]+|two|three|four|five|six|several|all)\b"
_SEVERAL = re.compile(
    rf"\b(?:and|both|together|each|every|at least|plus)\b|[&+]|(?:^|\bof ){_COUNT}|\b{_COUNT} of\b"
)
_NOBODY = re.compile(
    r"(?:none|no|nobody|no one|never|n/a|-|unnecessary|(?:is )?not (?:needed|required|necessary))"
)
_CONDITIONAL = re.compile(
    r"\b(?:if|unless|when|where|only|except|in case|over|above|below|under|exceeding|more|less"
    r"|within|before|after|until|by|from)\b"
)
_PLEASE = re.compile(r",?\s+please$", re.IGNORECASE)
_JOINING = re.compile(r"\b(?:or|please|the|anybody|either|(?:one|any) of)\b")

_WORD = r"(?:approval|sign-?off|go-ahead|authori[sz]ation (?:by|from|of))\b"
_DEMANDED = re.compile(
    rf"\b(?:with|without|after|upon|on|before|until|pending|subject to|needs?|requires?|get|obtain"
    rf"|await|wait for|seek|request|ask(?: \S+){{1,4}} for)"
    rf" (?:(?:an?|the|their|its|his|her|our|prior|written|final|formal|explicit|\S+'s) ){{0,3}}"
    rf"{_WORD}"
    r"|\b(?:must|has to|have to|needs? to|should|shall|may|can)(?: \S+)?"
    r" (?:approve|sign off|authori[sz]e)\b"
    r"|\b(?:must|has to|have to|needs? to|is to|are to|should|shall)(?: first)? be"
    r" (?:approved|signed off|authori[sz]ed)\b"
    r"|\b(?:once|after|when|unless|until|as soon as|only if)\b(?: \S+){0,5}?"
    r" (?:approved|approves|signed off|signs off|authori[sz]ed)\b"
    r"|^(?:the |our |an? )?(?!who|what|which|that|check|see|note|ask|find)(?:\S+ ){1,3}"
    r"(?:approves|signs off)\b"
    rf"|^{_WORD}"
    rf"|\b{_COUNT}(?: \S+){{0,3}} (?:approve|sign off|authori[sz]e)\b"
    r"|\b(?:four|4|second pair of|two pairs of)[ -]eyes?\b|\bdual (?:control|approval)\b"
    r"|\b(?:get|have)(?: \S+){1,3} (?:to )?(?:approve|ok|okay|sign off)\b"
)
_HINT = (
    "write `Approval by finance`, or `Approval by ana or ben`, as the title of a step or in a "
    f"bullet of its own; {AS_TEXT}"
)


def read_approval(who: str) -> Approval:
    """Of whom: one of several, who stand apart with commas or ``or``; ``anybody`` and nothing are
    the same. A name that has such words in it stands in backticks. Raises ``Unreadable``."""
    who = _PLEASE.sub("", who.strip().rstrip(".").strip())
    hidden = masked(who)
    if _NOBODY.fullmatch(hidden):
        hint = "leave it out if nobody has to agree; `anybody` if anybody may"
        raise Unreadable("SOP_APPROVAL", f"approval by {who!r} is none", hint)
    if _SEVERAL.search(hidden):
        hint = (
            "one person decides each approval: where several have to agree, write a step for each, "
            "`Approval by ana` and then `Approval by ben`; a name with such words stands in "
            "`backticks`"
        )
        raise Unreadable("SOP_APPROVAL", f"approval by {who!r} asks for several", hint)
    if _CONDITIONAL.search(hidden):
        hint = (
            "put the condition before it: a step `If ..., go to step 4` and the approval as a step "
            "of its own; a name with such words stands in `backticks`"
        )
        raise Unreadable("SOP_APPROVAL", f"approval by {who!r} says more than who", hint)
    who = (
        who[len(found[0]) :] if (found := re.match(r"(?:either|(?:one|any) of) ", hidden)) else who
    )
    names = tuple(bare(re.sub(r"^the ", "", name)) for name in split_at(_OR, who) if name.strip())
    return Approval(() if names == ("anybody",) else names)


def read_approver(name: str) -> str:
    """One of those who decide, as an element of a list. Raises ``Unreadable``."""
    by = read_approval(name).by
    if len(by) != 1:
        hint = "one name in each element; a name with such words stands in `backticks`"
        raise Unreadable("SOP_APPROVAL", f"{name!r} is no name of somebody who decides", hint)
    return by[0]


def print_person(name: str) -> str:
    """A name as ``read_approval`` reads it: in backticks where it would be taken for more."""
    hidden = name.lower()
    taken = any(one.search(hidden) for one in (_JOINING, _SEVERAL, _CONDITIONAL))
    plain = _PLAIN_NAME.fullmatch(name) and not taken and not _NOBODY.fullmatch(hidden)
    return name if plain else f"`{name}`"


def demand_no_approval(text: str) -> None:
    """For a sentence of a step that nobody has to approve. Raises ``Unreadable`` if it says that
    somebody has to, in words that are none of the phrases."""
    if _DEMANDED.search(masked(text)):
        message = f"{text!r} sounds as if somebody has to approve, and nobody is asked"
        raise Unreadable("SOP_APPROVAL", message, _HINT)
