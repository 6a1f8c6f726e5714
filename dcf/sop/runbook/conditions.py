"""Sentences that decide: a condition, what is done then, and what otherwise."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice

from dcf.sop.language.phrase import MAX_PHRASE, masked
from dcf.sop.runbook.answers import ARROW
from dcf.sop.runbook.consequences import (
    bids,
    changes_right,
    explaining,
    is_allowed,
    is_verdict,
    leads,
)
from dcf.sop.runbook.flow import NO, YES
from dcf.sop.runbook.wording import core, is_order, plain

_BEFORE = (
    r"(?:(?:however|but|and|also|then|now|or|else|otherwise|only|note that|alternatively|optionally"
    r"|similarly|likewise|finally|next|first|(?:regardless|irrespective) of [^,.;:]{2,60}"
    r"|(?:in|for) [^,.;:]{2,30}(?=, (?:if|when)\b)|\*\*|__|[-–]),?\s*)*"
)
_FAILS = (
    r"(?:fail\w*|errors?|attempts?|tries|retries|unsuccessful|timeouts?|mismatch|refusal|denial)"
)
_OUTCOME = (
    rf"(?:{_FAILS}|detection|discovery|suspicion|evidence|infection|theft|rejection|success|doubt|approval|alarm|emergency|emergencies|conflicts?"
    r"|no (?:answer|response|reply|reaction))"
)
"""What may come of something, or not: after it, on it, in case of it."""
_OCCASION = (
    r"(?:the |an? |your )?(?:(?:first|last|final|major|minor|patch|stable|new|public|bank|beta)"
    r" ){0,2}(?:releases?|rcs?|release candidates?|betas?|hotfix(?:es)?|weekends?|holidays?"
    r"|patch(?:es)?)\b(?=,| of\b)"
)
"""What comes round now and then: ``On the first RC, …``."""
_ONE_OF = (
    r"the (?:first|last|former|latter|other|second|third)(?: \w+)? (?:options?|cases?|scenarios?"
    r"|variants?|types?|situations?|kinds?)\b"
)
"""Of several that were told: ``For the first two options, …``."""
_MISCONDUCT = (
    r"(?:violations?|breach(?:es)?|suspicion|inactivity|misconduct|non-?compliance|theft|damages?"
    r"|abuse|harassment|complaints?|resignation|warnings?|absences?)"
)
"""What rules are broken by, or what is held against somebody."""
_CONFIRMED = (
    r"(?:[^,;:]{2,60}?\b(?:breach|incident|compromise|attack|infection|vulnerability|fraud"
    r"|violation|criticality|severity|malware|bug|regression|outage|false positive|intrusion|leak)"
    r"\S{0,3} (?:is|are|has been|have been) (?:confirmed|detected|suspected|found|discovered"
    r"|verified|identified|reported)\b)"
)
"""What is found out to be so, or not to be so."""
_EVENT = (
    rf"(?:{_CONFIRMED}|[^,;:]{{2,80}}?\b(?:exceeds?|exceeded|breached|crossed|reach(?:es|ed)|drops?"
    r"|rises?|falls?|fails?|breaks?|hangs|crashes"
    r"|stops?|(?:above|below|over|under)(?= (?:[~€$£]?[0-9]|(?:the |an? |its )?(?:[\w-]+ )?"
    r"(?:threshold|limit|quota|level|target)))|suspect\w*|smells?|hears?|notices?)\b)"
)
"""What nobody brings about by doing the steps."""
_IF = re.compile(
    rf"{_BEFORE}(?P<word>if(?:,[^,]{{2,40}},)?"
    r"|in (?:the |an? )?(?:case|event)(?: that| of| when)?"
    r"|in (?:the |an? )(?:rare|unlikely|worst|special|exceptional|unusual|odd) (?:case|event)"
    r" (?:that|of|when|where)|unless"
    r"|should(?=\s+(?:an?|any|no|the|this|that|these|those|it|you|we|they|there|your|our|neither"
    r"|none|nothing|both|either|one|someone|somebody|anyone)\b)"
    rf"|after(?=\s+(?:[\w-]+\s+){{0,4}}?(?:{_FAILS}|no (?:answer|response|reply))\b)"
    rf"|(?:(?:up)?on|following)(?=\s+(?:[\w-]+ ){{0,3}}?{_MISCONDUCT}\b)"
    rf"|on(?=\s+{_OCCASION})"
    rf"|(?:up)?on(?=\s+(?:[\w-]+ )?{_OUTCOME}\b)|in(?=\s+(?:an? )?{_OUTCOME}\b)"
    r"|(?:above|below|over|under|beyond|between)(?=\s+[~€$£]?[0-9])"
    rf"|(?:as soon as|once|the moment|at any time)(?=\s+{_EVENT})|when(?=\s+{_CONFIRMED})"
    r"|except(?: (?:in|when|where|if|during))(?= )"
    r"|(?:provided|assuming|supposing|on (?:the )?condition)(?: that)?"
    r"(?=\s+\w[^,]* (?:is|are|has|have|allows?|permits?|agrees?|consents?)\b)"
    r"|without(?=\s+(?!\w+ing\b))"
    r"|(?:upon|following)(?=\s+(?:an?|any|each|every|further|repeated|continued)\s"
    r"(?!(?:\w+ )?(?:receipt|completion|arrival|approval|request)\b))"
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
    r"[\w-]+ing\b|you(?:'re|’re)?\b(?! (?:see|find|cannot|can['’]t|do not|don['’]t|notice|suspect"
    r"|get|receive|hear|encounter|lack|reach|exceed|lose|leave|fail|miss|become|run out)\b)"
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
    rf"(?!{_OCCASION})(?!{_ONE_OF})(?:each|every|both|example|instance|now|more|further|additional|other|details?|information"
    r"|this|that|these|those|it|them|us|you|me|safety|security|reference|convenience|clarity"
    r"|simplicity|most|some reason|best|help|assistance|questions|context|the"
    r" (?:time|purposes?|sake|first|next|last|rest|same|most|above|following)|an? (?:\w+ )?(?:list"
    r"|overview|description|explanation|guide|example|few|while|minute|hour|day|moment|full)"
    r"|[0-9]+|(?!(?:warn|exist|miss|fail|pend|remain|runn|incom|outgo|outstand)ing)\w+ing"
    r"|safety reasons|security reasons)\b",
    re.IGNORECASE,
)
_SET = re.compile(
    r"(?:no|an?) [\w -]{2,40} (?:is|are) (?:needed|required|necessary)\b", re.IGNORECASE
)
"""``For amounts under 50 €, no receipt is needed``."""
_TELLS_HOW = re.compile(
    r"above|below|over|under|beyond|between|after|without|upon|on|in|following", re.IGNORECASE
)
"""Openers without which the rest of a condition would say something else: ``without a key``."""
_ALL_IN_BRACKETS = re.compile(r"\((?:such as|like|e\.g\.,?|for example)?(?P<said>[^()]+)\)")
_STATED = re.compile(r"\S (?:is|are|isn['’]t|aren['’]t|shows?|says?|reads?|equals?|has|have)\b")
_MAY = re.compile(r"(?:you|we|they|the agent|agents?|users?) (?:can|may)\b", re.IGNORECASE)
_ALL_OF = re.compile(
    r"all\b(?!.*\b(?:errors?|issues?|problems?|failures?|alerts?|incidents?|cases?|requests?"
    r"|questions?|types?)\b)",
    re.IGNORECASE,
)
_FURTHER = re.compile(
    r"\s*[;,.]\s*(?:and |but |or )?(?:else |otherwise,? )?(?=(?:if|unless|in case)\b)",
    re.IGNORECASE,
)
_INSIDE = re.compile(
    r"(?:\s*[;:,]\s*|\s+[–—-]\s+)(?:and |but |or |then )?(?=(?:if|unless|in case|when"
    r"|after)\b)|\s+(?:and|but)\s+(?=if\b)",
    re.IGNORECASE,
)
_SEPARATOR = re.compile(
    rf"\s*{ARROW}\s*|\s*[:,;]\s*(?:then\s+)?|(?<!\band)\s+then\s+|\s+[–—]\s+"
    r"|\s+(?=(?:just|please|simply)\s)"
)
_RUN_ON = re.compile(
    r"\b(?:is|are|was|were|has|have|not|no|fails?|failed|exists?|occurs?|appears?)\b[^,;:]{0,80}?\s"
    r"(?=(?:determine|check|verify|contact|escalate|restart|run|use|follow|see|open|notify|ask"
    r"|delete|remove"
    r"|proceed|continue|go|skip|wait|roll|stop|please)\b"
    r"|(?<!that )(?<!what )(?<!which )(?<!whether )(?:it|they|you|we|this)"
    r" (?:may|might|must|should|needs?|will|would|can|could|ha(?:s|ve) to)\b)"
)
"""A condition without a comma behind it."""
_FOR_ALL = re.compile(
    r"for (?:all|any) (?:[\w-]+ ){0,4}(?:errors?|issues?|problems?|failures?|alerts?|incidents?)\s",
    re.IGNORECASE,
)
_INNER = re.compile(r"\([^()]*\)")
"""What stands in brackets has commas of its own."""
_ELSE_INSIDE = re.compile(
    rf"\s*(?:[,;.]|{ARROW}|\band\b|\bor\b)?\s*\b(?:otherwise|else|if "
    rf"not)\b\s*[,:]?\s*(?:{ARROW})?\s*"
)
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
    r"|in the event (?:that|of)|whenever|when|except (?:when|if|where|in case))(?P<over>:)?\s+",
    re.IGNORECASE,
)
_ASKING = re.compile(
    r"(?:check|verify|see|determine|confirm|ask|decide|find|know|test|validate|identify|assess"
    r"|evaluate|consider|investigate|inspect|look|monitor|review|make|ensure|learn|tell|note"
    r"|understand|examine|establish|clarify|watch|observe|analy[sz]e|compare|count|measure|search"
    r"|list|query|calculate)\b",
    re.IGNORECASE,
)
_LOOKS_IN = re.compile(
    r"(?:check|see|look|verify|find|ask|determine|confirm) (?:in|on|at|with|from|by|via|using"
    r"|under)"
    r"\b[^,;]{1,60} (?:if|whether)\b",
    re.IGNORECASE,
)
"""``Check in the system if the room is taken``: whether it is."""
_IN_BRACKETS = re.compile(
    r"\s*\((?:(?:only )?(?P<word>if|unless|when)\s+(?P<said>[^()]{2,80})"
    r"|(?P<only>[\w-]+(?: [\w-]+){0,3}) only"
    r"|only (?P<when>(?:for|on|in|with|during|at) [^()]{2,60}))\)(?=[.:]?[*_]*$|\s*`[^`]*`$)",
    re.IGNORECASE,
)
_BRACKETS_AHEAD = re.compile(
    r"\((?:(?:only )?(?:if|when|on|for) (?P<case>[^()]{2,80})"
    r"|(?P<kind>[\w-]+(?: [\w-]+){0,3}) only)\)[*_]{0,3}:?\s+(?P<then>\S.*)",
    re.IGNORECASE | re.DOTALL,
)
"""``(Major releases only) Write to the forum``."""
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
_LEFT_OUT = re.compile(
    r"(?P<then>(?:skip|omit|leave out|ignore) (?:this|that|it|(?:this|that|the) step)) "
    r"(?P<case>(?:for|on|in|with|during) [^,;:.]{2,80})\.?",
    re.IGNORECASE,
)
"""``Skip this for nightly builds``."""
_BARRED = re.compile(
    r"\b(?:cannot|can not|can['’]t|may not) be \w+(?:ed|en|ut|aid)\b", re.IGNORECASE
)
"""What is not granted: ``Hours cannot be paid out``."""
_ENTITLED = re.compile(r"(?:you|they) (?:are|have been) \w+ed (?:to|for|by|in)\b", re.IGNORECASE)
_AS_NEEDED = re.compile(
    r"(?:it(?:'s| is) )?(?:needed|necessary|required|possible|applicable|any|appropriate|desired|so"
    r"|available|relevant|unsure|in doubt|you (?:like|want|wish|prefer|have to|can|must|need "
    r"to))\b",
    re.IGNORECASE,
)


_MOST_CLAUSES = 12
"""Of a condition; each is looked at, so that a sentence of commas alone would take its square."""


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
    begin = opened.start("word") if _TELLS_HOW.fullmatch(opened["word"]) else opened.end()
    condition = said[begin : split[0]].strip(" *_")
    if (bracket := _ALL_IN_BRACKETS.fullmatch(condition)) is not None:
        condition = bracket["said"].strip()
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
    negated = opened["word"].lower().startswith(("unless", "except"))
    then = then.strip(" *_")
    explains = explaining(then)
    return Decision(condition, then, otherwise.strip(), negated, same, label, further, explains)


def read_aside(text: str) -> Decision | None:
    """``Phone returned (if issued)``: an item of a list, under a condition in brackets."""
    said = plain(text)
    ahead = _BRACKETS_AHEAD.match(text.lstrip("*_"))
    if ahead is not None and is_order(ahead["then"]):
        return Decision((ahead["case"] or ahead["kind"]).strip(), ahead["then"])
    aside = _IN_BRACKETS.search(masked(said))
    if aside is None or not said[: aside.start()].strip():
        return None
    group = next(one for one in ("said", "only", "when") if aside[one])
    condition = said[aside.start(group) : aside.end(group)].strip()
    whole = said.rstrip(" .") if _AS_NEEDED.match(condition) else condition
    then = f"{said[: aside.start()]}{said[aside.end() :]}".strip()
    return Decision(whole, then, negated=(aside["word"] or "").lower() == "unless")


def read_alone(text: str) -> Decision | None:
    """``If the node is down``: a condition over what is done then, in another place."""
    hidden = masked(text)
    opened = _IF.match(hidden) or _WHEN.match(hidden)
    condition = text[opened.end() :].strip(" *_") if opened else ""
    if opened is None or not condition:
        return None
    word = opened["word"].lower()
    if not _IF.match(hidden) and not _is_case(word, condition, ""):
        return None
    return Decision(condition, "", negated=word == "unless")


def finds_out(text: str) -> bool:
    """Whether ``text`` tells how to learn what is so: ``Check the graph``."""
    return bool(_ASKING.match(core(text)))


def opens(text: str) -> bool:
    """Whether ``text`` begins with a word that opens a condition, whatever follows."""
    return bool(_IF.match(plain(text)))


def _is_case(word: str, condition: str, rest: str) -> bool:
    """Whether ``when``, ``where`` or ``for`` opens a condition, and no time, place or purpose."""
    if word.lower().startswith("when") and changes_right(rest):
        return True
    if rest and not leads(rest):
        told = bids(rest) or (bool(_STATED.search(condition)) and explaining(rest))
        if not told or (word.lower() == "for" and not _SET.match(rest)):
            return False
    if word.lower() == "for":
        allowed = _MAY.match(rest)
        return not (allowed or _NO_CASE.match(condition) or _ALL_OF.match(condition))
    if not word.lower().startswith(("when", "where")):
        return True
    if word.lower().startswith("where"):
        return not (_AS_NEEDED.match(condition) or re.match(r"you\b", condition))
    if not rest and re.match(r"\w+ing\b", condition):
        return True  # over what is done then
    return bool(_NOT.search(condition)) or not _IN_TIME.match(condition)


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
    for found in islice(_SEPARATOR.finditer(hidden, begin), _MOST_CLAUSES):
        rest = said[found.end() :]
        mark = found[0].strip()
        if not rest.strip():
            run_on = _RUN_ON.search(hidden, begin, found.start()) if first is None else None
            if run_on is not None:  # it says what is done, and how is said below
                return run_on.end(), run_on.end()
            return (found.start(), found.end()) if mark == ":" else first
        if mark[:1] not in ",;" or leads(rest):
            return found.start(), found.end()
        first = first or (found.start(), found.end())
    if first is None and (all_of := _FOR_ALL.match(hidden)):
        return all_of.end(), all_of.end()
    if first is None and (run_on := _RUN_ON.search(hidden, begin)):
        return run_on.end(), run_on.end()
    return first


def _behind(said: str, hidden: str) -> Decision | None:
    """``Restart the pod if it hangs``."""
    over = _NEEDED_OVER.search(said.rstrip(" ."))
    if over and is_order(said) and (said.endswith(":") or not _BEHIND.search(hidden)):
        return Decision(said[: over.start()], said[: over.start()])
    if said.endswith(":"):
        return None
    left_out = _LEFT_OUT.fullmatch(said)
    if left_out is not None:
        return Decision(left_out["case"], left_out["then"])
    told_to_act = is_order(re.sub(r"^only\s+", "", said, flags=re.IGNORECASE))
    if told_to_act and (aside := read_aside(said)):
        return aside
    # What stands elsewhere in brackets is said by the way.
    found = _BEHIND.search(_INNER.sub(lambda inner: "_" * len(inner[0]), hidden))
    if found is None or found.start() < 3:
        return None
    condition = said[found.end() :].strip(" .")
    then = said[: found.start()].strip()
    word = found["word"].lower()
    barred = word == "unless" and _BARRED.search(then)
    if not (told_to_act or barred or is_verdict(then) or is_allowed(then)):
        return None
    if word == "if" and _FINDS_OUT.search(then):
        return None
    if not condition or condition.endswith(":"):
        return None
    if _FOR_YOU.match(condition) and not (is_verdict(then) or is_allowed(then)):
        return None
    as_needed = bool(_AS_NEEDED.match(condition)) and not is_allowed(then)
    if as_needed:
        condition = said.rstrip(" .")
    told = core(said)
    if _TELLING.match(told) and not _ABOUT.match(condition):
        return None
    if finds_out(told) and (len(core(then).split()) < 2 or _LOOKS_IN.match(told)):
        return None
    granted = is_allowed(then) or (_MAY.match(then) and _ENTITLED.match(condition))
    if word.startswith("when") and _IN_TIME.match(condition) and not granted:
        return None
    otherwise = _ELSE_INSIDE.search(masked(condition))
    if otherwise is not None and otherwise.start() > 0:
        instead, condition = condition[otherwise.end() :], condition[: otherwise.start()]
        return Decision(condition, then, instead, negated=word.startswith(("unless", "except")))
    for joint in re.finditer(r"\s+and\s+(?:then\s+)?", "" if as_needed else condition):
        if is_order(condition[joint.end() :]):
            then += condition[joint.start() :]
            condition = condition[: joint.start()]
            break
    ahead = condition.partition(", ")[2]
    if ahead and not found["over"] and not leads(re.sub(r"^(?:and|then|but|or)\s+", "", ahead)):
        return None  # one of several things that are counted up
    return Decision(condition, then, negated=word.startswith(("unless", "except")))
