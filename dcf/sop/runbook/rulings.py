"""Rulings: what is done, allowed or refused in each of several cases, by amount, kind or level."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dcf.sop.language.phrase import MAX_PHRASE
from dcf.sop.runbook.approvals import read_consent
from dcf.sop.runbook.cases import begins, is_case_like, is_fault, names_no_case
from dcf.sop.runbook.conditions import Decision, opens, read_decision
from dcf.sop.runbook.consequences import is_verdict
from dcf.sop.runbook.ends import hands_over
from dcf.sop.runbook.roles import has_somebody
from dcf.sop.runbook.rules import is_hard_rule, is_rule
from dcf.sop.runbook.wording import is_clear_order, is_order, plain

_AGREES = re.compile(
    r"(?P<whose>[^,;:.]{2,60}?)(?:['’]s?)? (?:approval|sign-?off|consent|authori[sz]ation)"
    r"(?: (?:is )?(?:required|needed|necessary))?"
    r"|(?:approved|signed off|authori[sz]ed|decided|agreed)(?: only)? by (?P<by>[^,;:.]{2,60})"
    r"|(?P<who>[^,;:.]{2,60}?) (?:decides?|approves?|signs?(?: off)?|authori[sz]es?"
    r"|(?:must|has to|have to) (?:approve|sign|agree|decide))",
    re.IGNORECASE,
)
_BODY = re.compile(r"\b[A-Z]{2,5}\b|\b(?:board|office|committee|council|desk|leads?)\b")
_RULED = re.compile(
    r"(?:(?:is|are|will be|automatically|usually|always) )*(?:(?:not|un) ?)?(?:approved|denied"
    r"|granted|accepted|rejected|refused|declined|allowed|permitted|eligible|covered|reimbursed"
    r"|refund(?:ed|able)|prohibited|waived|possible|available)\b.{0,120}"
    r"|(?:full|partial|half|no|[0-9]+ ?%) (?:refunds?|returns?|exchanges?|credit|reimbursement"
    r"|compensation|fees?|charges?|approval)\b.{0,120}"
    r"|(?:store|travel) credit(?: only)?|[0-9]+ ?% (?:of|off)\b.{0,120}",
    re.IGNORECASE,
)
"""How a request is dealt with, in a word or two: ``Approved``, ``Full refund``."""
_RANGE = re.compile(
    r"[~€$£]? ?[0-9][0-9.,]*\+? ?[\w%°]{0,8} ?(?:-|–|—|to|and|until) ?[~€$£]?[0-9]"
    r"|[~€$£]?[0-9][0-9.,]*(?: ?[\w%°]{1,8})?(?:\+| (?:or|and) (?:more|less|above|over|below|up"
    r"|under))|(?:first|second|third|fourth|repeated) [\w-]+$",
    re.IGNORECASE,
)
_LEVEL = re.compile(
    r"(?:level|tier|stage|step|line|l|p|sev|severity|priority) ?-?[0-9]\b.{0,60}"
    r"|(?:first|second|third|primary|secondary|tertiary) (?:level|tier|line|contact|escalation)"
    r".{0,60}|(?:after |within )?[0-9][^:]{0,30}(?:min(?:ute)?s?|hours?|days?|h|m)\b.{0,40}",
    re.IGNORECASE,
)
_AT_ONCE = re.compile(
    r"\b(?:immediate(?:ly)?|at once|first respon(?:se|der)|initial response)\b", re.IGNORECASE
)
_PARTED = re.compile(r"\s*(?::|→|⇒|➔|->|=>)\s+|\s+(?:–|—|-{1,3})\s+")
_LONGEST_LABEL = 90


def in_full(text: str) -> str:
    """``text`` with a consent in the words of a sentence: ``Manager approval`` is
    ``Approval by Manager``."""
    agreed = _AGREES.fullmatch(plain(text).strip(" .;*_")) if len(text) <= MAX_PHRASE else None
    who = (agreed["whose"] or agreed["by"] or agreed["who"]).strip() if agreed else ""
    if not who or is_clear_order(who) or not is_body(who):
        return text
    return f"Approval by {who}"


def read_among_rulings(text: str) -> Decision | None:
    """What an item of a list of rulings says, as `read_ruling` reads it."""
    return read_ruling(text, among_others=True)


def is_body(text: str) -> bool:
    """Whether ``text`` names a person or a body that can agree or take over."""
    return len(text.split()) <= 8 and (has_somebody(text) or bool(_BODY.search(text)))


def rules(text: str) -> bool:
    """Whether ``text`` alone says how something is dealt with: allowed, refused, passed on, or
    only when somebody agrees."""
    said = plain(text).strip(" .;*_")
    if not said or len(said) > MAX_PHRASE:
        return False
    if _RULED.fullmatch(said) or is_verdict(said) or hands_over(said):
        return True
    consent = read_consent(said)
    return in_full(said) != said or (consent is not None and any(map(is_body, consent.by)))


def settles(text: str) -> bool:
    """Whether a cell or what stands behind a label is something to do, or a ruling."""
    said = plain(text)
    if is_clear_order(said) or (is_order(said) and len(said.split()) > 3):
        return True
    return rules(text)


def is_measured(label: str) -> bool:
    """Whether ``label`` tells a case by itself: an amount, a time, a fault, a state."""
    said = plain(label).strip(" :.*_")
    return is_case_like(said) or is_fault(said) or bool(_RANGE.match(said))


def read_rung(text: str) -> Decision | None:
    """A rung of an escalation ladder: ``Level 2 (30 minutes): plant engineer``."""
    label, then = _parts(text)
    if not then or not _LEVEL.fullmatch(label) or answers_first(text):
        return None
    if settles(then) or not is_body(then):
        return None
    return Decision(label, f"Escalate to {then.strip(' .;*_')}")


def read_ruling(text: str, among_others: bool = False) -> Decision | None:
    """``Over $500 – manager approval``: the case in front, and what is done in it.
    ``among_others``: those beside it are rulings, so that any verb ahead is something to do,
    and what stands in front is a case (``School classes``)."""
    label, then = _parts(text)
    if not then or names_no_case(label) or not (settles(then) or (among_others and begins(then))):
        return None
    ordered = not among_others and is_clear_order(label)
    if (opens(label) or ordered) and not (is_measured(label) or rules(then)):
        return None
    return Decision(label, in_full(then))


def are_rulings(told: Sequence[str]) -> bool:
    """Whether the items of a list are rulings as a rule: most have a case in front, and it or what
    stands behind it leaves no doubt. What forbids something throughout does not count."""
    said = [one for one in told if read_decision(one) is None]
    said = [one for one in said if read_ruling(one) or not (is_hard_rule(one) or is_rule(one))]
    found = [decision for one in said if (decision := read_ruling(one))]
    sure = sum(is_measured(one.condition) or rules(one.then) for one in found)
    return len(found) > 1 and 3 * len(found) >= 2 * len(said) and 2 * sure >= len(found)


def are_rungs(told: Sequence[str]) -> bool:
    """Whether the items of a list are those of an escalation ladder."""
    return len(told) > 1 and all(read_rung(one) or answers_first(one) for one in told)


def answers_first(text: str) -> bool:
    """Whether a rung of an escalation ladder is the first one, which nobody hands over to:
    ``Level 1 (immediately): on-call engineer``."""
    return bool(_AT_ONCE.search(text))


def _parts(text: str) -> tuple[str, str]:
    if len(text) > MAX_PHRASE:
        return "", ""
    said = text.replace("**", "").replace("__", "")
    found = _PARTED.search(said)
    if found is None or not 2 < found.start() <= _LONGEST_LABEL:
        return "", ""
    return said[: found.start()].strip(" *_"), said[found.end() :].strip()
