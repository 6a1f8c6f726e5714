"""Sentences by which somebody has to agree first."""

from __future__ import annotations

import re

from dcf.sop.language.phrase import MAX_PHRASE

_WHO = r"(?P<who>[^.,;:()\n]{1,80})"
_NOUN = (
    r"(?:approval|sign-?off|permission|authori[sz]ation|consent|go-?ahead|green light|confirmation)"
)
_APPROVALS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b(?:get|obtain|seek|request|secure|await|receive|wait for|gain|acquire|have|ask for"
        rf"|requires?"
        rf"|needs?|with|without|subject to|pending|get|collect)\b(?: (?!the "
        rf"change)[\w'’-]+){{0,4}}? {_NOUN}s?\b"
        rf"(?: (?:from|by|of) {_WHO})?",
        rf"\b(?:be|is|are|gets?) (?:reviewed and |explicitly |formally )?(?:approved|signed off"
        rf"|authori[sz]ed"
        rf"|confirmed)(?: in writing)? by {_WHO}",
        r"\b(?:confirm|check|clear|agree)(?: \w+){0,2}? with (?P<who>[^.,;:()\n]{1,60}?)"
        r" (?:before|whether|to proceed|if|that you (?:may|can))",
        r"\b(?:request|get|ask for|obtain|needs?|requires?|wait for) (?:a |an |the |one "
        r")?(?:code |peer |pr )?reviews?\b"
        rf"(?: (?:from|by|of) {_WHO})?",
        r"^(?:an? |the |one )?(?P<who>(?:\w+ )?reviewer)\b(?: \([^)]*\))? (?:needs? to|must|has "
        r"to|should|will)",
        rf"\bask (?P<who>[^.,;:()\n]{{1,60}}?) (?:for (?:\w+ ){{0,3}}?{_NOUN}|to (?:approve"
        rf"|confirm|sign off|authori[sz]e))",
        rf"\b{_NOUN}s? (?:is |are |must be |has to be )?(?:required|needed|obtained|mandatory"
        rf"|granted|given)\b"
        rf"(?: (?:from|by|of) {_WHO})?",
        rf"^{_NOUN}(?: needed| required)?(?: (?:from|by|of)|:) {_WHO}",
        r"^(?P<who>[^.,;:()\n]{1,60}?) (?:must|has to|have to|needs? to|should|will) "
        r"(?:first )?(?:approve|sign off)\b",
    )
)
_PEOPLE = re.compile(
    r"\b(?:team|lead|manager|owner|engineer|commander|director|officer|customer|user|client"
    r"|admin\w*|dba|sre"
    r"|ciso|cto|cio|ceo|ic|on-?call|supervisor|head|security|legal|product|stakeholders?|board"
    r"|finance|hr"
    r"|management|vendor|requester|requestor|operator|reviewer|approver|author|maintainers?"
    r"|developers?"
    r"|colleague|peer|coordinator|department|human)\b",
    re.IGNORECASE,
)
_WHO_ENDS = re.compile(
    r"\s+(?:before|prior|via|in|on|for|to|when|if|and (?:then|wait|only|proceed|continue"
    r"|document|record)"
    r"|that|whether|using|through|by|at|as|who|which|about|unless|until|after|first|but)\b.*",
    re.IGNORECASE | re.DOTALL,
)


def read_approval(text: str) -> tuple[str, ...] | None:
    """Who has to agree, nobody in particular with an empty tuple; None where nobody has to."""
    if len(text) > MAX_PHRASE:
        return None
    for index, pattern in enumerate(_APPROVALS):
        found = pattern.search(text)
        if found is None:
            continue
        who = _WHO_ENDS.sub("", found.groupdict().get("who") or "").strip(" *_`\"'")
        who = re.sub(r"^(?:the|a|an|your|our|at least one|one of the|any)\s+", "", who, flags=re.I)
        if index == 2 and not _PEOPLE.search(who):
            continue
        return (who.replace("`", ""),) if who else ()
    return None
