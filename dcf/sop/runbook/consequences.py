"""What follows from a condition: something to do, a way to go on, or only how things are then."""

from __future__ import annotations

import re

from dcf.sop.runbook.ends import is_last_act, read_end
from dcf.sop.runbook.jumps import NEXT, leads_elsewhere
from dcf.sop.runbook.roles import has_somebody
from dcf.sop.runbook.wording import core, is_order, plain

_DECIDED = (
    r"(?:denied|rejected|refused|declined|closed|escalated|transferred|approved|cancell?ed"
    r"|refunded|granted|accepted|waived|paid|reimbursed|suspended|terminated|revoked|extended"
    r"|postponed|exempted|forwarded|referred|dismissed|discarded)"
)
"""How a request is dealt with."""
_VERDICT = re.compile(
    rf"\b(?:is|are|gets?|(?:will|may|can|must|should|shall) (?:not )?be) (?:(?:not|only|\w+ly) )*"
    rf"{_DECIDED}\b"
    r"(?! (?:as|in|on|from|at|because|since)\b)",
    re.IGNORECASE,
)
_REQUIRES = re.compile(
    r"(?:[\w-]+ing (?:[\w\"()-]+ ){1,5})?(?:may |will |always )?requires? (?!that\b)[a-z]",
    re.IGNORECASE,
)
_OBLIGES = re.compile(
    r"\b(?:should|must|shall|ha(?:s|ve) to|needs? (?:to|a|an)|ought to|is required|are required"
    r"|(?:is|are) (?:needed|necessary|recommended|advisable|possible)|try|consider"
    r"|(?:can|could|may|will|would|is|are|to) (?:\w+ly )?be (?:\w+ly )?\w+(?:ed|en|wn|ut|et)\b"
    r"|(?:you|we|they|the (?:agent|user|team|operator|engineer)) (?:can|may|will|could|might)"
    r"|(?:[A-Z]{2,5}|teams?|leads?|managers?|owners?|engineers?|coordinators?|officers?|users?"
    r"|customers?|admin\w*|operators?|chairs?|reviewers?|directors?|board)\b[^,;]{0,40}"
    r"(?:, [^,;]{2,30},)? (?:may|can|will|would)"
    rf"|(?:is|are) {_DECIDED})\b",
    re.IGNORECASE,
)
_ALLOWED = re.compile(
    r"(?:you|they|we|the [\w-]+|(?:[\w-]+ ){0,2}?[\w-]+s) (?:(?:may|can) (?:only )?(?:(?:also )?be"
    r" (?:\w+ed|paid|given)|request|receive|claim|take|earn|have|get|apply|ask|use|bring|order"
    r"|cancel|change|return|borrow|carry|work)"
    r"|(?:are|is) (?:eligible|entitled|allowed|permitted))\b",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"(?:you|they|(?:[\w-]+ ){0,2}?[\w-]+s) (?:cannot|can['’]t|can not|may not|will not|won['’]t"
    r"|are not (?:able|allowed|entitled) to|do not|don['’]t) (?:be (?:paid|reimbursed|refunded)"
    r"|receive|get|claim|earn|accrue|qualify|have)\b",
    re.IGNORECASE,
)
_SOMEBODY_MAY = re.compile(
    r"(?P<who>[^,;:.]{2,60}?) (?:may|must|shall) (?!(?:see|notice|encounter|experience|be|have|get"
    r"|receive|lose|feel|fail|not)\b)[a-z]",
    re.IGNORECASE,
)
_RIGHT = re.compile(
    r"(?:you|they|(?:the |an? )?(?:employees?|customers?|clients?|members?|tenants?|students?"
    r"|users?|guests?|patients?|buyers?|staff|applicants?)) "
    r"(?:(?:also|then|no longer|automatically) )*"
    r"(?:(?:(?:will|would|must|shall|may|can|do|does|are|is) (?:not |no longer |only |also "
    r"|automatically )*|cannot |can['’]t |won['’]t |don['’]t |doesn['’]t )"
    r"(?:forfeit|lose|owe|qualify|receive|earn|claim|accrue|be (?:charged|paid|reimbursed|refunded"
    r"|compensated|credited|entitled|eligible)|eligible|entitled|charged|paid|reimbursed|refunded"
    r"|compensated|get (?:a |an |the |your |any |overtime|paid|credits?\b))"
    r"|(?:forfeits?|los(?:e|es)|owes?|qualif(?:y|ies)) )\b",
    re.IGNORECASE,
)
"""What somebody is entitled to, or has to pay."""
_EXPLAINS = re.compile(
    r"(?:then )?(?:[\w`'’\"*/.()-]+ ){1,8}?(?:is|are|was|were|has|have|had|will|would|may|might"
    r"|could"
    r"|can|cannot|does|do|did|means?|indicates?|suggests?|implies|shows?|points?|happens?|seems?"
    r"|tells?|causes?|runs?|uses?|results?|becomes?|remains?)\b|(?:it|this|that|there|which)\b",
    re.IGNORECASE,
)


def leads(text: str) -> bool:
    """Whether ``text`` is something to do, or a way to go on."""
    said = text.rstrip(". ")
    if is_order(text) or read_end(text) or leads_elsewhere(text):
        return True
    return bool(said and NEXT.fullmatch(said))


def bids(text: str) -> bool:
    """Whether ``text`` is something to do, whoever is said to do it."""
    said = bool(_REQUIRES.match(text) or _OBLIGES.search(text))
    return leads(text) or is_last_act(text) or said


def is_verdict(text: str) -> bool:
    """Whether ``text`` says how all ends, or what becomes of a request: ``It is rejected``."""
    return bool(read_end(text) or is_last_act(text) or _VERDICT.search(text))


def changes_right(text: str) -> bool:
    """Whether ``text`` says what somebody gets, loses or owes: ``you forfeit the deposit``."""
    return bool(_RIGHT.match(text))


def is_allowed(text: str) -> bool:
    """Whether ``text`` says what somebody may have or do: ``Guests may bring a dog``."""
    return bool(_ALLOWED.match(plain(text)))


def is_denied(text: str) -> bool:
    """Whether ``text`` says what somebody does not get: ``You cannot claim the fare``."""
    return bool(_DENIED.match(plain(text)))


def explaining(then: str) -> bool:
    """Whether ``then`` only tells how things are: ``this means that no traffic arrives``."""
    said = core(then)
    if not said or leads(then) or is_last_act(then) or _OBLIGES.search(said) or is_denied(said):
        return False
    allowed = _SOMEBODY_MAY.match(said)
    if allowed is not None and has_somebody(allowed["who"]):
        return False
    return bool(_EXPLAINS.match(said))
