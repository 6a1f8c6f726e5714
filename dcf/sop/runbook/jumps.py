"""Sentences that lead to another place of the runbook, or only on to the next one."""

from __future__ import annotations

import re

from dcf.sop.language.phrase import masked
from dcf.sop.runbook.wording import core

_GO = (
    r"(?:(?:go|jump|skip|return|proceed|continue|move|advance|head|switch|fall|start|resume|starting"
    r"|begin(?:ning)?)"
    r"(?: (?:back|on|ahead|straight|directly|over|again|down|up))*"
    r"(?: (?:to|with|at|from|through)|(?<=go)to)|(?<!\w )back to)"
)
_LONGEST_PLACE = 200
_GOES = re.compile(rf"(?:{_GO}|repeat|redo|retry|rerun)\b", re.IGNORECASE)
_ELSEWHERE = re.compile(
    r"(?:(?:go|jump|skip|return|proceed|continue) (?:back |on |ahead |straight |directly |over )*"
    r"(?:to|with|at|from)\s+\S|(?:repeat|redo|retry|rerun)\b)",
    re.IGNORECASE,
)
_STEP = re.compile(
    rf"\b(?:{_GO}|(?:repeat|redo|retry|rerun|re-run|perform|execute|follow|run|do|try|see)(?: "
    rf"from)?)"
    r" (?:the )?(?:(?:steps?|phase|stage|section|part|task|#)\s*)+#?"
    r"(?P<step>[0-9]+[a-z]?(?:\.[0-9]+[a-z]?)*|(?:[ivx]+|[a-h])(?=[\W_]|$))",
    re.IGNORECASE,
)
_DUE = re.compile(
    r"\bstep #?(?P<step>[0-9]+[a-z]?(?:\.[0-9]+[a-z]?)*) (?:is|becomes|has to be|must be"
    r"|needs to be) (?:\w+ly )?(?:mandatory|required|necessary|needed|done|performed|executed"
    r"|carried out|next)\b",
    re.IGNORECASE,
)
"""``Step 4 is required``: what is done then."""
_PART = re.compile(r"\b(?:phase|stage|section|part|task)\s*#?[0-9a-z]", re.IGNORECASE)
_LIKE = re.compile(
    r"(?:as|like) (?:shown |described |explained |outlined |detailed |done |listed )?(?:in "
    r"|under |at )"
    r"(?:the )?(?:steps?|phase|section|part|task) #?(?P<step>[0-9]+[a-z]?(?:\.[0-9]+)*)\b",
    re.IGNORECASE,
)
_PREVIOUS = re.compile(
    r"\b(?:the )?(?:previous|preceding|prior|last) (?:step|action|command|check)\b", re.IGNORECASE
)
_SKIP = re.compile(
    r"(?:skip|omit|ignore)(?: over)? (?:the )?steps? #?(?P<step>[0-9]+)", re.IGNORECASE
)
_BARE_STEP = re.compile(rf"{_GO} #?(?P<step>[0-9]+\b(?!\s*(?:%|\w))|[b-h](?=\W*$))", re.IGNORECASE)
NEXT = re.compile(
    r"(?:continue|proceed|go on|carry on|move on|go|go ahead|skip)(?: (?:on|ahead|directly))?"
    r"(?: (?:to|with|below))*(?: (?:the )?(?:next|following|rest(?: of)?|remaining)"
    r"(?: (?:step|steps|section|phase|one|check|item|below))?(?: .{0,40})?|)",
    re.IGNORECASE,
)
"""What only leads on to the next step."""
_LINK = re.compile(r"\[(?P<text>[^\]\n]{0,200})\]\(#(?P<anchor>[^)\s]{1,200})\)")
_NAMED = re.compile(
    rf"(?:{_GO}|(?:follow|perform|execute|run|see|use|start|begin|initiate|refer to|consult|try"
    rf"|apply"
    r"|invoke|do))\s+(?:the\s+|our\s+)?(?:(?:steps?|instructions?|procedure|process|guidance"
    r"|section)"
    r"\s+(?:in|of|from|for|under|at|described in|outlined in|titled|called)\s+)?(?:the\s+)?"
    r"(?P<name>.{2,80}?)"
    r"(?:\s+(?:section|procedure|steps?|phase|runbook|process|instructions|part|playbook|below"
    r"|above))*"
    r"(?:\s+\(?(?:see )?(?:below|above)\)?)?",
    re.IGNORECASE,
)
_ASIDE = re.compile(
    r"(?:\s+and (?:follow|perform|do|use|run|execute) (?:the |its |all ).{0,60}"
    r"(?:steps?|instructions|procedure))?(?:\s+(?:immediately|directly|now|at once|instead"
    r"|again))?(?:\s+[–—-]\s.*)?\.?$",
    re.DOTALL,
)
"""What is said behind the name of a place."""
_RESTART = re.compile(
    r"(?:start (?:over|again)|begin again|restart (?:the |this )?(?:procedure|process|runbook|from)"
    r"|(?:go|return|start)(?: back| over| again)* (?:to|from|at) the (?:start|beginning|top)"
    r"|(?:repeat|redo) (?:(?:the|this|all|these|those)(?: \w+)? )?(?:procedure|process|steps)"
    r"(?! (?:#?[0-9]|for (?:the|all|each|every|any|both)\b))"
    r"|(?:go|run|work) (?:back )?through (?:all )?(?:the |these |all )(?:\w+ )?(?:procedure"
    r"|process|steps) (?:again|once more|a second time)"
    r"|repeat (?:all|(?:all )?(?:of )?the above|the whole (?:procedure|process)|this)"
    r"(?=\W*(?:$|until\b|if\b|for\b)))",
    re.IGNORECASE,
)
_REPEATED = re.compile(
    r"(?P<what>(?:the|these|this|those|all|both) [^,;:.]{0,40}?\b(?:steps?|procedure|process"
    r"|checks?))"
    r" (?:(?:may|might|will|must|should|can|needs?|has|have) (?:to |also |then )*(?:have to )?be"
    r"|is|are) (?:\w+ly |then )?repeated\b",
    re.IGNORECASE,
)
_SAME = re.compile(
    r"(?:(?:do|proceed|continue|perform|this (?:works|is done|is)|the (?:steps|procedure|process)"
    r" (?:is|are)|it (?:works|is done)) )?(?:(?:in |exactly )*(?:the |exactly the )?same"
    r"(?: (?:steps?|procedure|process|way|manner|thing|workflow))?(?: (?:apply|applies))? as"
    r"|(?:as|like)(?= (?:above|under|before\b)))"
    r" (?:(?P<above>above|before|(?:in )?the (?:previous|preceding) (?:section|part))"
    r"|(?:(?:in|under|for|of|described in|with) )?(?:the (?:section |part )?)?"
    r"(?P<name>[^,;:]{2,60}?)"
    r"(?: above| below)?)(?P<but>, (?:but|except)\b.*|\s*\(.*)?",
    re.IGNORECASE,
)
_OF_PLACE = re.compile(
    r"\bsteps? #?(?P<step>[0-9]+[a-z]?) (?:of|in|under|from) (?:the )?(?P<name>[^,;:.()]{1,60})"
    r"|(?P<first>[^,;:.()]{2,60}),? (?:at|from|starting (?:at|with|from)|beginning with),? step"
    r" #?(?P<at>[0-9]+[a-z]?)\b",
    re.IGNORECASE,
)
_PLACE_WORDS = re.compile(
    rf"(?:{_GO}|follow|perform|repeat|redo|run|see|the|above|below|steps?|of|in|under|section|part"
    r"|procedure|instructions|process)\s+",
    re.IGNORECASE,
)


def goes_on(text: str) -> bool:
    """Whether it only says that the next step is next."""
    return bool(NEXT.fullmatch(core(text).rstrip(".!; "))) or text.strip() in ("", "-", "…")


def leads_elsewhere(text: str) -> bool:
    """Whether ``text`` says to go somewhere else: ``jump to the table below``."""
    # The number of a step ahead is no label of what follows it here.
    return bool(_ELSEWHERE.match(core(text)) or _DUE.match(text.strip()))


def step_jump(text: str) -> tuple[str, bool] | None:
    """The number of the step that ``text`` leads to, and whether that one is left out."""
    hidden = masked(text).replace("*", "")
    skipped = _SKIP.search(hidden)
    if skipped:
        return skipped["step"], True
    found = _STEP.search(hidden) or _BARE_STEP.search(hidden) or _DUE.search(hidden)
    return (found["step"], False) if found else None


def like_step(text: str) -> str:
    """The number of the step in ``as shown in step 6``; empty for none."""
    found = _LIKE.search(masked(text).replace("*", ""))
    return found["step"] if found else ""


def is_part(text: str) -> bool:
    """Whether ``text`` leads to a numbered section rather than to a step."""
    return bool(_PART.search(text))


def is_previous(text: str) -> bool:
    """Whether ``text`` leads back to the step before."""
    return bool(_GOES.match(core(text)) and _PREVIOUS.search(text))


def linked(text: str) -> list[tuple[str, str]]:
    """The links of ``text`` into this file: their words and anchors."""
    return [(found["text"], found["anchor"].lower()) for found in _LINK.finditer(text)]


def named_place(text: str) -> str:
    """The words by which ``text`` names where to go on, as ``the Rollback section``."""
    said = _ASIDE.sub("", core(text)).rstrip(".!; ")
    found = _NAMED.fullmatch(said) if len(said) < 160 else None
    return found["name"].strip("*_`\"' ") if found else ""


def step_of_place(text: str) -> tuple[str, str] | None:
    """The number of a step and the name of its section: ``step 2 of Install``."""
    found = _OF_PLACE.search(core(text)[:_LONGEST_PLACE])
    if found is None:
        return None
    name = (found["name"] or found["first"]).strip("*_`\"' “”")
    while (word := _PLACE_WORDS.match(name)) is not None:
        name = name[word.end() :].strip("*_`\"' “”")
    return (found["step"] or found["at"]).lower(), name


def same_as(text: str) -> str | None:
    """What place is done again, of ``Same as above`` (empty) and ``Proceed as under Install``; None
    for no such sentence."""
    said = core(text).strip(".!; *_")
    found = _SAME.fullmatch(said) if len(said) < _LONGEST_PLACE else None
    return None if found is None else (found["name"] or "").strip("*_`\"' “”")


def in_active(text: str) -> str:
    """``These steps may have to be repeated for all`` as an order: ``repeat these steps …``."""
    found = _REPEATED.search(text)
    if found is None:
        return text
    return f"repeat {found['what'].lower()}{text[found.end() :]}"


def repeats(text: str) -> bool:
    """Whether ``text`` has steps of this text done again, and then goes on behind itself."""
    return restarts(in_active(text)) or same_as(text) is not None


def restarts(text: str) -> bool:
    return bool(_RESTART.match(core(text)))
