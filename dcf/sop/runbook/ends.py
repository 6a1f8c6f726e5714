"""Sentences that end the procedure, and acts after which others go on."""

from __future__ import annotations

import re

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
_STOP = re.compile(
    rf"(?:please )?(?:stop|abort|halt|cancel|exit|quit|terminate|give up|bail out)(?: {_WHAT})*"
    r"(?: and (?:stop|exit|abort))?|do not (?:proceed|continue|go on)(?: further| any further)?"
    r"(?:(?: with| to| until)\b.{0,80})?|don't (?:proceed|continue|go on)(?: further)?",
    re.IGNORECASE,
)
_FINISH = re.compile(
    rf"(?:you(?:'re| are) |we(?:'re| are) |it(?:'s| is) |that(?:'s| is) )?(?:all )?(?:done"
    rf"|finished|complete)"
    rf"|(?:finish|end)(?: {_WHAT})*|(?:there is )?nothing (?:else |more |further )*(?:to do|is "
    rf"needed"
    r"|needs to be done|needed)(?: .{0,30})?|(?:there is )?no (?:further |other |more "
    r"|additional |immediate )*"
    r"(?:action|actions|steps|work|response|remediation)(?: (?:is |are )?(?:needed|required"
    r"|necessary))?"
    r"(?: .{0,30})?|ignore(?: (?:it|this|the (?:alert|warning|message|error)))?|all good"
    r"|that(?:'s| is) (?:it|all)"
    r"|you can (?:stop|finish)(?: here)?|(?:this |that )?concludes? (?:the|this) (?:\w+ "
    r"){0,2}?(?:process"
    r"|procedure|runbook|playbook|workflow|execution)\b.{0,80}",
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
_PARTS = re.compile(r"\s*[,;]\s*(?:and\s+)?(?:then\s+)?|\s+and\s+(?:then\s+)?|\s+then\s+")
_HANDED_OVER = re.compile(
    r"(?:escalate|transfer (?:the|them|it|this|to|all)|hand (?:it |this |them )?(?:over|off)"
    r"|(?:open|raise|file|create|submit) (?:a|an) (?:\w+ ){0,2}(?:ticket|case|support request)"
    r"|(?:contact|consult|engage|involve|page|call|notify|reach out to|connect with|refer (?:it "
    r"|this )?to"
    r"|get help from|ask)\b[^.]{0,60}\b(?:support|team|engineers?|on-?call|vendor|helpdesk|help "
    r"desk"
    r"|specialists?|human|experts?|administrators?|commander|lead|manager|dba|sre)\b)",
    re.IGNORECASE,
)
_LAST_ACT = re.compile(
    r"(?:close (?:the|this|out|it)|resolve (?:the|this) (?:incident|alert|ticket|case|issue|page)"
    r"|mark (?:the|this) (?:incident|alert|ticket|issue|case|task)\b.{0,20} as (?:resolved|closed"
    r"|done|complete)|conclude|deny (?:the|it|any)|refuse|reject the|decline)\b",
    re.IGNORECASE,
)


def read_end(text: str) -> End:
    """How the procedure ends here, if ``text`` says only that."""
    said = core(text).rstrip(".!; *_")
    if _STOP.fullmatch(said):
        return "stop"
    if not _FINISH.fullmatch(said):
        return ""
    return "stop" if _IN_VAIN.search(said) else "finish"


def is_last_act(text: str) -> bool:
    """Whether whoever does it is done then: ``escalate to the hardware team``."""
    return hands_over(text) or bool(_LAST_ACT.match(core(text)))


def is_of_others(text: str) -> bool:
    """``All other requests are transferred``: what is done in no case that was told."""
    return bool(_OTHERS.match(plain(text)))


def is_helpless(condition: str) -> bool:
    """Whether what is done then is done by others: ``you cannot resolve the issue``."""
    return bool(_HELPLESS.match(condition))


def hands_over(text: str) -> bool:
    """Whether somebody else goes on."""
    return any(_HANDED_OVER.match(core(part)) for part in _PARTS.split(text[:MAX_PHRASE]))
