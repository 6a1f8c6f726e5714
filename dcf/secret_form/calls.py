"""Secrets that are literals in the calls and macros of a program: ``put("password", "…")``,
``setPassword("…")``, ``#define PASSWORD "…"``.

Calls have the name of a secret among their arguments for many reasons: the value must look like
one, and be one word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from dcf.secret_form.beside import name_before
from dcf.secret_form.found import Found
from dcf.secret_form.given import is_given
from dcf.secret_form.naming import kind_of

_REST = re.compile(r"[\w.-]{0,20}+")
_FAR = 120
"""Signs before a name among which stands what it belongs to."""
_LITERAL = r"[rbfu]{0,2}\\?(?P<quote>[\"'`])(?P<secret>[^\s\"'`\\(){}<>\[\]]{6,200}+)\\?(?P=quote)"
_BLANK = r"\s{0,60}+"
# By the sign behind a name: what follows, and what stands before the name. All of what stands
# before is in small letters.
_FORMS = {
    **dict.fromkeys(
        "\"'\\",
        (
            re.compile(rf"\\?[\"']{_BLANK},{_BLANK}{_LITERAL}{_BLANK}[,)]"),
            re.compile(rf"\w\({_BLANK}\\?[\"'][\w.-]{{0,40}}\Z"),
        ),
    ),
    "(": (
        re.compile(rf"\({_BLANK}{_LITERAL}{_BLANK}\)"),
        re.compile(
            r"(?:(?<![a-z])(?:set|with)_?|\.(?!get|find|has|is|check|verify|validate|hash))"
            r"[a-z\d_]{0,20}\Z"
        ),
    ),
    **dict.fromkeys(
        " \t",
        (
            re.compile(rf"[ \t]{{1,60}}{_LITERAL}"),
            re.compile(r"#[ \t]{0,9}define[ \t]{1,20}\w{0,40}\Z"),
        ),
    ),
}


def in_calls(text: str, lower: str, names: Iterable[int]) -> Iterator[Found]:
    """What is found in ``text``, which is ``lower`` in small letters; ``names`` are the places of
    names of secrets."""
    for place in names:
        rest = _REST.match(lower, place)
        end = rest.end() if rest else place
        form = _FORMS.get(lower[end : end + 1])
        hit = form and form[0].match(text, end)
        if not form or not hit or not form[1].search(lower[max(0, place - _FAR) : place]):
            continue
        name = name_before(lower, place, end)
        value = hit["secret"]
        if name and (is_given(value, name) or is_given(value, name, titled=True)):
            yield Found(kind_of(name[0]), *hit.span("secret"))
