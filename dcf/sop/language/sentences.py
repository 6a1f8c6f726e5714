"""Sentences that steer a step, told from those that are only text."""

from __future__ import annotations

import re
from collections.abc import Callable

from dcf.sop.condition import Not
from dcf.sop.direction import Continue
from dcf.sop.language.approval_text import read_approval
from dcf.sop.language.clause import Clause
from dcf.sop.language.condition_text import read_condition
from dcf.sop.language.direction_text import STARTS, read_direction
from dcf.sop.language.duration import read_duration
from dcf.sop.language.join_text import read_joins
from dcf.sop.language.loop_text import START as LOOP_START
from dcf.sop.language.loop_text import read_loop
from dcf.sop.language.phrase import (
    AS_TEXT,
    DOTTED,
    Unreadable,
    check_length,
    masked,
    single_blanks,
    split_at,
    split_list,
    without_emphasis,
)
from dcf.sop.language.retry_text import read_errors, read_retry
from dcf.sop.language.steering import (
    demand_no_steering,
    direction_in,
    is_order,
    without_markup,
)
from dcf.sop.language.wait_text import read_wait
from dcf.sop.step import Branch, Handler

TIMEOUT = "States.Timeout"
REJECTED = "DCF.ApprovalRejected"

_END = re.compile(r"(?:(?<=[.!?;])|(?<=[.!?;][*_])|(?<=[.!?;][*_]{2}))\s+(?=[A-Z`\"“*_])")
_FAILS = re.compile(
    r"(?:if (?:this|it|that|the step) (?:still )?fails"
    rf"(?: with (?P<named>.+?)(?=\s*[,:]?\s+(?:{STARTS}|then\b)))?"
    r"|on (?:any )?(?:failure|error|errors)|(?P<rejected>if (?:it is |this is )?"
    r"(?:rejected|refused|denied|not approved)|on rejection)|(?P<late>if (?:it|this) takes too long"
    r"|if nobody (?:answers|decides)(?: in time)?|on timeout))(?:\s*[,:]\s*|\s+)"
    rf"(?={STARTS}|then\b|$|[a-z])"
)
_ON = re.compile(rf"on (?P<errors>.+?)\s*[,:]?\s+(?={STARTS})")
_ERROR_LIKE = re.compile(r"[A-Z][\w.-]*[\w]|[\w-]+\.[\w.-]+|`[^`]+`")
_IF = re.compile(r"if\b")
_UNLESS = re.compile(r"unless\b")
_WHEN = re.compile(r"(?:when|in case)\b(?! of\b)")
_BEHIND = re.compile(r",? (?P<only>only )?(?P<word>if|unless|when|in case)\b")
_OTHERWISE = re.compile(r"\s*[,;.]?\s*\b(?:otherwise|else)\b\s*,?\s*")
_THEN = re.compile(
    rf"\s*[,:]\s*(?:then\s+)?(?={STARTS})|\s+then\s+|\s+(?=(?:go|goto|jump|skip|return)\b)"
)
_RETRY = re.compile(r"(?:retry|try again)\b\s*:?\s*(?:this |it )?")
_WITHIN = re.compile(
    r"(?:(?:to be |must be )?(?:done|finished|answered|completed) )?within (?=[0-9]|an?\b|half\b"
    r"|one\b|two\b|three\b|four\b|five\b|six\b|seven\b|eight\b|nine\b|ten\b)"
)
_WAIT = re.compile(r"wait\b\s*:?\s*")
_APPROVAL = re.compile(
    r"(?:(?:this |it )?(?:needs?|requires?|get|obtain|wait for|with|after) )?(?:the |an )?"
    r"approval (?:by|from|of) (?P<who>.+)|ask (?P<asked>.+) for (?:the |their |an )?approval"
    r"|(?:this |it )?(?:needs|requires|get|wait for) (?:an )?approval|approval (?:is )?required"
    r"|approval by anybody"
)
_APPROVAL_LIKE = re.compile(
    r"(?:(?:needs?|requires?|get|obtain|wait for) )?(?:an |the )?approval\b"
)
_KEEP = re.compile(r"keep (?=(?:the )?(?:first|last|every) _+(?:(?:,| and|, and) _+)*$)")
_PARALLEL = re.compile(
    r"(?:do |run )?(?:all of |both of )?(?:these|the following|this)?\s*"
    r"(?:at the same time|in parallel|simultaneously)"
)


def split_sentences(text: str) -> list[str]:
    """The sentences of ``text``, which join to it with single blanks."""
    hidden = masked(text)
    raw = "".join(one if hidden[at] != "_" else "_" for at, one in enumerate(text))
    parts, start = [], 0
    for found in _END.finditer(raw):
        parts.append(text[start : found.start()])
        start = found.end()
    return [*parts, text[start:]]


def read_sentence(text: str) -> list[Clause]:
    """What the sentence says; nothing when it is only text.

    Raises ``Unreadable`` for one that begins, or jumps, as if it said something.
    """
    check_length(text)
    text = without_emphasis(single_blanks(text).strip())
    found = _said(text)
    if found is not None:
        return found
    demand_no_steering(text)
    if text[:1] in "<>[|" and (plain := without_markup(text)) != text and read_sentence(plain):
        hint = f"write it as a bullet or a sentence of its own; {AS_TEXT}"
        raise Unreadable("SOP_PHRASE", f"{text!r} steers inside a table, a link or a quote", hint)
    return []


def _said(text: str) -> list[Clause] | None:
    body = text.rstrip(".;").strip()
    hidden = masked(body)
    for reads, read in _READERS:
        found = reads.match(hidden)
        if found:
            clauses = read(body, found)
            if clauses is not None:
                return clauses
    return None


def _fails(body: str, found: re.Match[str]) -> list[Clause] | None:
    rest = body[found.end() :]
    errors: tuple[str, ...] = ()
    if found["named"]:
        errors = read_errors(body[slice(*found.span("named"))])
    elif found["rejected"]:
        errors = (REJECTED,)
    elif found["late"]:
        errors = (TIMEOUT,)
    return [Clause("handler", Handler(errors, read_direction(rest)))]


def _on_errors(body: str, found: re.Match[str]) -> list[Clause] | None:
    names = body[slice(*found.span("errors"))]
    if not all(_ERROR_LIKE.fullmatch(name) for name in split_list(names)):
        return None
    ordinary = next(
        (name for name in split_list(names) if name.isalpha() and name[1:].islower()), ""
    )
    if ordinary:
        if direction_in(body[found.end() :]) is None and "step" not in body[found.end() :]:
            return None
        hint = f"if it is an error, write `If this fails with {ordinary}, ...`; {AS_TEXT}"
        message = f"{ordinary!r} in {body!r} may be an error, or what happened, or a day"
        raise Unreadable("SOP_ERROR_NAME", message, hint)
    return [Clause("handler", Handler(read_errors(names), read_direction(body[found.end() :])))]


def _if(body: str, found: re.Match[str]) -> list[Clause] | None:
    parts = split_at(_OTHERWISE, body)
    first = _branch(parts[0])
    if first is None:
        return None
    clauses = [Clause("branch", first)]
    for part in parts[1:]:
        clauses += _otherwise_part(part)
    return clauses


def _unless(body: str, found: re.Match[str]) -> list[Clause] | None:
    clauses = _if(body, found)
    if clauses is None:
        return None
    first: Branch = clauses[0].value
    return [Clause("branch", Branch(Not(first.condition), first.then)), *clauses[1:]]


def _when(body: str, found: re.Match[str]) -> list[Clause] | None:
    """As an ``If``; but with it everyday life begins its sentences too: ``When it boils, stop
    stirring``."""
    try:
        return _if(body, found)
    except Unreadable:
        hidden = masked(body)
        steers = any(direction_in(body[one.end() :]) for one in _THEN.finditer(hidden))
        if steers or "`" in body:
            raise
        return None


def _otherwise(body: str, found: re.Match[str]) -> list[Clause] | None:
    return [clause for part in split_at(_OTHERWISE, body)[1:] for clause in _otherwise_part(part)]


def _otherwise_part(part: str) -> list[Clause]:
    if _IF.match(masked(part)):
        branch = _branch(part)
        if branch is None:
            hint = "write `otherwise if ..., go to step 4`"
            raise Unreadable("SOP_DIRECTION", f"{part!r} does not say where to go on", hint)
        return [Clause("branch", branch)]
    return [Clause("then", read_direction(part))]


def _branch(text: str) -> Branch | None:
    """``If condition, direction``; None when nothing in it looks like a direction."""
    hidden = masked(text)
    begin = next(found.end() for one in (_IF, _UNLESS, _WHEN) if (found := one.match(hidden)))
    first: Unreadable | None = None
    for found in _THEN.finditer(hidden):
        try:
            then = read_direction(text[found.end() :])
            return Branch(read_condition(text[begin : found.start()]), then)
        except Unreadable as error:
            first = first or Unreadable(error.code, error.message, f"{error.hint}; {AS_TEXT}")
    if first is not None:
        raise first
    return None


def _then(body: str, found: re.Match[str]) -> list[Clause] | None:
    """A direction alone, or with a condition behind it. Many orders begin with such a word: ``Stop
    the machine``."""
    try:
        direction = read_direction(body)
    except Unreadable:
        return _then_if(body)
    return None if is_order(direction, body) else [Clause("then", direction)]


def _then_if(body: str) -> list[Clause] | None:
    """``Stop with Late if \\`days\\` is over 3``."""
    behind = _BEHIND.search(masked(body))
    if behind is None:
        return None
    try:
        direction = read_direction(body[: behind.start()])
    except Unreadable:
        return None
    goes_on = isinstance(direction, Continue)
    if is_order(direction, body) or (goes_on and not behind["only"] and "`" not in body):
        return None
    if goes_on or behind["only"]:
        hint = "say both ways: `If ..., continue, otherwise stop with SomeError`"
        raise Unreadable("SOP_PHRASE", f"{body!r} does not say what is done else", hint)
    condition = read_condition(body[behind.end() :])
    if behind["word"] == "unless":
        condition = Not(condition)
    return [Clause("branch", Branch(condition, direction))]


def _retry(body: str, found: re.Match[str]) -> list[Clause] | None:
    return [Clause("retry", read_retry(body[found.end() :]))]


def _within(body: str, found: re.Match[str]) -> list[Clause] | None:
    return [Clause("deadline", read_duration(body[found.end() :]))]


def _wait(body: str, found: re.Match[str]) -> list[Clause] | None:
    rest = body[found.end() :]
    by_name = re.fullmatch(rf"for ({DOTTED}) seconds", rest)
    return [Clause("wait", read_wait(f"`{by_name[1]}` seconds" if by_name else rest))]


def _approval(body: str, found: re.Match[str]) -> list[Clause] | None:
    whole = _APPROVAL.fullmatch(masked(body))
    if whole is None:
        hint = f"write `approval by finance`, or `approval by ana or ben`; {AS_TEXT}"
        raise Unreadable("SOP_APPROVAL", f"{body!r} does not say whose approval", hint)
    group = "who" if whole["who"] else "asked"
    who = body[slice(*whole.span(group))] if whole[group] else ""
    return [Clause("approval", read_approval(who))]


def _asks(body: str, found: re.Match[str]) -> list[Clause] | None:
    return _approval(body, found) if _APPROVAL.fullmatch(masked(body)) else None


def _loop(body: str, found: re.Match[str]) -> list[Clause] | None:
    return [Clause("loop", read_loop(body))]


def _parallel(body: str, found: re.Match[str]) -> list[Clause] | None:
    return [Clause("parallel", True)] if _PARALLEL.fullmatch(masked(body).rstrip(": ")) else None


def _keep(body: str, found: re.Match[str]) -> list[Clause] | None:
    return [Clause("join", read_joins(body[found.end() :]))]


_Reader = Callable[[str, "re.Match[str]"], "list[Clause] | None"]
_READERS: tuple[tuple[re.Pattern[str], _Reader], ...] = (
    (_FAILS, _fails),
    (_IF, _if),
    (_UNLESS, _unless),
    (_WHEN, _when),
    (re.compile(r"(?:otherwise|else)\b"), _otherwise),
    (_ON, _on_errors),
    (_RETRY, _retry),
    (_WITHIN, _within),
    (_APPROVAL_LIKE, _approval),
    (re.compile(r"ask\b"), _asks),
    (_WAIT, _wait),
    (re.compile(LOOP_START.pattern), _loop),
    (_PARALLEL, _parallel),
    (_KEEP, _keep),
    (re.compile(rf"(?:then\s+|we are done|{STARTS})"), _then),
)
