"""Sentences that end the procedure, and acts after which others go on."""

from __future__ import annotations

import re
from itertools import islice

from dcf.sop.language.phrase import MAX_PHRASE
from dcf.sop.runbook.flow import End
from dcf.sop.runbook.wording import core, plain

_WHAT = (
    r"(?:(?:the|this|that|our|whole|entire) )*(?:procedure|process|runbook|rotation|roll-?out"
    r"|deployment"
    r"|deploy|migration|upgrade|update|release|operation|change|maintenance|work|investigation"
    r"|playbook"
    r"|workflow|sop|execution|task|steps|checklist|cutover|failover|restore|troubleshooting"
    r"|here|now"
    r"|immediately|at once|there|right away|at this point)"
)
_AT_ONCE = r"(?:here|now|immediately|at once|there|right away|at this point)"
_TELLS = (
    r"(?:tell|inform|notify|ask|alert|call|contact|report|warn|advise|document|record|log|explain"
    r"|let|wait|escalate|seek|say|raise|get|return|state)"
)
"""What one does beside stopping, rather than with what is stopped (``stop and remove it``)."""
_STOP = re.compile(
    rf"(?:please )?(?:stop|abort|halt|cancel|exit|quit|terminate|give up|bail out)(?: {_WHAT})*"
    rf"(?: and (?:stop|exit|abort))?"
    rf"|(?:stop|abort|halt)(?: {_WHAT})?(?: and |, ?|; ?)(?:then )?(?:{_TELLS}\b.*"
    rf"|(?!\w+ (?:the |it ))\w.*)"
    rf"|(?:stop|abort|halt) {_AT_ONCE}\b.*"
    rf"|call (?:it|{_WHAT}) off",
    re.IGNORECASE,
)
_NO_FURTHER = re.compile(
    r"(?:(?:you |we |it |they )?(?:must |should |shall |may |can)?(?:do )?(?:not|never)"
    r"|don['’]t|cannot)"
    r" (?:proceed|continue|go (?:on|any further|further|ahead)|carry on)\b(?P<rest>.*)",
    re.IGNORECASE,
)
_GATE = re.compile(r"\b(?:until|unless|without|before|if|when)\b", re.IGNORECASE)
"""``Do not proceed until …`` ends nothing."""
_WORK = (
    r"(?:actions?|steps?|work|response|remediation|interventions?|measures?|follow-?up|changes?)"
)
_FINISH = re.compile(
    rf"(?:you(?:'re|’re| are) |we(?:'re|’re| are) |it(?:'s| is) |that(?:'s| is) )?(?:all )?(?:done"
    rf"|finished|complete)"
    rf"|(?:finish|end)(?: {_WHAT})*"
    rf"|(?:there is |there's |you have )?(?:nothing|no need to (?:do|take|act|proceed|continue"
    rf"|worry"
    rf"|investigate))\b.{{0,60}}"
    rf"|(?:there (?:is|are) |there's |you need "
    rf"|it needs )?no (?:\w+ ){{0,2}}{_WORK}\b(?: (?:is |are |by "
    rf"\w+ |on your \w+ )*(?:needed|required|necessary|to (?:do|take)|warranted))?(?: .{{0,40}})?"
    rf"|(?:(?:(?:you|we|it|this|they|the (?:\w+ )?(?:alerts?|warnings?|messages?|errors?|issues?"
    rf"|incidents?|tickets?)) (?:can|may|should) (?:\w+ly )?(?:be )?(?:\w+ly )?)?(?:ignored?"
    rf"|disregard(?:ed)?))(?: (?:it|this|the (?:\w+ )?(?:alert|warning|message|error|issue)))?"
    rf"|(?:the|this|your) {_WHAT}(?: \w+)? (?:is|has) (?:now )?(?:over|ended|complete[d]?"
    rf"|finished|done)"
    rf"|(?:the|this) {_WHAT} (?:ends(?: here| there)?|does not apply|is not applicable)"
    rf"|skip the (?:rest|remainder)(?: of .{{0,60}})?|skip (?:the|this) (?:procedure|runbook"
    rf"|playbook)"
    rf"|(?:it|this|they|the (?:\w+ )?(?:alerts?|issues?|problems?|errors?)) (?:will|may|should"
    rf"|can|might)"
    rf" (?=.*\b(?:automatically|itself|themselves|on (?:its|their) own|in (?:some|a few|a while)))"
    rf"(?:\w+ )?(?:resolve|clear|recover|go away|disappear)\b.{{0,60}}"
    rf"|all good|that(?:'s|’s| is) (?:it|all)"
    rf"|(?:you |we )(?:can|may) (?:stop|finish)(?: here)?"
    rf"|(?:(?:you|we) can )?consider (?:the|this) \w+ (?:resolved|closed|done)"
    rf"|(?:this |that )?concludes? (?:the|this) (?:\w+ ){{0,2}}?(?:process"
    r"|procedure|runbook|playbook|workflow|execution)\b.{0,80}",
    re.IGNORECASE,
)
_REFUSED = re.compile(
    r"no (?:refunds?|returns?|exchanges?|credits?|reimbursements?|access|exceptions?"
    r"|compensation)(?:\s*\([^()]*\))?"
    r"|(?:(?:is|are|automatically|always) )*(?:denied|rejected|refused|declined|prohibited"
    r"|not (?:accepted|allowed|permitted|eligible|covered|refundable|reimbursed|approved"
    r"|possible|entitled))",
    re.IGNORECASE,
)
_IN_VAIN = re.compile(
    r"\b(?:reject\w*|den(?:y|ied|ial)|abort\w*|fail\w*|cancel\w*)\b", re.IGNORECASE
)
_HELPLESS = re.compile(
    r"(?:if )?(?:you |we |it |the \w+ )?(?:still )?(?:cannot|can't|can not|are unable|is unable"
    r"|unable|could not|do not|does not)"
    r"(?: be| to)?(?: still)? (?:resolve|fix|solve|repair|find|determine|identify)",
    re.IGNORECASE,
)
_OTHERS = re.compile(
    r"(?:for |in )?(?:all|any|every) other (?:requests?|cases?|questions?|issues?|situations?"
    r"|things?|tasks?)\b"
    r"|(?:anything|everything) else\b",
    re.IGNORECASE,
)
_MOST_PARTS = 24
_AHEAD = 300
"""Characters behind the beginning of an order that count."""
_PARTS = re.compile(
    r"\s*[:?]\s+|\s+(?:→|⇒|➔|➜|⟶|-{1,2}>|={1,2}>)\s+|\s*[,;]\s*(?:and\s+)?(?:then\s+)?|\s+and\s+(?:then\s+)?|\s+then\s+"
)
_WORK_ITEM = (
    r"(?:it|this|that|them|him|her|(?:the |this |any |all |such |every |your |their |a )"
    r"(?:[\w-]+ ){0,2}?(?:case|ticket|incident|issue|request|matter|file|alert|problem|claim|call"
    r"|caller|customer|user|client|guest|patient|conversation|chat|complaint|dispute|page|task"
    r"|work|investigation|application|order|question|enquiry|inquiry|report)s?)"
)
"""What is worked on, or for whom."""
_OTHER_BODY = (
    r"(?:[\w/&'’-]+ ){0,4}?(?:support|teams?|engineers?|engineering|on-?call|vendors?|suppliers?"
    r"|(?:help|service) ?desk|specialists?|humans?|experts?|admin(?:istrator)?s?|commanders?|leads?"
    r"|managers?|management|dbas?|sres?|departments?|units?|supervisors?|officers?|offices?"
    r"|committees?|boards?|agents?|representatives?|ops|operations|security|legal|enforcement"
    r"|compliance|facilities|finance|hr|(?-i:IT)|workshop|authorit(?:y|ies)|police|counsel|owners?"
    r"|maintainers?|developers?|technicians?|tier ?-?[2-9]|level ?-?[2-9]|l[2-9])\b"
)
_TO_KNOW = r"(?:and|to|then|for|whether|if) (?:wait|ask|confirm|approv\w+|get|obtain|know|agree)\b"
"""Others are asked, and go on with nothing."""
_HANDED_OVER = re.compile(
    rf"(?:(?:(?:they|he|she|somebody|the [\w -]{{2,30}}?) (?:can|may|should|must|will) )?escalate"
    rf"|transfer (?:the|them|it|this|to|all)|\w+ = \S+ \((?:urgent )?escalate\b"
    rf"|(?:hand|turn) (?:{_WORK_ITEM} )?(?:over|off)"
    rf"|(?:hand|pass|forward|refer|route|assign|re-?assign|delegate|direct|redirect|transfer|turn"
    rf"|leave|give) (?:{_WORK_ITEM} )?(?:on |over |up |back |off )?to {_OTHER_BODY}"
    rf"|(?:{_WORK_ITEM} )?(?:is|are|gets?|must be|should be|will be|has to be|needs to be) "
    rf"(?:\w+ly )?(?:handed|passed|forwarded|referred|routed|escalated|transferred|delegated"
    rf"|raised|redirected|turned)(?: on| over| up| off)? to\b"
    rf"|(?:open|raise|file|create|submit|log) (?:a|an) (?:\w+ ){{0,2}}(?:ticket|case|request) "
    rf"(?:with|to|at|for) {_OTHER_BODY}"
    rf"|ask \S.{{0,60}} (?:for (?:help|assistance|support)|to (?:take over|help|assist))\b"
    rf"|(?:contact|consult|engage|involve|page|call|reach out to|connect with|get help from)"
    rf"\b(?![^.]* {_TO_KNOW})[^.]{{0,60}}\b(?:support|team|engineers?|on-?call|vendor"
    rf"|helpdesk|help desk|specialists?|human|experts?|administrators?|commander|lead|manager|dba"
    rf"|sre)\b)",
    re.IGNORECASE,
)
_OPENS_A_CASE = re.compile(
    r"(?:open|raise|file|create|submit|log) (?:a|an) (?:(?!pull\b|merge\b)\w+ ){0,2}"
    r"(?:ticket|case|request)\b",
    re.IGNORECASE,
)
_LAST_ACT = re.compile(
    r"(?:close (?:the|this|out|it)|resolve (?:the|this) (?:incident|alert|ticket|case|issue|page)"
    r"|mark (?:the|this) (?:incident|alert|ticket|issue|case|task)\b.{0,20} as (?:resolved|closed"
    r"|done|complete)|conclude|(?:end|terminate|finish) the (?:conversation|chat|call|session)"
    r"|(?:the |this |her |his |their )?(?:alert|incident|ticket|case|issue|request|file|complaint"
    r"|matter) (?:(?:can|may|should|must|will) be|is|gets) (?:then )?(?:closed|resolved))\b",
    re.IGNORECASE,
)
_DENIES = re.compile(
    r"(?:deny|refuse|reject|decline|turn down)"
    r"(?: (?:the|it|any|this|that|them|their|all|such|to)\b|\s*(?:$|[.,;]| and\b| when\b| if\b))"
    r"|(?:(?:the|this|an?|any|such|all|his|her|their) )?(?:\w+ )?(?:requests?|orders?|applications?"
    r"|refunds?|claims?|returns?|appeals?|payments?|access) (?:is|are|gets?|(?:must|should|will|may"
    r"|can|shall) be) (?:then )?(?:denied|refused|rejected|declined|turned down)\b",
    re.IGNORECASE,
)


def read_end(text: str) -> End:
    """How the procedure ends here, if ``text`` says only that."""
    said = core(text).strip(".!; *_")
    if hands_over(said):
        return ""
    barred = _NO_FURTHER.fullmatch(said)
    if (
        _STOP.fullmatch(said)
        or _REFUSED.fullmatch(said)
        or (barred and not _GATE.search(barred["rest"]))
    ):
        return "stop"
    if not _FINISH.fullmatch(said):
        return ""
    return "stop" if _IN_VAIN.search(said) else "finish"


def is_last_act(text: str) -> bool:
    """Whether whoever does it is done then: ``escalate to the hardware team``."""
    return hands_over(text) or denies(text) or _in_a_part(_LAST_ACT, text)


def denies(text: str) -> bool:
    """Whether what was asked for is refused."""
    return _in_a_part(_DENIES, text)


def is_of_others(text: str) -> bool:
    """``All other requests are transferred``: what is done in no case that was told."""
    return bool(_OTHERS.match(plain(text)))


def is_helpless(condition: str) -> bool:
    """Whether what is done then is done by others: ``you cannot resolve the issue``."""
    return bool(_HELPLESS.match(condition))


def hands_over(text: str) -> bool:
    """Whether somebody else goes on."""
    return bool(_OPENS_A_CASE.match(core(text))) or _in_a_part(_HANDED_OVER, text)


def _in_a_part(act: re.Pattern[str], text: str) -> bool:
    """Whether an order in ``text`` begins as ``act`` does; what stands behind it counts, too."""
    said = text[:MAX_PHRASE]
    starts = [0, *(found.end() for found in islice(_PARTS.finditer(said), _MOST_PARTS))]
    return any(act.match(core(said[at : at + _AHEAD])) for at in starts)
