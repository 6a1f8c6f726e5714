"""Sentences that decide: a condition, what is done then, and what otherwise."""

from __future__ import annotations

import re
from dataclasses import dataclass

from dcf.sop.language.phrase import MAX_PHRASE, masked
from dcf.sop.runbook.ends import read_end
from dcf.sop.runbook.flow import NO, YES
from dcf.sop.runbook.jumps import NEXT
from dcf.sop.runbook.wording import core, is_order, plain

_ARROW = r"(?:→|⇒|➔|➜|⟶|—>|-{1,2}>|={1,2}>)"
_IF = re.compile(
    r"(?:(?:however|but|and|also|then|now|or|else|otherwise|only|note that|alternatively|optionally"
    r"|\*\*|__|[-–]),?\s*)*(?P<word>if|in case(?: of)?|in the event(?: that| of)?|unless|should"
    r"|where applicable,? if|wenn|falls|sollte|si|en caso de(?: que)?|en cas de)\b\s*",
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
    rf"|success|failure|successful|unsuccessful)[*_`\"”)]*\s*(?:[:,]|{_ARROW}|[-–—])[*_]*\s*",
    re.IGNORECASE,
)
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
    r",?\s+(?:but\s+)?(?:if and only\s+|only\s+)?(?P<word>if|unless|in case)\s+", re.IGNORECASE
)
_ASKING = re.compile(
    r"(?:check|verify|see|determine|confirm|ask|decide|find|know|test|validate|identify|assess"
    r"|evaluate|consider|investigate|inspect|look|monitor|review|make|ensure|learn|tell|note"
    r"|understand|examine|establish|clarify|watch|observe|analy[sz]e)\b",
    re.IGNORECASE,
)
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
    true of the answer ``label``."""

    condition: str
    then: str
    otherwise: str = ""
    negated: bool = False
    same: bool = False
    label: str = YES


def read_decision(text: str) -> Decision | None:
    """What ``text`` decides; None when it decides nothing."""
    if len(text) > MAX_PHRASE:
        return None
    said = plain(text)
    hidden = masked(said)
    opened = _IF.match(hidden)
    if opened is None:
        return _behind(said, hidden)
    split = _consequence(said, hidden, opened.end())
    if split is None:
        return None
    condition = said[opened.end() : split[0]].strip(" *_")
    rest = said[split[1] :].strip()
    inside = _ELSE_INSIDE.search(masked(rest))
    then, otherwise = rest, ""
    if inside and inside.start() > 0:
        then, otherwise = rest[: inside.start()], rest[inside.end() :]
    if not condition:
        return None
    same = bool(_SAME.fullmatch(condition))
    label = NO if same and _NOT.search(condition) else YES
    negated = opened["word"].lower() == "unless"
    return Decision(condition, then.strip(" *_"), otherwise.strip(), negated, same, label)


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
    if first is None and (run_on := _RUN_ON.search(hidden, begin)):
        return run_on.end(), run_on.end()
    return first


def leads(text: str) -> bool:
    """Whether ``text`` is something to do, or a way to go on."""
    return is_order(text) or bool(read_end(text)) or bool(NEXT.fullmatch(text.rstrip(".")))


def _behind(said: str, hidden: str) -> Decision | None:
    """``Restart the pod if it hangs``."""
    if _ASKING.match(core(said)) or not is_order(said):
        return None
    # What stands in brackets is said by the way.
    found = _BEHIND.search(_INNER.sub(lambda inner: "_" * len(inner[0]), hidden))
    if found is None or found.start() < 3:
        return None
    condition = said[found.end() :].strip(" .")
    if _AS_NEEDED.match(condition) or not condition:
        return None
    negated = found["word"].lower() == "unless"
    return Decision(condition, said[: found.start()].strip(), negated=negated)


def read_otherwise(text: str) -> str | None:
    """What is done otherwise; None where ``text`` is not of that."""
    found = _OTHERWISE.match(plain(text))
    return plain(text)[found.end() :].strip() if found else None


def read_answer(text: str) -> tuple[str, str] | None:
    """``Yes: …``: the label, and what follows from it."""
    found = _ANSWER.match(text)
    if found is None:
        return None
    return (YES if found["label"].lower() in _YES else NO), text[found.end() :].strip()


def read_arrow(text: str) -> Decision | None:
    """``The disk is full → drain the node``: a case, and what is done in it. A path through menus
    (``Go to Settings → Users``) is none."""
    if len(text) > MAX_PHRASE:
        return None
    parts = re.split(rf"\s*{_ARROW}\s*", masked(text), maxsplit=1)
    if len(parts) != 2 or not parts[0].strip(" *_"):
        return None
    head, tail = text[: len(parts[0])], text[len(text) - len(parts[1]) :]
    if is_order(head) or not leads(tail):
        return None
    return Decision(head.strip(" *_:"), tail.strip())
