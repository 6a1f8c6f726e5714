"""Values that are secrets by the name that they are given to: ``password=…``, ``"apiKey": "…"``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dcf.secret_form.found import Found
from dcf.secret_form.naming import IS, NAME, kind_of
from dcf.secret_form.said import is_count, is_reference, is_said, is_variable, is_word

_NAMED = re.compile(rf"(?P<name>{NAME})(?P<between>{IS})")
# In the source of a program: the type of a variable, and what begins a literal.
_TYPED = re.compile(r"[a-z_][\w.]{0,40}(?:\[[^\]\n]{0,40}\])?(?: ?\| ?none)? ?= ?(?=[rbfu]?[\"'])")
_OPEN = re.compile(r"(?:[rbfu]{1,2}(?=[\"']))?(?P<quote>\\?[\"'])")


def _within(end: str, sign: str) -> re.Pattern[str]:
    """At most five lines up to ``end``."""
    return re.compile(rf"(?!{end})(?>(?:{sign})*)(?:\n(?>(?:{sign})*)){{0,4}}(?={end})")


_IN_QUOTES = {
    '"': _within('"', r"[^\"\\\n]|\\."),
    "'": _within("'", r"[^'\\\n]|\\."),
    # JSON within JSON: a quote that is part of the value has three of these signs before it.
    '\\"': _within(r"\\\"", r"[^\"\\\n]|\\\\(?:\\.)?|\\[^\"\\\n]"),
    "\\'": _within(r"\\'", r"[^'\\\n]|\\\\(?:\\.)?|\\[^'\\\n]"),
}
# Up to the end of the word, the argument, the line in JSON, the field of a form.
_BARE = re.compile(
    r"(?>(?:[^\s\"',;}\[\\)&]|\\(?![\"'nrt])\S|'(?=\w)|\)(?=\w)|&(?!\w{1,40}=)){3,})"
)
_LINE_ENDS = re.compile(r"[ \t]*+(?:[\r\n]|\Z)")


def named(text: str, lower: str) -> Iterator[Found]:
    """The values of assignments and members; ``lower`` is ``text`` in small letters."""
    at = 0
    while hit := _NAMED.search(lower, at):
        at = hit.end()
        found = _value(text, lower, hit)
        if found is not None:
            yield found
            at = found.end


def _value(text: str, lower: str, hit: re.Match[str]) -> Found | None:
    typed = _TYPED.match(lower, hit.end())
    at = typed.end() if typed else hit.end()
    opened = _OPEN.match(text, at)
    quote = opened["quote"] if opened else ""
    start = opened.end() if opened else at
    if _is_none(text, lower, start, hit, bool(quote)):
        return None
    quoted = _IN_QUOTES[quote].match(text, start) if quote else None
    value = quoted or _BARE.match(text, start)
    if value is None or (not quoted and _goes_on(hit["between"], text, value.end())):
        return None
    return Found(kind_of(hit["name"]), start, value.end())


def _is_none(text: str, lower: str, at: int, hit: re.Match[str], quoted: bool) -> bool:
    """Whether what stands there is no secret. The signs that are looked at are those before the
    next name, so that no text is read again and again."""
    name = hit["name"]
    if is_said(lower, at, quoted=quoted) or (name == "token" and is_count(text, at)):
        return True
    shouted = text[hit.start() : hit.start() + len(name)].isupper()
    if is_variable(lower, at) and not (hit["chosen"] and (quoted or shouted)):
        return True
    if quoted:
        return False
    return is_reference(lower, at) or (not hit["chosen"] and is_word(text, at, hit["between"]))


def _goes_on(between: str, text: str, end: int) -> bool:
    """Whether prose follows in the line below a name."""
    return "\n" in between and _LINE_ENDS.match(text, end) is None
