"""Who does a step: what people and bodies are called, and what says so in the margin.

A file of its own: a table of titles, as the verbs and the headings have theirs.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from dcf.sop.runbook.verbs import words_in

PEOPLE = (
    r"(?:(?:teams?|persons?|people|engineers?|reviewers?|owners?|managers?|leads?|leaders?|agents?"
    r"|analysts?|operators?|members?|administrators?|admins?|responders?|developers?|commanders?"
    r"|officers?|clerks?|supervisors?|directors?|heads?|approvers?|maintainers?|authors?"
    r"|request(?:e|o)rs?|applicants?|employees?|staff|personnel|colleagues?|peers?|coordinators?"
    r"|assistants?|technicians?|nurses?|doctors?|teachers?|auditors?|custodians?|stewards?"
    r"|representatives?|reps?|secretar(?:y|ies)|treasurers?|chair(?:person|man|woman)?|presidents?"
    r"|consultants?|contractors?|vendors?|suppliers?|buyers?|guards?|workers?|chiefs?|captains?"
    r"|mentors?|recruiters?|specialists?|experts?|architects?|scribes?|liaisons?|delegates?"
    r"|departments?|boards?|committees?|councils?|panels?|desk|management|leadership|tenants?"
    r"|customers?|clients?|users?|stakeholders?|sponsors?|trainers?|pharmacists?|hr|legal|finance"
    r"|security|payroll|accounting|procurement|reception|facilities|logistics|dispatch"
    r"|(?-i:IT)|qa|sres?|dbas?|cab|ciso|cto|cio|ceo|cfo|coo|dpo|ic"
    r"|on-?call|human(?: resources)?)"
    r"\b)"
)
"""What people and bodies are called by what they do."""
_BODIES = words_in(
    """
    accounting accounts administration agency authority bureau buying committee compliance
    controlling crew dispatch facilities faculty fire-brigade ministry office payroll pharmacy
    procurement purchasing reception registry secretariat syndicate treasury union housekeeping
    bank centre center company control court entity firm headquarters helpdesk hospital hotline
    laboratory lab organisation organization plant pharmacy school university warehouse
    everybody everyone somebody someone anybody anyone whoever it
    """
)
"""Bodies that are none of those titles; ``IT`` counts in capitals alone."""
_CHIEF = re.compile(r"C[A-Z]{1,2}O")
_PEOPLE = re.compile(PEOPLE, re.IGNORECASE)
_TITLES = (
    r"(?:[A-Z]{2,5}|on-?call(?: engineer)?|incident commander|(?:[\w-]+ ){0,3}(?:team|lead"
    r"|leader|manager"
    r"|engineer|owner|commander|admin|administrator|operator|analyst|support|officer|director"
    r"|dba|sre"
    r"|coordinator|responder|scribe|agent|reviewer|approver|supervisor|technician|developer"
    r"|specialist"
    r"|representative|liaison))"
)
_BEFORE = re.compile(
    rf"[*_`\[(]{{0,3}}@?(?P<who>{_TITLES})[*_`\])]{{0,3}}\s*:[*_]{{0,2}}\s+(?=\S)", re.IGNORECASE
)
_BEHIND = re.compile(
    rf"\s*[(\[]\s*(?:by |owner: ?|role: ?|who: ?)?@?(?P<who>{_TITLES})\s*[)\]]\s*[.:]?$",
    re.IGNORECASE,
)
_NO_ROLE = re.compile(
    r"(?:NOTE|TODO|TIP|WARN|INFO|YES|NO|OK|FAQ|NB|PS|URL|HTTP|SQL|CLI|UI|API|DNS|TCP|SSH|VM"
    r"|CPU|RAM|AWS|GCP|S3|EC2|RDS|EKS|GKE|AKS|DB|ID|IP|TTL|SLA|SLO|SLI|P[0-9]|SEV\w*)$"
)


@cache
def _persons() -> frozenset[str]:
    text = (files("dcf.sop.runbook") / "persons.txt").read_text(encoding="utf-8")
    return words_in(" ".join(row for row in text.split("\n") if not row.startswith("#")))


def is_somebody(word: str) -> bool:
    """Whether a word is what a person or a body is called: ``lecturers``, ``HR``."""
    said = word.strip("*_`'’").removesuffix("'s").removesuffix("’s")
    low = said.lower()
    if low == "it" or _CHIEF.fullmatch(said):
        return said != low
    if _PEOPLE.fullmatch(low) or low in _BODIES or low in _persons():
        return True
    singles = (low[:-1], f"{low[:-3]}y", low[:-2]) if low.endswith("s") else ()
    return any(one in _persons() for one in singles)


def has_somebody(text: str) -> bool:
    """Whether a person or a body is named in ``text``."""
    return any(is_somebody(word) for word in re.findall(r"[\w'’-]+", text))


def role_in(text: str) -> tuple[str, str]:
    """Who does it (empty if it does not say) and the text without that: ``DBA: stop the writes``,
    ``Stop the writes (DBA)``."""
    before = _BEFORE.match(text)
    if before and _is_role(before["who"]):
        return before["who"], text[before.end() :]
    behind = _BEHIND.search(text[-80:])
    if behind and _is_role(behind["who"]):
        return behind["who"], text[: len(text) - len(behind[0])].strip()
    return "", text


def _is_role(who: str) -> bool:
    return not _NO_ROLE.fullmatch(who)
