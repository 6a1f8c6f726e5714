"""Sentences that seem to say how the procedure goes on, in words that are none of the phrases."""

from __future__ import annotations

import re

from dcf.sop.direction import Direction, Finish, Stop
from dcf.sop.language.direction_text import STARTS, read_direction
from dcf.sop.language.phrase import AS_TEXT, Unreadable, masked

_JUMP = re.compile(
    r"\b(?:goto|(?:go|jump|skip|return|proceed|continue)(?: back| on| ahead)?(?: to| with| at)?)"
    r" (?:step )?[0-9]|\b(?:go|jump|skip) (?:back )?to step\b"
)
_TAIL = re.compile(
    r"(?:[,;:|–—]| -| and| but| then| otherwise| else)\s+"
    r"(?:(?:and|but|then|otherwise|else|please|immediately|at once|directly|just|simply|must|you)"
    rf"\s+){{0,3}}(?={STARTS})"
)
_CONDITION = re.compile(r",? (?P<only>only )?(?:if|unless|when|in case)\b")
_CALL_OFF = (
    r"(?:immediately |at once |please )?"
    r"(?:cancel|quit|halt|terminate|exit|abandon|abort|stop|end|finish|leave|break off)"
    r" (?:(?:the|this|whole|entire) )*"
)
_CALLED_OFF = re.compile(
    rf"{_CALL_OFF}(?:procedure|workflow|sop)\b"
    rf"|(?:if|unless|when|in case|otherwise|else)\b.*[, ]{_CALL_OFF}"
    r"(?:procedure|workflow|sop|process|run)\b"
)
_WHETHER = (
    r"(?:if|unless|when|whenever|while|until|till|once|in case|as long as|so long as|provided"
    r"|assuming)\b"
)
_HELD = re.compile(rf"(?:^|[\s,;]){_WHETHER}|^should\b")
_OTHER_WAY = re.compile(
    r"(?:^|[,;:] |\b(?:then|and|or|but|please) )(?:(?:do not|don't|never) )?"
    r"(?:repeat|redo|restart|rerun|re-run|start (?:over|again)|begin again|loop|skip"
    r"|omit|leave out|bail(?: out)?|abort|break off|exit|quit|cancel|halt|terminate|stop|finish"
    r"|end|continue|proceed|go on|carry on|wait)"
    r"(?: (?:again|over|here|out|from the (?:start|beginning|top)|this|it|that"
    r"|(?:(?:with|at|from|to|the|this|that|these|next|previous|last|whole|entire|all|both) ){0,4}"
    r"(?:steps?(?: [0-9][\w.]*)?|procedure|workflow|sop|loop))){0,3}"
    rf" *(?:[,.;!]|$|{_WHETHER})"
)
"""How procedures go on in words of everyday life: ``repeat this step``, ``do not continue``."""
_MARKUP = re.compile(r"<[^<>]*>|\]\([^()]*\)|\]\[[^\][]*\]")
_FORMS = (
    "write `If ..., go to step 4`, `If ..., stop with SomeError`, or both ways with `otherwise`; "
    f"going back is `go to step 1`; {AS_TEXT}"
)
_HINT = f"write `If ..., go to step 4`, or `Then stop` by itself; {AS_TEXT}"


def demand_no_steering(text: str) -> None:
    """For a sentence that is none of the phrases. Raises ``Unreadable`` when it jumps, ends or
    stops all the same, or does so, repeats or leaves out a step on a condition in backticks."""
    hidden = masked(text)
    if _JUMP.search(hidden):
        raise Unreadable("SOP_PHRASE", f"the jump in {text!r} is not understood", _HINT)
    if "`" in text and _HELD.search(hidden) and _OTHER_WAY.search(hidden):
        message = f"{text!r} seems to say on a condition how it goes on, and is not understood"
        raise Unreadable("SOP_PHRASE", message, _FORMS)
    for found in _TAIL.finditer(hidden):
        if direction_in(text[found.end() :]) is not None:
            message = f"{text!r} ends the procedure in the middle of a sentence"
            raise Unreadable("SOP_PHRASE", message, f"make it a sentence of its own: {_HINT}")
    if _CALLED_OFF.match(hidden) or (text.endswith("!") and direction_in(text.rstrip("!"))):
        message = f"{text!r} seems to end the procedure, and is not understood"
        raise Unreadable("SOP_PHRASE", message, _HINT)


def direction_in(text: str) -> Direction | None:
    """The end that ``text`` orders, whatever the condition behind it; None when there is none."""
    behind = _CONDITION.search(masked(text))
    try:
        found = read_direction(text[: behind.start()] if behind else text)
    except Unreadable:
        return None
    return found if isinstance(found, Finish | Stop) and not is_order(found, text) else None


def is_order(direction: Direction, text: str) -> bool:
    """Whether it may be an order of everyday life: ``Stop with care``."""
    named = isinstance(direction, Stop) and direction.error
    return bool(named) and not named[:1].isupper() and "`" not in text  # type: ignore[index]


def without_markup(text: str) -> str:
    """``text`` without what shows it as a quotation, a table, a link or in HTML."""
    plain = _MARKUP.sub("", text)
    if plain.startswith("|"):
        plain = ", ".join(cell.strip() for cell in plain.strip("|").split("|"))
    return plain.lstrip(">[ ").rstrip("] ")
