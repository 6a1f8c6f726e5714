"""Secrets in rows of tables that have a name and its value: ``DB_PASSWORD,Pq5!jHx9kM2v``.

In many tables something else is said of the name there, as its type or another name: so the value
must look like one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from dcf.secret_form.found import Found
from dcf.secret_form.naming import kind_of
from dcf.secret_form.said import is_example, is_reference, is_said, is_variable
from dcf.secret_form.tables import AROUND, RULE, called

_FAR = 100
"""Signs between the beginning of a row and a name of a secret in it."""
_LONGEST = 4_000
"""Signs of a row, and of the one above and below it."""
_BEFORE = re.compile(
    # Of a quotation, of a table between bars, the number of the row.
    r"(?P<bar>[ \t>]*\|)?(?:[ \t\"]*\d{1,6}[ \t\"]*[|,;\t])?[ \t\"'*`]*"
)
_NO_VALUE = (
    r"(?:base|md|sha|utf|aes|rsa|argon|bcrypt|pbkdf|scrypt|oauth|u?int|float|str|varchar)-?\d"
    # An option, a variable, a path, an address, a date.
    r"|[-/~:$%=<]|\.[/.]|\w{1,20}://|www\.|\d{4}-\d\d"
)
_GIVEN = re.compile(
    r"[\w.-]{0,20}+(?: ?\([^()\n]{0,30}\))?[ \t\"'*`:]{0,20}"
    r"(?P<sign>[,;\t|])(?P<gap>[ \t\"'*`]{0,60})"
    rf"(?!(?i:{_NO_VALUE}))(?P<secret>(?>(?:(?!(?P=sign))[^\s()<>{{}}\[\]\"'`|]){{6,200}}))"
    r"[ \t\"'*`\r]{0,60}(?:(?P=sign)|\n|\Z)"
)
_SHORTEST_MADE = 12
_SHORTEST_MIXED = 8
_SIGNS = frozenset("!@#$%&*?^+=")
_KINDS = (str.islower, str.isupper, str.isdigit, _SIGNS.__contains__)


def in_rows(text: str, lower: str, names: Iterable[int]) -> Iterator[Found]:
    """What is found in ``text``, which is ``lower`` in small letters; ``names`` are the places of
    names of secrets."""
    seen = 0
    for place in names:
        hit = _GIVEN.match(text, place) if place >= seen else None
        if hit:
            seen = hit.end("sign")
            name = _name_of_row(text, lower, place, hit)
            if name and _is_value(text, lower, hit, name):
                yield Found(kind_of(name[0]), *hit.span("secret"))


def _name_of_row(text: str, lower: str, place: int, hit: re.Match[str]) -> re.Match[str] | None:
    """The name of a secret that is the first cell of a row."""
    begin = lower.rfind("\n", max(0, place - _FAR), place) + 1
    before = _BEFORE.match(lower, begin)
    if before is None or before.end() > place or place - begin > _FAR:
        return None
    if not before["bar"] and not _is_row(text, begin, hit):
        return None
    return called(lower[before.end() : hit.start("sign")].strip(f"{AROUND}:"))


def _is_row(text: str, begin: int, hit: re.Match[str]) -> bool:
    """Whether the line above or below that at ``begin`` has as many cells. Blanks are in prose and
    in the source of programs."""
    sign = hit["sign"]
    if sign in ",;" and (text[begin].isspace() or hit["gap"][:1].isspace()):
        return False
    end = _end(text, hit.start("secret"))
    above = max(0, text.rfind("\n", max(0, begin - _LONGEST), max(0, begin - 1)))
    others = ((above, begin), (end, _end(text, end + 1)))
    # psql has a + where its rule crosses a bar.
    signs = "|+" if sign == "|" else sign
    cells = text.count(sign, begin, end)
    return any(cells == text.count(one, *other) for other in others for one in signs)


def _end(text: str, at: int) -> int:
    end = text.find("\n", at, at + _LONGEST)
    return min(len(text), at + _LONGEST) if end < 0 else end


def _is_value(text: str, lower: str, hit: re.Match[str], name: re.Match[str]) -> bool:
    value, at = hit["secret"], hit.start("secret")
    if is_said(lower, at, quoted=False) or is_reference(lower, at) or is_variable(text, lower, at):
        return False
    if not any(map(str.isalpha, value)):
        return False
    # What is above a rule are titles of columns.
    if RULE.match(lower, _end(text, at) + 1) or name[0].endswith("secret"):
        return _is_mixed(value)
    if name["chosen"]:
        return any(one.isdigit() or one in _SIGNS for one in value)
    made = len(value) >= _SHORTEST_MADE and any(map(str.isdigit, value))
    return made and not is_example(text, at)


def _is_mixed(value: str) -> bool:
    """Whether three kinds of signs are in it: ``Pq5!jHx9kM2v``, no title as ``OAuth2``."""
    kinds = sum(any(map(kind, value)) for kind in _KINDS)
    return len(value) >= _SHORTEST_MIXED and kinds >= 3
