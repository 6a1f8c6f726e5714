"""Sentences that decide: a condition, what is done then, and what otherwise."""

from __future__ import annotations

import re
from dataclasses import dataclass

from dcf.sop.language.phrase import MAX_PHRASE, masked
from dcf.sop.runbook.ends import hands_over, is_last_act, read_end
from dcf.sop.runbook.flow import NO, YES
from dcf.sop.runbook.jumps import NEXT
from dcf.sop.runbook.sections import Section
from dcf.sop.runbook.wording import core, is_order, pieces, plain

_ARROW = r"(?:→|⇒|➔|➜|⟶|—>|-{1,2}>|={1,2}>)"
_BEFORE = (
    r"(?:(?:however|but|and|also|then|now|or|else|otherwise|only|note that|alternatively|optionally"
    r"|similarly|likewise|finally|next|first|\*\*|__|[-–]),?\s*)*"
)
_IF = re.compile(
    rf"{_BEFORE}(?P<word>if|in (?:the )?(?:case|event)(?: that| of| when)?|unless"
    r"|should(?=\s+(?:an?|any|no|the|this|that|these|those|it|you|we|they|there|your|our)\b)"
    r"|where applicable,? if|wenn|falls|sollte|si|en caso de(?: que)?|en cas de)\b\s*",
    re.IGNORECASE,
)
_WHEN = re.compile(
    rf"{_BEFORE}(?P<word>when(?:ever)?|where(?:ver)?|(?:provided|providing|assuming|supposing"
    rf"|given)"
    r"(?: that)?|on condition that|for|in (?:any |all |such |rare |urgent |exceptional "
    r"|extreme |some )?"
    r"(?:cases|situations|circumstances)(?: (?:where|when|in which|of))?)\b\s*(?!to\b)",
    re.IGNORECASE,
)
"""Words that open a condition, or tell something else: a time, a place, a purpose."""
_IN_TIME = re.compile(
    r"[\w-]+ing\b|you(?:'re|’re| are| have| want| need)\b"
    r"|(?:possible|applicable|needed|necessary|appropriate|required|relevant|available)\b"
    r"|.*\b(?:done|finish(?:ed|es)|complet\w+|ready|prompted|asked|over|up|installed|created"
    r"|started"
    r"|running|available|healthy|online|back|returned|passed|pass|succeeds?|succeeded|successful"
    r"|confirmed|approved|verified|opens?|appears?|in place|set up|merged|deployed|released)"
    r"(?: (?:successfully|again|by \w+))?$",
    re.IGNORECASE,
)
"""What comes about when the work goes on: it tells when, and not whether."""
_NO_CASE = re.compile(
    r"(?:each|every|both|example|instance|now|more|further|additional|other|details?|information"
    r"|this|that|these|those|it|them|us|you|me|safety|security|reference|convenience|clarity"
    r"|simplicity|most|some reason|best|help|assistance|questions|context|the"
    r" (?:time|purposes?|sake|first|next|last|rest|same|most|above|following)|an? (?:\w+ )?(?:list"
    r"|overview|description|explanation|guide|example|few|while|minute|hour|day|moment|full)"
    r"|[0-9]+|\w+ing|safety reasons|security reasons)\b",
    re.IGNORECASE,
)
_MAY = re.compile(r"(?:you|we|they|the agent|agents?|users?) (?:can|may)\b", re.IGNORECASE)
_ALL_OF = re.compile(
    r"all\b(?!.*\b(?:errors?|issues?|problems?|failures?|alerts?|incidents?|cases?|requests?"
    r"|questions?|types?)\b)",
    re.IGNORECASE,
)
_EXPLAINS = re.compile(
    r"(?:then )?(?:[\w`'’\"*/.()-]+ ){1,8}?(?:is|are|was|were|has|have|had|will|would|may|might"
    r"|could"
    r"|can|cannot|does|do|did|means?|indicates?|suggests?|implies|shows?|points?|happens?|seems?"
    r"|tells?|causes?|runs?|uses?|results?|becomes?|remains?)\b|(?:it|this|that|there|which)\b",
    re.IGNORECASE,
)
_OBLIGES = re.compile(
    r"\b(?:should|must|shall|ha(?:s|ve) to|needs? (?:to|a|an)|ought to|is required|are required"
    r"|(?:is|are) (?:needed|necessary|recommended|advisable|possible)|try|consider"
    r"|(?:can|could|may|will|would|is|are|to) (?:\w+ly )?be (?:\w+ly )?\w+(?:ed|en|wn|ut|et)\b"
    r"|(?:you|we|they|the (?:agent|user|team|operator|engineer)) (?:can|may|will|could|might)"
    r"|(?:[A-Z]{2,5}|teams?|leads?|managers?|owners?|engineers?|coordinators?|officers?|users?"
    r"|customers?|admin\w*|operators?|chairs?|reviewers?|directors?|board)\b[^,;]{0,40}"
    r" (?:may|can|will|would)"
    r"|(?:is|are) (?:denied|rejected|refused|closed|escalated|transferred|approved|cancell?ed"
    r"|refunded|granted|accepted))\b",
    re.IGNORECASE,
)
_REQUIRES = re.compile(
    r"(?:[\w-]+ing (?:[\w\"()-]+ ){1,5})?(?:may |will |always )?requires? (?!that\b)[a-z]",
    re.IGNORECASE,
)
_FURTHER = re.compile(
    r"\s*[;,.]\s*(?:and |but |or )?(?:else |otherwise,? )?(?=(?:if|unless|in case)\b)",
    re.IGNORECASE,
)
_INSIDE = re.compile(
    r"(?:\s*[;:,]\s*|\s+[–—-]\s+)(?:and |but |or |then )?(?=(?:if|unless|in case|when)\b)"
    r"|\s+(?:and|but)\s+(?=if\b)",
    re.IGNORECASE,
)
_ANY_OF = re.compile(
    r"(?P<then>.*?),?\s+(?:only\s+)?(?:if|when|in case|in the event(?: that)?)(?:\s+(?:any|one|some"
    r"|all|either|at least one|the following|these|of|conditions?|is|are|apply|applies|true|met"
    r"|happens?|occurs?|holds?|or|more|criteria|situations?))*\s*:",
    re.IGNORECASE,
)
_DEPENDS = re.compile(
    r"(?:.*\b(?:depend(?:ing|s)? (?:up)?on|according to|based on|one of (?:the following|these)"
    r"|either of|whichever|as follows|in (?:the following|these) (?:cases|situations|scenarios)"
    r"|(?:following|common|possible|typical|known) (?:\w+ )?(?:cases?|causes?|scenarios?|symptoms?"
    r"|issues?|problems?|errors?|reasons?|situations?))\b.*)",
    re.IGNORECASE,
)
_LABELLED = re.compile(
    r"(?P<mark>\*\*|__|\*|`)(?P<bold>(?:(?<=\*\*)[^*\n]{3,90}?|[^*_`\n]{3,90}?))\s*:?(?P=mark)\s*(?:[:–—-]"
    r"|\?)?\s*(?P<then>\S.*)"
    r"|(?P<bare>[^*_`:.\n]{3,60}?)\s*(?::\s+|\?\s+)(?![-=–—→])(?P<told>\S.*)",
    re.DOTALL,
)
_STATE = re.compile(
    r"\b(?:is|are|was|were|has|have|isn['’]t|aren['’]t|cannot|can['’]t|won['’]t|doesn['’]t|don['’]t"
    r"|does not|do not|did not|fails?|hangs?|crash(?:es)?|exceeds?|rises?|drops?|stays?|keeps?"
    r"|exists?|occurs?|appears?|gets?|becomes?|stops?|times? out)\b",
    re.IGNORECASE,
)
_FAULT = re.compile(
    r"\b(?:not|no|stuck|down|missing|unavailable|unreachable|failed|failing|failures?|full|lost"
    r"|expired|broken|slow|pending|exhausted|stopped|unhealthy|degraded|blank|invalid|wrong|denied"
    r"|refused|unknown|crash\w*|too (?:many|few|high|low|large|slow|big|old)|high|low|insufficient"
    r"|errors?|timed? ?outs?|leaks?|corrupt\w*|mismatch|unresponsive|outage|overload\w*|without"
    r"|scaled|restarting|looping|evicted|throttl\w+|rejected|unauthori[sz]ed|incorrect)\b"
    r"| (?:open|closed|locked|offline|critical|exceeded)$",
    re.IGNORECASE,
)
_OF_THIS = re.compile(
    r"(?:this|it|these) (?:[\w-]+ )?(?:applies|apply|is used|fires|triggers)|to (?:use|apply)\b.*",
    re.IGNORECASE,
)
"""When the whole text is for: ``When this applies``."""
_WHEN_TO = re.compile(r"when (?:and how )?(?:to|should (?:i|you|we)) ", re.IGNORECASE)
_TRIGGER = re.compile(
    r"[*_]{1,2}(?:triggers?|conditions?|when|if|criteria|applies (?:to|when)|signs?|symptoms?)"
    r"\s*(?::[*_]{1,2}|[*_]{1,2}\s?[:–—-])\s+(?=\S)",
    re.IGNORECASE,
)
_ACTION = re.compile(
    r"[*_]{1,2}(?:actions?|response|what to do|resolution|remedy|fix|then|do|decision)"
    r"(?: \w+)?\s*(?::[*_]{1,2}|[*_]{1,2}\s?[:–—-])\s+(?=\S)",
    re.IGNORECASE,
)
_IF_SO = re.compile(
    r"(?:what to do|(?:the )?(?:next )?(?:steps?|procedure|actions?)(?: to take)?|how to "
    r"(?:proceed|respond|react))\s*(?:if|when|in (?:the )?(?:case|event)(?: of| that)?)\s+(?=\S)",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"(?:what|how|why|who|which|where|when|this|that|it|we|you|there)\b", re.IGNORECASE
)
_OF_CASES = re.compile(
    r".*\b(?:cases|scenarios|situations|exceptions|circumstances|variants|options|alternatives"
    r"|failure modes|problems|issues|errors|symptoms|causes|failures|type notes|types)$"
    r"|(?:detect|determine|identify|classify|establish)\b.* (?:type|kind|category|scenario|case)"
    r"|troubleshooting\b.*|(?:common|known|special|edge) .*",
    re.IGNORECASE,
)
_ONE_OF = re.compile(
    r"(?:scenario|case|option|alternative|variant|situation|symptom|problem|issue|error|cause"
    r"|condition|possibility|finding|fall|cas|caso)"
    r"(?:\s*#?[0-9]+|\s+[A-Za-z](?=\s*[:.)–—-]))?\s*[:.)–—-]\s*(?=\S)",
    re.IGNORECASE,
)
_SEPARATOR = re.compile(rf"\s*{_ARROW}\s*|\s*[:,;]\s*(?:then\s+)?|\s+then\s+|\s+[–—]\s+")
_RUN_ON = re.compile(
    r"\b(?:is|are|was|were|has|have|not|no|fails?|failed|exists?|occurs?|appears?)\b[^,;:]{0,80}?\s"
    r"(?=(?:determine|check|verify|contact|escalate|restart|run|use|follow|see|open|notify|ask"
    r"|delete|remove"
    r"|proceed|continue|go|skip|wait|roll|stop|please)\b)"
)
"""A condition without a comma behind it."""
_FOR_ALL = re.compile(
    r"for (?:all|any) (?:[\w-]+ ){0,4}(?:errors?|issues?|problems?|failures?|alerts?|incidents?)\s",
    re.IGNORECASE,
)
_INNER = re.compile(r"\([^()]*\)")
"""What stands in brackets has commas of its own."""
_ELSE_INSIDE = re.compile(
    rf"\s*(?:[,;.]|{_ARROW}|\band\b|\bor\b)?\s*\b(?:otherwise|else|if "
    rf"not)\b\s*[,:]?\s*(?:{_ARROW})?\s*"
)
_OTHERWISE = re.compile(
    r"(?:(?:otherwise|else|failing that|in (?:all|any) other cases?|sonst|andernfalls|sinon"
    rf"|de lo contrario)\b\s*(?:[,:]|{_ARROW}|\s|$)"
    r"|(?:if not|if no|if it (?:is not|isn't|does not|doesn't|did not|didn't)|if (?:this|that) "
    r"(?:is not"
    r"|isn't) the case|if (?:they|these) (?:are not|aren't|do not|don't)|si no"
    rf"|if none of (?:these|the above)[^,:]{{0,30}})\s*(?:[,:]|{_ARROW}))\s*",
    re.IGNORECASE,
)
_ANSWER = re.compile(
    r"[*_`\"“(]*(?:if\s+)?(?P<label>yes|no|ja|nein|oui|non|sí|true|false|passed|failed|pass|fail"
    rf"|success|failure|successful|unsuccessful)[*_`\"”)]*(?:\s*(?:[:,]|{_ARROW})"
    rf"|\s+[-–—]\s)[*_]*\s*",
    re.IGNORECASE,
)
_SAID_AGAIN = re.compile(r"[^:.;]{3,80}:(?:\s+|$)")
"""``No, the disks are gone: …``"""
_YES = frozenset({"yes", "ja", "oui", "sí", "true", "passed", "pass", "success", "successful"})
_SAME = re.compile(
    r"(?:(?:it|this|that|they|these|so|yes|there|any|one|none)\b ?)?(?:so|is|are|does|do|did"
    r"|has|have|was"
    r"|were|is the case|not|is not|isn't|are not|aren't|does not|doesn't|do not|don't)?"
    r"(?: (?:so|the case|true|there|any|one|present|found|successful|ok))?",
    re.IGNORECASE,
)
_NOT = re.compile(
    r"\b(?:not|no|none|isn't|aren't|doesn't|don't|didn't|unsuccessful)\b", re.IGNORECASE
)
_BEHIND = re.compile(
    r"(?<!\bof)(?<!\babout)(?<!\bknow)(?<!\bas)(?<!\beven)(?<!ing)(?<!\bsee)(?<!\bor)(?<!\band)"
    r",?\s+(?:but\s+)?(?:if and only\s+|only\s+)?(?P<word>if|unless|in case(?: of)?|provided that"
    r"|in the event (?:that|of)|whenever|when)(?P<over>:)?\s+",
    re.IGNORECASE,
)
_ASKING = re.compile(
    r"(?:check|verify|see|determine|confirm|ask|decide|find|know|test|validate|identify|assess"
    r"|evaluate|consider|investigate|inspect|look|monitor|review|make|ensure|learn|tell|note"
    r"|understand|examine|establish|clarify|watch|observe|analy[sz]e)\b",
    re.IGNORECASE,
)
_IN_BRACKETS = re.compile(
    r"\s*\((?:only )?(?P<word>if|unless|when)\s+(?P<said>[^()]{2,80})\)(?=[.:]?$|\s*`[^`]*`$)",
    re.IGNORECASE,
)
_FINDS_OUT = re.compile(
    r"\bto (?:determine|verify|check|confirm|decide|identify|establish|find out|assess|see)$",
    re.IGNORECASE,
)
_NEEDED_OVER = re.compile(
    r",? \(?if (?:applicable|needed|necessary|required)\)?(?:[*_ ]*:[*_]*|(?<=\w))$", re.IGNORECASE
)
"""``Restart the proxy, if needed:`` over the commands for it."""
_TELLING = re.compile(
    r"(?:tell|explain|find out|figure out|discuss|(?:check|verify|confirm|clarify) with"
    r"|ask(?! for))\b",
    re.IGNORECASE,
)
_FOR_YOU = re.compile(
    r"(?:any\b|(?:you|they) (?:like|want|wish|prefer|have any)\b|so\b)", re.IGNORECASE
)
_ABOUT = re.compile(r"(?:it|they|there|none|this|that|one)\b", re.IGNORECASE)
_LONGEST_STATE = 12
_AS_NEEDED = re.compile(
    r"(?:it(?:'s| is) )?(?:needed|necessary|required|possible|applicable|any|appropriate|desired|so"
    r"|available|relevant|unsure|in doubt|you (?:like|want|wish|prefer|have to|can|must|need "
    r"to))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Decision:
    """``condition`` decides whether ``then`` is done, else ``otherwise`` (both may be empty).
    ``negated``: it was said with ``unless``. ``same``: it is about what was asked just before, and
    true of the answer ``label``. ``further`` is another condition for when it is not so.
    ``explains``: what follows tells how things are then, and not what to do."""

    condition: str
    then: str
    otherwise: str = ""
    negated: bool = False
    same: bool = False
    label: str = YES
    further: str = ""
    explains: bool = False


def read_decision(text: str) -> Decision | None:
    """What ``text`` decides; None when it decides nothing."""
    if len(text) > MAX_PHRASE:
        return None
    said = plain(text)
    hidden = masked(said)
    opened = _IF.match(hidden)
    if opened is None and (opened := _WHEN.match(hidden)) is None:
        return _behind(said, hidden)
    split = _consequence(said, hidden, opened.end())
    if split is None:
        return _behind(said, hidden) if _WHEN.match(hidden) else None
    condition = said[opened.end() : split[0]].strip(" *_")
    rest = said[split[1] :].strip()
    if not condition or (not _IF.match(hidden) and not _is_case(opened["word"], condition, rest)):
        return None
    then, otherwise, further = rest, "", ""
    inside = _FURTHER.search(masked(rest))
    if inside and inside.start() > 0:
        then, further = rest[: inside.start()], rest[inside.end() :]
    else:
        inside = _ELSE_INSIDE.search(masked(rest))
        if inside and inside.start() > 0:
            then, otherwise = rest[: inside.start()], rest[inside.end() :]
    same = bool(_SAME.fullmatch(condition))
    label = NO if same and _NOT.search(condition) else YES
    negated = opened["word"].lower() == "unless"
    then = then.strip(" *_")
    explains = explaining(then)
    return Decision(condition, then, otherwise.strip(), negated, same, label, further, explains)


def read_aside(text: str) -> Decision | None:
    """``Phone returned (if issued)``: an item of a list, under a condition in brackets."""
    said = plain(text)
    aside = _IN_BRACKETS.search(masked(said))
    if aside is None or not said[: aside.start()].strip():
        return None
    condition = said[aside.start("said") : aside.end("said")].strip()
    whole = said.rstrip(" .") if _AS_NEEDED.match(condition) else condition
    then = f"{said[: aside.start()]}{said[aside.end() :]}".strip()
    return Decision(whole, then, negated=aside["word"].lower() == "unless")


def _is_case(word: str, condition: str, rest: str) -> bool:
    """Whether ``when``, ``where`` or ``for`` opens a condition, and no time, place or purpose."""
    if rest and not leads(rest) and not (word.lower().startswith("in ") and bids(rest)):
        return False
    if word.lower() == "for":
        allowed = _MAY.match(rest)
        return not (allowed or _NO_CASE.match(condition) or _ALL_OF.match(condition))
    if not word.lower().startswith(("when", "where")):
        return True
    if not rest and re.match(r"\w+ing\b", condition):
        return True  # over what is done then
    return bool(_NOT.search(condition)) or not _IN_TIME.match(condition)


def explaining(then: str) -> bool:
    """Whether ``then`` only tells how things are: ``this means that no traffic arrives``."""
    said = core(then)
    if not said or leads(then) or is_last_act(then) or _OBLIGES.search(said):
        return False
    return bool(_EXPLAINS.match(said))


def read_case(title: str) -> Decision | None:
    """What a heading or a line in bold letters says to be the case for what stands below it."""
    said = plain(title).rstrip(" :.?")
    hidden = masked(said)
    opened = _IF.match(hidden) or _WHEN.match(hidden)
    if opened and opened.end() < len(said):
        condition = said[opened.end() :].strip(" *_")
        word = opened["word"].lower()
        if _OF_THIS.fullmatch(condition):
            return None
        if not _IF.match(hidden) and not _is_case(word, condition, ""):
            return None
        return Decision(condition, "", negated=word == "unless", same=False)
    named = _ONE_OF.match(said) or _IF_SO.match(said)
    if named:
        return Decision(said[named.end() :].strip(" *_"), "")
    return Decision(said, "") if is_state(said) else None


def decides(section: Section) -> bool:
    """Whether a sentence of a section says what is done in some case, or over a list in which."""
    for block in section.blocks:
        for one in (block, *block.children):
            first = one.children[0] if one.kind == "item" and one.children else one
            for piece in pieces(first.lines) if first.kind == "text" else ():
                decision = read_decision(piece.text)
                if decision and (piece.text.endswith(":") or leads(decision.then)):
                    return True
    return False


def read_when_to(title: str) -> str:
    """``When to escalate``: what is done in each of the cases below it; empty for none."""
    found = _WHEN_TO.match(title)
    then = title[found.end() :].strip() if found else ""
    return then if hands_over(then) else ""


def read_trigger(text: str) -> str | None:
    """``**Trigger**: the gate is down``: what is so then; None where ``text`` does not say it."""
    found = _TRIGGER.match(text)
    return text[found.end() :].strip() if found else None


def is_action(text: str) -> bool:
    """Whether a label says that what follows is to be done: ``**Action**: refund it``."""
    return bool(_ACTION.match(text))


def has_cases(title: str) -> bool:
    """Whether what stands below a heading are cases: ``Special cases``, ``Common issues``."""
    return bool(_OF_CASES.fullmatch(title.strip()))


def is_state(text: str) -> bool:
    """Whether ``text`` is a clause that tells how something is: ``Disk is full``."""
    said = text.rpartition(": ")[2]
    if _ASKS.match(said):
        return False
    return len(said.split()) <= _LONGEST_STATE and bool(_STATE.search(said)) and not is_order(said)


def is_fault(text: str) -> bool:
    """Whether ``text`` names something that is wrong: ``Pod stuck in Pending``."""
    few = len(text.split()) <= _LONGEST_STATE and not _ASKS.match(text)
    return few and not is_order(text) and bool(_STATE.search(text) or _FAULT.search(text))


def read_labelled(text: str, any_label: bool = False, explained: bool = False) -> Decision | None:
    """``**Login fails**: reset the password``. ``any_label``: whatever stands before the colon is
    a case, as in a list below ``Depending on …``. ``explained``: what is to be done follows in
    another sentence."""
    if len(text) > MAX_PHRASE:
        return None
    found = _LABELLED.match(text)
    if found is None or _IF.match(plain(text)) or read_answer(text) is not None:
        return None
    label = (found["bold"] or found["bare"]).strip(" :*_")
    then = (found["then"] or found["told"]).strip()
    if not (leads(then) or explained) or (is_order(label) and not (any_label and found["bold"])):
        return None
    if any_label or (is_state(label) if found["bold"] is None else is_fault(label)):
        return Decision(label, then)
    return None


def read_any_of(text: str) -> str | None:
    """``Contact support if any of these is true:``: what is done when something in the list below
    is so."""
    found = _ANY_OF.fullmatch(plain(text).strip(" *_"))
    return found["then"].strip(" *_") if found and bids(found["then"]) else None


def bids(text: str) -> bool:
    """Whether ``text`` is something to do, whoever is said to do it."""
    said = bool(_REQUIRES.match(text) or _OBLIGES.search(text))
    return leads(text) or is_last_act(text) or said


def depends(text: str) -> bool:
    """Whether one of several things below is done: ``Depending on the type:``."""
    return text.rstrip(" *_").endswith(":") and bool(_DEPENDS.match(text))


def read_inside(text: str) -> tuple[str, str] | None:
    """``Check the memory, and if it is full, restart``: the order, and the condition behind it."""
    if len(text) > MAX_PHRASE or not is_order(text) or _IF.match(plain(text)):
        return None
    hidden = _INNER.sub(lambda inner: "_" * len(inner[0]), masked(text))
    for found in _INSIDE.finditer(hidden):
        head, tail = text[: found.start()].strip(), text[found.end() :]
        decision = read_decision(tail) if len(head.split()) > 1 else None
        if decision and decision.then and leads(decision.then):
            return head, tail
    return None


def _consequence(said: str, hidden: str, begin: int) -> tuple[int, int] | None:
    """Where the condition ends and what follows from it begins."""
    first: tuple[int, int] | None = None
    hidden = _INNER.sub(lambda found: "_" * len(found[0]), hidden)
    for found in _SEPARATOR.finditer(hidden, begin):
        rest = said[found.end() :]
        mark = found[0].strip()
        if not rest.strip():
            return (found.start(), found.end()) if mark == ":" else first
        if mark[:1] not in ",;" or leads(rest):
            return found.start(), found.end()
        first = first or (found.start(), found.end())
    if first is None and (all_of := _FOR_ALL.match(hidden)):
        return all_of.end(), all_of.end()
    if first is None and (run_on := _RUN_ON.search(hidden, begin)):
        return run_on.end(), run_on.end()
    return first


def leads(text: str) -> bool:
    """Whether ``text`` is something to do, or a way to go on."""
    said = text.rstrip(". ")
    return is_order(text) or bool(read_end(text)) or bool(said and NEXT.fullmatch(said))


def acts(text: str) -> bool:
    """Whether ``text`` tells somebody to do something, always or in some case."""
    if is_order(text):
        return True
    decision = read_decision(text) or read_arrow(text) or read_labelled(text)
    return decision is not None and leads(decision.then)


def _behind(said: str, hidden: str) -> Decision | None:
    """``Restart the pod if it hangs``."""
    over = _NEEDED_OVER.search(said.rstrip(" ."))
    if over and is_order(said) and (said.endswith(":") or not _BEHIND.search(hidden)):
        return Decision(said[: over.start()], said[: over.start()])
    if not is_order(said) or said.endswith(":"):
        return None
    if aside := read_aside(said):
        return aside
    # What stands elsewhere in brackets is said by the way.
    found = _BEHIND.search(_INNER.sub(lambda inner: "_" * len(inner[0]), hidden))
    if found is None or found.start() < 3:
        return None
    condition = said[found.end() :].strip(" .")
    then = said[: found.start()].strip()
    word = found["word"].lower()
    if word == "if" and _FINDS_OUT.search(then):
        return None
    if not condition or condition.endswith(":") or _FOR_YOU.match(condition):
        return None
    if _AS_NEEDED.match(condition):
        condition = said.rstrip(" .")
    told = core(said)
    if _TELLING.match(told) and not _ABOUT.match(condition):
        return None
    if _ASKING.match(told) and len(core(then).split()) < 2:
        return None
    if word.startswith("when") and _IN_TIME.match(condition):
        return None
    for joint in re.finditer(r"\s+and\s+(?:then\s+)?", condition):
        if is_order(condition[joint.end() :]):
            then += condition[joint.start() :]
            condition = condition[: joint.start()]
            break
    ahead = condition.partition(", ")[2]
    if ahead and not found["over"] and not leads(re.sub(r"^(?:and|then|but|or)\s+", "", ahead)):
        return None  # one of several things that are counted up
    return Decision(condition, then, negated=word == "unless")


def read_otherwise(text: str) -> str | None:
    """What is done otherwise; None where ``text`` is not of that."""
    found = _OTHERWISE.match(plain(text))
    return plain(text)[found.end() :].strip() if found else None


def read_answer(text: str) -> tuple[str, str] | None:
    """``Yes: …``: the label, and what follows from it."""
    found = _ANSWER.match(text)
    if found is None:
        return None
    label = YES if found["label"].lower() in _YES else NO
    then = text[found.end() :].strip()
    again = _SAID_AGAIN.match(then)
    if again and not is_order(again[0]):
        then = then[again.end() :]
    return label, then


def read_arrow(text: str) -> Decision | None:
    """``The disk is full → drain the node``: a case, and what is done in it. A path through menus
    (``Go to Settings → Users``) is none."""
    if len(text) > MAX_PHRASE:
        return None
    parts = re.split(rf"\s*{_ARROW}\s*", masked(text))
    head, tail = text[: len(parts[0])], text[len(text) - len(parts[-1]) :]
    if len(parts) < 2 or not head.strip(" *_"):
        return None
    if len(parts) > 2 and parts[-2].endswith("?"):
        # ``Check the seal → Broken? → Refuse it``: what is looked at, what is found, what is done.
        head = text[: len(text) - len(parts[-1])].rstrip(" →⇒➔➜⟶—-=>")
    elif len(parts) > 2:
        tail = text[len(head) :].lstrip(" →⇒➔➜⟶—-=>")
    if (is_order(head) and not head.endswith("?")) or not (leads(tail) or is_last_act(tail)):
        return None
    return Decision(head.strip(" *_:"), tail.strip())
