"""Values that are secrets by the name that they are given to: ``password=…``, ``"apiKey": "…"``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from dcf.secret_form.found import Found, places
from dcf.secret_form.given import is_given
from dcf.secret_form.naming import FOREIGN_NAME, IN_PAIR, IS, NAME, foreign_parts, kind_of
from dcf.secret_form.said import (
    is_count,
    is_example,
    is_prose,
    is_reference,
    is_said,
    is_variable,
    is_word,
    is_word_itself,
)

_IN_PAIR = re.compile(IN_PAIR)
# In the source of a program: the type of a variable, and what begins a literal.
_TYPED = re.compile(
    r"&?(?:'static )?[a-z_][\w.]{0,40}(?:\[[^\]\n]{0,40}\])?(?: ?\| ?none)? ?= ?(?=[rbfu]?[\"'])"
)
_OPEN = re.compile(r"(?:[rbfu]{1,2}(?=[\"']))?(?P<quote>\\?[\"'])")
# One word in the quotes of texts of several lines, and between backticks: most of such are prose.
_LONG_LITERAL = re.compile(
    r"(?:[rbfu]{1,2}(?=[\"']))?(?P<quote>\"{3}|'{3}|`)\\?\s{0,60}+"
    r"(?P<secret>[^\s\"'`\\(){}<>]{3,200}+)\s{0,60}+(?P=quote)"
)
# Further parts of a literal: ``"a" + "b"``, ``"a" "b"``, also in the line below one that goes on.
_PART = re.compile(
    r"[\"'](?:\s{0,60}+(?:[+.&]|\.\.|\|\|)\s{0,60}+|[ \t]{0,60}+\\\r?\n[ \t]{0,60}+|[ \t]{1,60}+)"
    r"[rbfu]{0,2}(?:\"(?P<double>[^\"\\\n]{1,200}+)(?=\")|'(?P<single>[^'\\\n]{1,200}+)(?='))"
)
_MOST_PARTS = 20
# In YAML: a tag or an anchor before a value, and what says that it stands in the lines below.
_NOTED = re.compile(
    r"(?P<note>(?:[&!][\w!/.:-]{0,60}[ \t]{1,9}){0,2})"
    r"(?P<below>[|>][-+\d]{0,2}[ \t]{0,9}\r?\n[ \t]{1,60})?"
    r"(?P<quote>[\"']?)(?P<secret>[^\s\"'`]{3,200}+)(?P=quote)"
    r"(?P<last>[ \t]{0,9}(?:[\r\n]|\Z))?"
)
_ITEM = re.compile(
    r"-[ \t]{1,9}(?P<quote>[\"']?)(?P<secret>[^\s\"'`]{3,200}+)(?P=quote)"
    r"[ \t]{0,9}(?:\r?\n[ \t]{0,60}|\Z)"
)
_REFERS = re.compile(
    r"\*[a-zA-Z][a-zA-Z_-]{0,60}[ \t]{0,9}(?:[\r\n]|\Z)|[!&][a-zA-Z!/.:_-]{1,60}[ \t]{1,9}[^\s=]"
)
_NOTES = "&!*|>-"
_MOST_ITEMS = 500
# An object or a list of a program, in so many signs of which literals are looked for.
_OBJECT = re.compile(
    r"\{\s{0,60}+[\"']?\w[\w.-]{0,60}[\"']?\s{0,9}+(?::|=>)[\s\"']|[\[({]\s{0,60}+[\"']"
)
_INSIDE = re.compile(r"[\[({][^\[\](){}]{1,400}+")
_MEMBER = re.compile(
    r"[:>,\[({]\s{0,60}+[rbfu]{0,2}(?P<quote>[\"'])"
    r"(?P<secret>[^\s\"'`\\(){}<>\[\]]{6,200}+)(?P=quote)(?!\s{0,9}(?::|=>))"
)


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
    r"(?>(?:[^\s\"',;}\[\\)&，。；、）]|\\(?![\"'nrt])\S|'(?=\w)|\)(?=\w)|&(?!\w{1,40}=)){3,})"
)
_LINE_ENDS = re.compile(r"[ \t]*+(?:[\r\n]|\Z)")


# Each name has one of these, which are found much faster than names are.
_PARTS = ("pass", "pwd", "secret", "token", "key", "cv", "sessi", ".sid", "auth")
_HERE = (re.compile(rf"\.?[\w-]{{0,20}}+{IS}"), re.compile(rf"(?P<name>{NAME})(?P<between>{IS})"))
# The signs of vowels in Indian and Thai words are no letters.
_ELSEWHERE = (
    re.compile(rf"[\w\u0900-\u0e7f-]{{0,20}}+{IS}"),
    re.compile(rf"(?P<name>{FOREIGN_NAME})(?P<between>{IS})"),
)
_SIGNS_OF_GIVING = (":", "=", "</", "：", "&#", "%3d", "%3a")
_SHORTEST_MADE = 6
"""Signs of what a machine makes; a code that is shorter is written without quotes."""
_COUNTED = ("token", "pass")
"""What has a number of them: of tokens that were used, of tests that pass."""
_FAR = 90
"""Signs before a name among which the member is that it is the value of."""
_AHEAD = 4
"""Signs behind what separates a name from its value that tell whether a literal begins there."""
_BEFORE = 12
"""Signs that a name may have before its part."""


def name_places(lower: str) -> list[tuple[int, bool]]:
    """Where the names of secrets may be in ``lower``, a text in small letters, in its order; and
    whether each is one of another language."""
    here = [(place, False) for part in _PARTS for place in places(lower, part)]
    there = {(place, True) for part in foreign_parts(lower) for place in places(lower, part)}
    return sorted((*here, *there))


def named(text: str, lower: str, begun: Sequence[tuple[int, bool]]) -> Iterator[Found]:
    """The values of assignments and members; ``lower`` is ``text`` in small letters, ``begun`` are
    its ``name_places``."""
    if not any(sign in lower for sign in _SIGNS_OF_GIVING):
        return
    at = 0
    for place, is_foreign in begun:
        beginning, form = _ELSEWHERE if is_foreign else _HERE
        given = beginning.match(lower, place) if place >= at else None
        hit = given and form.search(lower, max(at, place - _BEFORE), given.end() + _AHEAD)
        if not hit:
            continue
        at = hit.end()
        if ("value" in hit["between"] or "<" in hit["between"]) and not _is_pair(lower, hit):
            continue
        for found in _values(text, lower, hit):
            yield found
            at = found.end


def _is_pair(lower: str, hit: re.Match[str]) -> bool:
    """Whether name and value are two members side by side."""
    return _IN_PAIR.search(lower, max(0, hit.start() - _FAR), hit.start()) is not None


def _values(text: str, lower: str, hit: re.Match[str]) -> Iterator[Found]:
    """The value, in as many parts as its literal has; or the values of an object."""
    literal = _LONG_LITERAL.match(text, hit.end())
    # Behind a colon Markdown has between backticks what is said of a secret.
    in_ticks = "=" in hit["between"] and text.startswith("`", hit.end())
    if in_ticks or (literal and literal["quote"] != "`"):
        if literal and _may_be(literal["secret"], hit):
            yield Found(kind_of(hit["name"]), *literal.span("secret"))
        return
    inside = _INSIDE.match(text, hit.end()) if _OBJECT.match(text, hit.end()) else None
    if inside:
        for member in _MEMBER.finditer(text, *inside.span()):
            if _may_be(member["secret"], hit):
                yield Found(kind_of(hit["name"]), *member.span("secret"))
        return
    if ":" in hit["between"] and text[hit.end() : hit.end() + 1] in _NOTES:
        found_in_yaml = list(_in_yaml(text, hit))
        yield from found_in_yaml
        if found_in_yaml or _refers(text, hit.end()):
            return
    found = _value(text, lower, hit)
    if found is None:
        return
    yield found
    part = _PART.match(text, found.end)
    for _ in range(_MOST_PARTS):
        if part is None:
            break
        start, end = part.span(part.lastgroup or 0)
        yield Found(found.kind, start, end)
        part = _PART.match(text, end)


def _in_yaml(text: str, name: re.Match[str]) -> Iterator[Found]:
    """The value behind a tag, an anchor or a sign for the lines below; or the items below."""
    kind, at = kind_of(name["name"]), name.end()
    noted = _NOTED.match(text, at)
    if noted and (noted["note"] or noted["below"]):
        alone = not noted["below"] or noted["last"] is not None
        if alone and _may_be(noted["secret"], name):
            yield Found(kind, *noted.span("secret"))
        return
    for _ in range(_MOST_ITEMS if "\n" in name["between"] else 0):
        item = _ITEM.match(text, at)
        if item is None:
            break
        if _may_be(item["secret"], name):
            yield Found(kind, *item.span("secret"))
        at = item.end()


def _refers(text: str, at: int) -> bool:
    """Whether what stands there stands for another value, as ``*db`` and ``!secret db`` do."""
    return _REFERS.match(text, at) is not None


def _may_be(value: str, name: re.Match[str]) -> bool:
    return is_given(value, name) or is_given(value, name, titled=True)


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
    if quoted and not hit["chosen"] and quoted.end() - start < _SHORTEST_MADE:
        return None
    if value is None or (not quoted and _goes_on(hit["between"], text, value.end())):
        return None
    end = value.end()
    if "<" in hit["between"]:
        # The tag that closes an element is not a part of its value.
        end = text.find("<", start, end) if "<" in value.group() else end
    return Found(kind_of(hit["name"]), start, end)


def _is_none(text: str, lower: str, at: int, hit: re.Match[str], quoted: bool) -> bool:
    """Whether what stands there is no secret. The signs that are looked at are those before the
    next name, so that no text is read again and again."""
    name = hit["name"]
    if is_said(lower, at, quoted=quoted) or (name in _COUNTED and is_count(text, at)):
        return True
    if not hit["chosen"] and is_example(text, at):
        return True
    if name == "secret" and is_example(text, at, name):
        return True
    shouted = text[hit.start() : hit.start() + len(name)].isupper()
    if is_variable(text, lower, at) and not (hit["chosen"] and (quoted or shouted)):
        return True
    if quoted:
        return False
    if hit["foreign"] and is_prose(text, at):
        return True
    if not shouted and is_word_itself(lower, at):
        return True
    return is_reference(lower, at) or (not hit["chosen"] and is_word(text, at, hit["between"]))


def _goes_on(between: str, text: str, end: int) -> bool:
    """Whether prose follows in the line below a name."""
    return "\n" in between and _LINE_ENDS.match(text, end) is None
