"""Sentences that hold throughout, rather than at one moment."""

from __future__ import annotations

import re

from dcf.sop.language.phrase import MAX_PHRASE, masked
from dcf.sop.runbook.ends import hands_over, read_end
from dcf.sop.runbook.wording import plain

_FORBIDS = re.compile(
    r"(?:(?:you|we|they|it|the [\w ]{1,30}?) )?(?:must not|should not|shouldn['’]t|never|may not"
    r"|cannot"
    r"|must never|can not)\b",
    re.IGNORECASE,
)
_RULE = re.compile(
    r"(?:[*_\"“(]*(?:never|do not|don['’]t|avoid|always|under no circumstances|no one|nobody|be "
    r"careful|be aware"
    r"|beware|caution|warning|important|make sure (?:not|you do not|you don't)|ensure (?:you do "
    r"not|you don't)"
    r"|must not|only ever|only)\b)|.*?\b(?:must not|must never|should never|may not|cannot|can "
    r"not|can['’]t"
    r"|should not|shouldn['’]t|shall not|mustn['’]t|is not allowed|are not allowed|not permitted"
    r"|is prohibited"
    r"|is forbidden|are prohibited|only if|must|shall|is required to|are required to|has to"
    r"|have to|required that"
    r"|under no circumstances)\b",
    re.IGNORECASE,
)
_HARD_RULE = re.compile(
    r"[*_\"“(]*(?:never|do not|don['’]t|avoid|under no circumstances|always|be careful|beware|must "
    r"not|be aware)\b",
    re.IGNORECASE,
)


_LONGEST = 300
_MUST_NOT = re.compile(
    r"(?:and |but )?(?:you|we|they|agents?|staff|employees?|users?|operators?|nobody|no one|the "
    r"(?:agent"
    r"|assistant|operator|engineer|user|team))\s+(?:must|shall|should|may|can)(?:\s+not|n['’]t"
    r"|\s+never)\b"
)
_LIMITS = re.compile(
    r"(?:(?:you|we|they|it|the [\w ]{1,30}?)\s+)?(?:should|must|may|can|shall)\s+(?:only"
    r"|at most)\b.*\bat a time\b"
    r"|(?:your|the) (?:job|role|task) is to\b|.*\bat all times\b|only [^,;:.]{2,60}? (?:may"
    r"|can|must|are|is) "
    r"(?:be )?(?:used|allowed|permitted|accepted)\b",
    re.IGNORECASE,
)
"""What limits each of many acts, and tells to do nothing."""
_NO_UNLESS = re.compile(r"no [^,;:.]{2,80}\b(?:unless|without|until|except)\b")
_REMEMBER = re.compile(r"(?:do not|don't|don’t|never) forget to\b")


def forbids(text: str) -> bool:
    """Whether it only says what must not be done, and not that all ends."""
    return bool(_FORBIDS.match(text)) and not read_end(text) and not hands_over(text)


def is_rule(text: str) -> bool:
    """Whether it is a rule rather than something to do at one moment."""
    return len(text) < MAX_PHRASE and bool(_RULE.match(masked(plain(text))))


def is_hard_rule(text: str) -> bool:
    """Whether it forbids or demands something throughout."""
    said = plain(text).lower()
    return bool(
        _HARD_RULE.match(said)
        or _MUST_NOT.match(said)
        or _NO_UNLESS.match(said)
        or _LIMITS.match(said[:_LONGEST])
    ) and not _REMEMBER.match(said)
