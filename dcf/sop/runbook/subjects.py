"""Cases that the subject of a rule names, or a clause of time: ``Claims over 900 € need …``.

A policy seldom says *if*. What is restricted in it is a condition: a relative clause, an amount, a
time, a plan, ``only`` some. What the rule says of it is what follows.
"""

from __future__ import annotations

import re

from dcf.sop.language.phrase import masked
from dcf.sop.runbook.clauses import somebody_acts
from dcf.sop.runbook.conditions import Decision
from dcf.sop.runbook.consequences import is_verdict
from dcf.sop.runbook.roles import has_somebody
from dcf.sop.runbook.wording import plain

_LONGEST = 400
_LONGEST_SUBJECT = 24
"""Words."""
_REQUEST = (
    r"(?:requests?|claims?|orders?|refunds?|returns?|expenses?|purchases?|tickets?|applications?"
    r"|payments?|invoices?|contracts?|bookings?|reservations?|complaints?|reports?|exceptions?"
    r"|appeals?|disputes?|changes|incidents?|vulnerabilit(?:y|ies)|findings?|violations?|breaches"
    r"|trips?|travel|leave|absences?|items?|goods|products?|packages?|deliver(?:y|ies)|documents?"
    r"|proposals?|nominations?|pull requests?|patches|releases?|issues?|subscriptions?|accounts?"
    r"|flights?|gifts?|donations?|loans?|permits?|visits?)"
)
"""What somebody asks for or hands in, so that it is decided upon."""
_AMOUNT = (
    r"(?:(?:worth|valued at|of|for|lasting|taking) )?(?:over|above|below|under|exceeding"
    r"|beyond|more than|less than|fewer than|greater than"
    r"|(?:long|old|high|low|larg|small|short|new|young)er than|at least|at most|up to|between"
    r"|worth|valued at|(?:of|from) (?=[^a-z]{0,3}[0-9][^ ]* (?:or|to|and|up)\b))\b"
    r" (?=[^a-z]{0,4}[0-9]|(?:a|an|one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty"
    r"|thirty|sixty|ninety|the (?:limit|threshold|allowance))\b)"
)
_DONE = (
    r"(?:(?:that (?:are|were|is|was)|which (?:are|were)) )?(?:not )?(?:yet )?"
    r"(?!(?:us|bas|relat|design|requir|need|nam|call)ed\b)[a-z]+(?:ed|en|ought"
    r"|ade|ent|old|eft|ost|ound|aid) (?:after|before|within|on|by|without|outside|during|in|at"
    r"|through|from|for|more|less|later|earlier|as|under|via|late)\b"
)
_RESTRICTS = re.compile(
    r"(?P<who>\b(?:who|whose|that|which)\b(?! (?:is|are) (?:called|named)\b))"
    rf"|(?P<amount>\b{_AMOUNT})|(?P<done>\b{_DONE})"
    r"|(?P<plan>\bon (?:an? |the |our |any )?(?:[\w'’-]+ ){0,3}?(?:plans?"
    r"|tiers?|schedules?|contracts?|subscriptions?|leave|probation|basis|shifts?|visas?|sites?)\b)"
    r"|(?P<having>\b(?:with(?:out)?|for|in|from|at|outside|under|not)\b)",
    re.IGNORECASE,
)
_PREDICATE = re.compile(
    r"\s(?P<verb>(?:(?:will|would|must|shall|should|can|may|might|cannot|can['’]t|won['’]t|needs?"
    r"|ha(?:s|ve) to|requires?|gets?|receives?|earns?|loses?|forfeits?|pays?|qualif(?:y|ies)|owes?"
    r"|do not|does not|don['’]t|doesn['’]t|are|is|aren['’]t|isn['’]t|go(?:es)?|keeps?|count)\b)"
    r"(?P<rest>.*))",
    re.IGNORECASE | re.DOTALL,
)
_RULES = re.compile(
    r"(?:(?:will|would|must|shall|should|may|can|need|needs|ha(?:s|ve) to|do|does)\b|cannot"
    r"|can['’]t|won['’]t|don['’]t|doesn['’]t"
    r"|(?:requires?|needs?|gets?|receives?|earns?|los(?:e|es)|forfeits?|pays?|owes?|qualif(?:y|ies)"
    r"|keeps?)\s+\w|(?:are|is|aren['’]t|isn['’]t) (?:not |only |also |automatically |always |then "
    r"|never |no longer )*(?:[a-z]+(?:ed|en|aid|old|ent)\b(?! (?:as|in|on|at|because|since)\b)"
    r"|eligible|entitled|exempt|subject to|free of|final|handled|dealt|due|void|ineligible"
    r"|non-?refundable|refundable)|(?:are|is) (?:not )?(?:required|allowed|permitted) to\b"
    r"|goes? (?:to|through))",
    re.IGNORECASE,
)
_NO_RULE = re.compile(
    r"(?:is|are|can|may|might|could|will|should|would|must) (?:\w+ly |also |then )*(?:be )?"
    r"(?:called|named|based|defined|described|found|seen|used|shown|listed|located|known|displayed|provided"
    r"|intended|designed|stored|included|considered|stated|responsible|related|expected|able)\b"
    r"|(?:can|may|might|could|will|would) (?:also |often |still |\w+ly )?(?:be|have|cause|take|see"
    r"|find|happen|occur|help|lead|result|vary|mean|include|contain|appear|show|fail|depend|affect"
    r"|come|become|exist|remain)\b(?! (?:\w+ly )?[a-z]+ed\b)",
    re.IGNORECASE,
)
_WHOLE = re.compile(
    r"(?:it|this|that|these|those|they|there|we|you|i|here|what|how|why|if|when|while|as|because"
    r"|since|although|though|to|please|for|in|on|at|with|by|after|before|once|the (?:following"
    r"|above)|note)\b",
    re.IGNORECASE,
)
_SETTLES = re.compile(
    r"(?:(?:are|is|will be|must be|can be|cannot be) (?:not |only |always )*"
    r"[a-z]+(?:ed|ent|aid|old)\b"
    r"|(?:receives?|gets?|loses?|forfeits?|pays?|needs?|requires?) )",
    re.IGNORECASE,
)
_DEFINITE = re.compile(r"(?:the|our|your|my|his|her|their|its|this|that|these|those)\b", re.I)
_ONLY = re.compile(r"only\s+(?!(?:if|when|once|after|the|use|do|a|an|one)\b)", re.IGNORECASE)
_ANY = re.compile(
    r"(?:any|each|every|all) (?:[\w-]+ ){0,2}?(?:known|suspected|confirmed|unresolved|repeated|late"
    r"|missing|lost|stolen|damaged|unused|unauthori[sz]ed|overdue|expired|incomplete|urgent"
    r"|incorrect|unplanned)\b",
    re.IGNORECASE,
)
_TIMED = re.compile(
    r"(?:(?:as|so) long as [^,;:.]{3,100}|(?:after|before|within|beyond|until|up to)\s+"
    r"(?:the (?:first|initial|last) )?(?:[0-9]+"
    r"|an?|one|two|three|four|five|six|seven|ten|twelve|thirty|sixty|ninety)[ -](?:[\w-]+ )?"
    r"(?:minutes?|hours?|days?|weeks?|months?|years?)\b[^,;:.]{0,80}),\s+(?P<then>\S.*)",
    re.IGNORECASE | re.DOTALL,
)
_MAY = re.compile(r"[^,;:.]{2,60}?\b(?:may|can|cannot|may not|can['’]t|no longer)\b", re.IGNORECASE)
_NOTHING = re.compile(
    r"no (?P<what>(?:[\w-]+ ){0,2}?(?:refunds?|returns?|exchanges?|credits?|reimbursements?|access"
    r"|exceptions?|extensions?|replacements?|discounts?|changes|cancellations?|appeals?|payments?)"
    r"(?: (?:are|is|will be) (?:given|made|granted|possible|allowed|accepted|available|issued"
    r"|paid))?) (?P<case>(?:after|before|without|for|beyond|within|outside|during|on)\s+\S.*)",
    re.IGNORECASE | re.DOTALL,
)
_AMOUNTS = re.compile(_AMOUNT, re.IGNORECASE)
_ALLOWED = re.compile(
    r"(?P<then>[^,;:.]{2,80}? (?:is|are|will be) (?:not |also )?(?P<only>only )?(?:required|needed"
    r"|necessary|permitted|allowed|reimbursed|covered|paid|granted|refunded|given|charged|possible"
    r"|accepted|approved|due|available))"
    r" (?P<also>only )?(?P<case>(?:for|on|in|after|before|within|without|with|to"
    r"|above|over|below|under|from) .+)",
    re.IGNORECASE | re.DOTALL,
)
"""``Receipts are required for amounts above 25 €``."""
_GRANTED = re.compile(
    r"(?P<then>(?P<who>[^,;:.]{2,60}?) (?:may|can) (?!(?:see|find|get|notice|encounter|experience"
    r"|be|have|receive|lose|feel|also|not)\b)[^,;:.]{2,120}?)"
    r" (?:only )?(?:if|when|where|provided(?: that)?|unless|as long as) (?P<case>[^,;:.]{3,160})",
    re.IGNORECASE | re.DOTALL,
)
"""``Managers may waive the fee if …``."""
_WHOEVER = re.compile(
    r"(?:(?:any(?:one|body)|every(?:one|body)|those|people|persons|somebody|someone) who\b"
    r"|whoever\b)(?:(?!\b(?:will|must|shall|should|may|can|needs?|ha(?:s|ve) to)\b)[^,;:.]){3,100}",
    re.IGNORECASE,
)
_RULED_OF = re.compile(
    r"\b(?:must|shall|should|may|will|cannot|needs? to|ha(?:s|ve) to|(?:is|are) (?:not )?"
    r"(?:eligible|entitled|exempt|required|\w+ed)|(?:receives?|gets?|loses?|forfeits?|pays?)) ",
    re.IGNORECASE,
)
_KIND = re.compile(
    r"(?:late|early|urgent|emergency|part-time|full-time|temporary|incomplete|unused|lost|damaged"
    r"|stolen|expired|repeated|first-time|minor|major|high-risk|low-risk|unapproved|overdue|missing"
    r"|defective|faulty|unpaid|partial|cancell?ed|duplicate|anonymous|foreign|international"
    r"|(?:critical|high|medium|low|severe)(?:(?: and|,| or) (?:critical|high|medium|low|severe))?"
    r"|opened|custom(?:i[sz]ed)?|personali[sz]ed|final[- ]sale|perishable|non-\w+|un\w+ed) ",
    re.IGNORECASE,
)
"""Says of some that they are not as the others."""


def read_subject(text: str) -> Decision | None:
    """The case that the subject of ``text`` names and what its rule says; None for no such rule."""
    said = plain(text).rstrip(" .")
    if len(said) > _LONGEST or said.endswith((":", "?")):
        return None
    if whoever := _WHOEVER.match(said):
        ruled = _RULED_OF.search(said) or somebody_acts(said)
        return Decision(whoever[0].strip(), said) if ruled else None
    allowed = _ALLOWED.match(said)
    if allowed is not None:
        restricted = allowed["only"] or _AMOUNTS.search(allowed["case"])
        return Decision(allowed["case"].strip(), allowed["then"].strip()) if restricted else None
    granted = _GRANTED.match(said)
    if granted is not None and has_somebody(granted["who"]):
        return Decision(granted["case"], granted["then"])
    nothing = _NOTHING.fullmatch(said)
    if nothing is not None:
        return Decision(nothing["case"], f"no {nothing['what']}")
    timed = _TIMED.match(said)
    if timed is not None:
        decided = is_verdict(timed["then"]) or _MAY.match(timed["then"])
        return (
            Decision(said[: timed.start("then")].rstrip(" ,"), timed["then"]) if decided else None
        )
    return _ruled(said)


def _ruled(said: str) -> Decision | None:
    only = _ONLY.match(said)
    subject_at = only.end() if only else 0
    if _WHOLE.match(said):
        return None
    hidden = masked(said)
    for found in _PREDICATE.finditer(hidden):
        subject = said[subject_at : found.start()]
        if len(subject.split()) > _LONGEST_SUBJECT:
            return None
        if not _is_restricted(subject, only=only is not None):
            continue
        rule = hidden[found.start("verb") :]
        if _KIND.match(subject) and not (is_verdict(said) or _SETTLES.match(rule)):
            return None
        if _RULES.match(rule) and not _NO_RULE.match(rule):
            return Decision(subject.strip(" ,"), said)
        return None
    return None


def _is_restricted(subject: str, *, only: bool) -> bool:
    """Whether ``subject`` is some of those that it is about, and not all of them, or a certain
    one."""
    restricted = _RESTRICTS.search(subject)
    head = subject[: restricted.start()] if restricted else subject
    if _ANY.match(subject):
        return True
    if _KIND.match(subject) and len(subject.split()) <= 4 and _is_case_work(subject):
        return True
    if restricted is None or not head.strip() or re.search(r"[,;:(]", head):
        return False
    if _DEFINITE.match(subject) and not only:
        return False
    kind = restricted.lastgroup
    measured = kind in ("amount", "plan") and re.search(r"[a-z]s\s*$", head)
    if len(head.split()) > 5 or not (measured or _is_case_work(head)):
        return False
    said = subject[restricted.end() :]
    return kind not in ("who", "having") or len(said.split()) > (1 if kind == "who" else 0)


def _is_case_work(head: str) -> bool:
    last = head.split()[-1].strip("*_`")
    return bool(re.fullmatch(_REQUEST, last, re.IGNORECASE)) or has_somebody(last)
