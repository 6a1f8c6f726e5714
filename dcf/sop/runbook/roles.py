"""Who does a step, where a runbook says so in the margin.

A file of its own: a table of titles, as the verbs and the headings have theirs.
"""

from __future__ import annotations

import re

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
