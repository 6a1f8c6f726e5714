"""Placeholders in what is to be typed: they become inputs."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from dcf.sop.runbook.verbs import words_in

_CODE = re.compile(r"`([^`\n]{1,400})`")
_ANGLE = re.compile(
    r"<(?P<name>[A-Za-z][A-Za-z0-9]*(?:[ _./@-][A-Za-z0-9]+){0,5})>(?!.{0,200}</(?P=name)>)"
)
_BRACES = re.compile(
    r"\{\{-?\s*(?P<name>[A-Za-z_]\w*)\s*-?\}\}|\$\{(?P<shell>[A-Za-z_][\w-]*)(?:[:}][^}\n]*)?\}?"
)
_SINGLE = re.compile(
    r"(?<=[/=:\-.])\{(?P<path>[a-z][\w-]*)\}(?!\})|(?<![\w{$@'\"])\{(?P<name>[a-z]+[_-][\w-]*)\}"
    r"(?!\})"
)
_DOLLAR = re.compile(r"(?<![\\$\w])\$(?P<name>[A-Za-z_]\w*)")
_PERCENT = re.compile(r"%(?P<name>[A-Z][A-Z0-9_]+)%")
_ENCODED = re.compile(r"(?<!\w)%5B(?P<name>[A-Za-z][\w+.-]{1,40}?)%5D", re.IGNORECASE)
"""A name in square brackets, as links have it: ``?title=%5BGuest%5D``; not ``filter%5Bkind%5D``."""
_BETWEEN_ATS = re.compile(r"(?<![\w@.])@(?P<name>[A-Z][A-Z0-9_]+)@(?!\w)")
_LOWER_YOURS = re.compile(r"(?<![\w<$-])(?P<name>your[-_][a-z0-9]+(?:[-_][a-z0-9]+)*)(?!\w)")
_EITHER = re.compile(r"<(?P<name>[A-Za-z][\w-]*)(?:\|[\w-]+){1,8}>")
_OF_QUERY = re.compile(r"=\s?:(?P<name>[A-Za-z_]\w*)")
_OF_OPTION = re.compile(
    r"(?<![\w-])--(?P<option>[a-z][a-z-]*)[= ](?P<name>[A-Z][A-Z0-9_-]*)(?![\w-])"
)
_URL = re.compile(r"https?://[^\s<>\"'`]{1,400}")
_PUT_FOR = re.compile(
    r"(?:\b(?:set|replace|substitute|define|change)|,|\band)\s+(?:the\s+)?"
    r"`\$?(?P<name>[A-Z][A-Z0-9_]{2,})`\s+(?:to|with|by|as)\s+(?:the|your|an?)\s",
    re.IGNORECASE,
)
"""``Set `SITE` to the name of the site``."""
_BLANK = re.compile(
    r"(?<![\w'’/-])(?P<name>[A-Z][\w'’/-]{0,30}(?: [\w'’/-]{1,30}){0,4}?)[*_]{0,2}\s?:"
    r"[*_]{0,2}\s?_{3,}"
)
"""A line of a form: ``Date: ____``."""
_YOURS = re.compile(r"(?<![\w<$-])(?P<name>(?:YOUR|MY)[_-][A-Z0-9]+(?:[_-][A-Z0-9]+)*)\b")
VALUE_NOUN = (
    r"(?:names?|ids?|identifiers?|versions?|tags?|tokens?|numbers?|address(?:es)?|urls?|uris?"
    r"|dates?"
    r"|times?|regions?|paths?|passwords?|credentials?|reasons?|e-?mails?|usernames?|accounts?|keys?"
    r"|environments?|hostnames?|hosts?|ports?|domains?|codes?|arns?|ips?|counts?|amounts?|sizes?"
    r"|namespaces?|clusters?|nodes?|pods?|buckets?|projects?|databases?|methods?|lists?|type|status"
    r"|titles?|users?|files?|instances?|branch|commit|hash|sha|endpoints?|severity|roles?|utc"
    r"|zones?"
    r"|orders?|quantit(?:y|ies)|durations?|locations?|budgets?|cent(?:re|er)s?|departments?"
    r"|figures?"
    r"|details|references?|serials?|series|recipients?|subjects?|models?|prices?|links?"
    r"|fingerprints?|birth"
    r"|deadlines?|certificates?|schemas?|tables?|repositor(?:y|ies)|tenants?|teams?|services?"
    r"|tickets?|purposes?|companies|company)"
)
_BRACKETS = re.compile(
    rf"\\?\[(?P<name>(?:(?:your|insert|enter|specific)\s[^\[\]()\n]{{2,30}}|"
    rf"(?:[A-Za-z0-9]+[ _-]){{0,4}}"
    rf"{VALUE_NOUN}(?:\sutc)?))\\?\](?![(\[:])",
    re.IGNORECASE,
)
_UPPER = re.compile(
    rf"(?<![\w$<{{\[%=.\"'-])(?P<name>[A-Z][A-Z0-9]*(?:[_-][A-Z0-9]+)*[_-](?i:{VALUE_NOUN}))"
    r"(?![\w=>}\]%:\"'-])"
)
_PART = r"(?:YYYY|YY|MM|DD|[XYZNM]|MAJOR|MINOR|PATCH|FIX|BUILD)"
_FORMS = re.compile(
    rf"(?<![\w.])(?P<name>YYYY-?MM-?DD|v?{_PART}(?:\.{_PART}){{1,3}}|yyyy-mm-dd)(?!\w)"
)
_SET = re.compile(
    r"(?:^|[;&|]\s*|\b(?:export|local|set|declare|readonly|let)\s+)\$?(?P<name>[A-Za-z_]\w*)\s*="
    r"(?!=)(?P<value>[^\s;]*)"
    r"|\bfor\s+\(?\$?(\w+)|\bread\s+(?:-\w+\s+)*(\w+)|\bforeach\s*\(\s*\$(\w+)"
    r"|\brange\s+\$(\w+)|\brange\s+\$\w+,\s*\$(\w+)",
    re.MULTILINE,
)
_OPEN_VALUE = re.compile(r"[\"']?(?:\.{3}|…|x{3,}|)[\"']?", re.IGNORECASE)
_QUOTED = re.compile(r"(?<!-c )'[^'\n]*'")
"""A shell puts nothing for what stands in single quotes."""


_SHELL = words_in(
    """
    PATH HOME USER PWD SHELL HOSTNAME RANDOM UID EUID PS1 IFS LANG TERM OLDPWD EDITOR TMPDIR _
    BASH_SOURCE LINENO SECONDS HOST LOGNAME KUBECONFIG PPID true false null end else endif endfor
    endblock raw endraw
    """
)
_TAGS = words_in(
    """
    a abbr b big blockquote body br button caption center code col dd del details div dl dt em
    font form h1 h2 h3 h4 h5 h6 head hr html i iframe img input ins kbd label li link meta nav
    ol option p picture pre s script section select small source span strong style sub summary
    sup svg table tbody td textarea tfoot th thead title tr tt u ul var video head header
    footer main article enter tab esc ctrl shift space eof none unknown pending unset nil invalid
    """
)


def placeholders(text: str, *, is_code: bool, given: Collection[str] = ()) -> Iterator[str]:
    """The placeholders in ``text`` as they are written, in order of their kinds. In prose only what
    stands in backticks, or is unmistakable, counts. ``given`` are variables that the runbook
    sets."""
    if is_code:
        yield from _in_code(text, given)
        return
    for found in _CODE.finditer(text):
        yield from _in_code(found[1], given)
    told = _CODE.sub(" ", text)
    links = " ".join(_URL.findall(told))
    for pattern, said in (
        (_BRACES, told),
        (_YOURS, told),
        (_ANGLE, told),
        (_BRACKETS, told),
        (_ENCODED, links),
        (_SINGLE, links),
        (_PUT_FOR, text),
        (_BLANK, told),
    ):
        for name in _names(pattern, said):
            if name not in given and name.lower() not in _TAGS and name not in _SHELL:
                yield name


def assigned(text: str) -> frozenset[str]:
    """The variables that code sets to something."""
    found: set[str] = set()
    for one in _SET.finditer(text):
        if one["name"] and not _OPEN_VALUE.fullmatch(one["value"]):
            found.add(one["name"])
        found |= {name for name in one.groups()[2:] if name}
    return frozenset(found)


def _in_code(text: str, given: Collection[str]) -> Iterator[str]:
    known = assigned(text)
    bare = _QUOTED.sub("''", text)
    for pattern, said in (
        (_ANGLE, text),
        (_BRACES, text),
        (_SINGLE, bare),
        (_DOLLAR, bare),
        (_PERCENT, text),
        (_YOURS, text),
        (_BRACKETS, bare),
        (_UPPER, bare),
        (_FORMS, text),
        (_ENCODED, text),
        (_BETWEEN_ATS, text),
        (_LOWER_YOURS, text),
        (_EITHER, text),
        (_OF_QUERY, bare),
    ):
        for name in _names(pattern, said):
            is_set = name in known or name in given or (name in _SHELL and pattern is not _PERCENT)
            if not is_set and name.lower() not in _TAGS:
                yield name
    for found in _OF_OPTION.finditer(bare):
        name, option = (re.sub(r"[_-]", "", one).lower() for one in found.group("name", "option"))
        if name.endswith(option) or option.endswith(name):  # ``--room ROOM``
            yield found["name"]


def _names(pattern: re.Pattern[str], text: str) -> Iterator[str]:
    for found in pattern.finditer(text):
        yield next(one for one in found.groups() if one)


def input_name(written: str) -> str:
    """A placeholder as the name of an input: ``YOUR_CLUSTER`` and ``<your-cluster>`` are
    ``cluster``."""
    name = re.sub(r"\W+", "_", written, flags=re.ASCII).strip("_").lower()
    name = re.sub(r"^(?:your|my|the|insert|enter|some)_(?=[a-z])", "", name)
    return name if re.match(r"[a-z_]", name) else f"value_{name}".rstrip("_")


_BETWEEN = r"(?:to|on|in|at|with|from|by|and|or|than|as)\s"
_HEAD = (
    rf"(?:(?!{_BETWEEN})[\w'’/&-]+\s+){{0,4}}?{VALUE_NOUN}\b"
    rf"(?!\s+{VALUE_NOUN}\b)(?:\s+(?:of|for|to)\s+(?:[\w'’/-]+\s*){{1,5}})?"
)
_ARTICLE = r"(?:(?:a|an|the|your|their|his|her|its|both|all|any|a list of)\s+)*"
_VALUE = re.compile(
    rf"{_ARTICLE}(?P<what>{_HEAD})(?: upfront| first| now)?\W*(?:\([^)]*\)\W*)?$", re.IGNORECASE
)
_NEEDED = re.compile(
    r"(?:(?:you|we)(?:'ll|’ll| will| must| should)?\s+(?:also\s+)?)?(?:(?:need|have|know)\s+"
    r"(?:to\s+"
    r"(?:know|have)\s+)?)?"
    rf"{_ARTICLE}(?P<what>{_HEAD})",
    re.IGNORECASE,
)
_SET_TO = re.compile(r"`\$?(?P<name>[A-Z][A-Z0-9_]{2,})`")
_PERSON = (
    r"(?:the |a |an |each |every )?(?:user|customer|client|caller|requester|requestor|applicant"
    r"|employee|patient|guest|member|traveler|traveller|passenger|they)s?"
)
_GIVES = (
    r"(?:provide|give|confirm|supply|specify|state|submit|share|enter|tell you|name|present"
    r"|include)s?"
)
_TOLD = (
    rf"\b{_PERSON}\s+(?:must|needs? to|should|has to|have to|shall|will)\s+(?:also\s+)?{_GIVES}\s+"
    r"(?P<what>[^.;:]+)",
    rf"\bask(?:ing)?\s+(?:{_PERSON}\s+)?for\s+(?P<what>(?:their|the|his|an?|your)\s[^.;:]+)",
    rf"\b(?:collect|gather|request|obtain|get)\s+(?P<what>[^.;:]+?)\s+from\s+{_PERSON}\b",
    r"\b(?:collect|gather)s?\s+(?P<what>[^.;:]+)",
    r"\b(?:agents?|assistants?|representatives?|you)\s+(?:must|should|needs? to|ha(?:s|ve) to)\s+"
    r"first\s+(?:obtain|get|ask for|know|learn)\s+(?P<what>the\s[^.;:]+)",
    r"\b(?:gives?|states?|provides?|quotes?)\s+(?P<what>(?:the|their|his|her|your)\s[^.;:]+)",
    r"\b(?:e-?mail|mail|send|tell|give)\s+\S+\s+(?P<what>your\s[^.;:]+)",
    r"\b(?:identif|authenticat|verif)\w*\s[^.;:]{0,40}?\bwith\s+(?P<what>[^.;:]+)",
    r"\b(?:identif|locat|find|authenticat|verif|look|search)\w*\s[^.;:]{0,60}?\b(?:via"
    r"|by(?: their)?(?! \w+ing\b)"
    r"|using their)\s+(?P<what>[^.;:]+)",
    r"\b(?:confirm|check|verify|ask for|take|obtain|get|record|request"
    r"|note)\s+(?:the\s+)?[\w-]+['’]s?"
    r"\s+(?P<what>[^.;:]+)",
    r"(?:^|\b(?:you|we|they)\b[^.;:,]{0,20}?\s)(?:need|require)\s+(?:to (?:know"
    r"|have)\s+)?(?P<what>[^.;:]+)",
    r"\b(?:have|keep)\s+(?P<what>[^.;:]+?)\s+(?:ready|at hand|handy|available)\b",
    r"\b(?:have|keep)\s+(?:ready|at hand|handy|available)\s*:?\s*(?P<what>[^.;:]+)",
    r"^\W*(?:you(?:['’]ll| will)? need|what (?:you|we) need|needed|prerequisites?|gather"
    r"|collect)\W*:\s*\W*"
    r"(?P<what>[^.;:]+)",
)
"""What introduces things that one has to have, of which some are values."""
_ASKED_FOR = (
    r"\b(?:naming|stating|specifying|indicating|mentioning|quoting|citing)\s+(?P<what>[^.;:]+)",
    r"\bfill(?:s|ed)? (?:in|out)\s[^.;:]{0,40}?\bwith\s+(?P<what>[^.;:]+)",
    r"\b(?:need|require)\s+from\s+\w+\s*:?\s*(?P<what>[^.;:]+)",
    r"\b(?:should|must|need to|have to|make sure you|you)\s+know\s+(?P<what>(?:the|your"
    r"|which)\s[^.;:]+)",
    r"^\W*(?:(?:required |needed |necessary )?(?:inputs?|parameters?|arguments?|variables?"
    r"|information|data"
    r"|values)(?: needed| required)?|tell us|we need to know)\W*:\s*\W*(?P<what>[^.;:]+)",
)
"""What introduces values alone."""
_GIVEN = tuple(
    (re.compile(pattern, re.IGNORECASE), pattern in _ASKED_FOR) for pattern in (*_TOLD, *_ASKED_FOR)
)
_ANY_NAME = re.compile(rf"{_ARTICLE}(?P<what>[\w'’/-]+(?:\s+[\w'’/-]+){{0,4}})\W*$", re.IGNORECASE)
_ANY_VALUES = re.compile(
    r"\b(?:parameters?|inputs?|information|values|data|following|these)\b", re.I
)
"""What says only that there are values."""
_NO_NAME = re.compile(
    r"(?:it|them|this|that|these|those|what|how|why|whether|who|when|where|none|nothing|if|to"
    r"|so|n/a|\w+ing"
    r"|is|are|not)\b|.*\b(?:is|are|was|were|must|should|can|will|you|we|to|of|for|in|on)$",
    re.IGNORECASE,
)
_ASKS_FOR = re.compile(r"ask(?:ing)?\b", re.IGNORECASE)
_LONGEST = 1_000
_AND = re.compile(
    r"\s*\([^)]*\)|\s*,\s*(?:and\s+|or\s+)?|\s+(?:and|or|\+|plus|with)\s+(?:via\s+|by\s+)?"
)


def listed_names(text: str) -> list[str]:
    """What an item of a list of inputs names without saying more of it: ``keys, cards and codes``,
    ``guest group (if known)``; none where it is a sentence."""
    if len(text) > _LONGEST:
        return []
    said = re.sub(r"\s*\([^()]*\)", "", text).strip(" .;")
    names = [_value(one.strip(), True) for one in _AND.split(said)]
    return names if all(names) else []


def needed_value(text: str) -> str:
    """What a prerequisite says that one has to know: ``The ID of the volume``; else empty."""
    coded = _SET_TO.search(text)
    if coded:
        return coded["name"]
    found = _NEEDED.match(text)
    return " ".join(found["what"].split()) if found else ""


def given_values(text: str) -> Iterator[str]:
    """What a sentence says that somebody has to tell or to know: ``The user must give the order
    number``, ``You need the name of the host``."""
    for pattern, values_alone in _GIVEN:
        for found in pattern.finditer(text[:_LONGEST]):
            parts = [part.partition("(")[0].strip() for part in _AND.split(found["what"]) if part]
            # What is asked for together with a value is one: ``ask for the class and the date``.
            asked = values_alone or (
                _ASKS_FOR.match(found[0]) is not None and any(_value(one, False) for one in parts)
            )
            for part in parts:
                if value := _value(part, asked):
                    yield value


def _value(said: str, is_value: bool) -> str:
    """The name of a value; ``is_value``: it is one whatever it is called."""
    if _ANY_VALUES.search(said):
        return ""
    found = _VALUE.match(said)
    if found is None and is_value and (code := _CODE.fullmatch(said)):
        return code[1] if re.fullmatch(r"\w+", code[1]) else ""
    if found is None and is_value and not _NO_NAME.match(said):
        found = _ANY_NAME.match(said)
    return " ".join(found["what"].split()) if found else ""
