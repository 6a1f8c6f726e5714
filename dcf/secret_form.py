"""Secrets in free text, known by what they look like or by the name that they are given to.

The one set of rules: what is recorded, what is written to the graph and what the source of a skill
may hold are all judged by it. Prose about tokens, keys and passwords is no secret. Texts of others
are of any length: no pattern here reads the same characters again from each place where it might
begin.
"""

from __future__ import annotations

import re

_SHAPES = re.compile(
    r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY"
    # Without its end it was torn: then all that follows belongs to it.
    r"(?:.*?-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|.*)"
    r"|(?<![A-Za-z0-9])(?:"
    # Names of things begin like this too, but they seldom have digits.
    r"sk-(?=[A-Za-z_-]{0,64}\d)[A-Za-z0-9_-]{16,}"
    r"|(?:sk|pk|rk)(?:_(?:live|test)_"
    r"|[-_](?:[A-Za-z0-9]{1,40}[-_]){0,3}(?=[A-Za-z]{0,64}\d))[A-Za-z0-9]{16,}"
    r"(?:[-_][A-Za-z0-9]+)*+"
    r"|(?:gh[pousr]_|github_pat_|xox[abeoprs]-|xapp-)[A-Za-z0-9_-]{10,}"
    r"|gl(?:agent|cbt|dt|ft|imt|oas|pat|ptt|rt|soat)-[A-Za-z0-9_-]{16,}"
    r"|(?:AKIA|ASIA)[0-9A-Z]{16}"
    r"|AIza[A-Za-z0-9_-]{30,}|ya29\.[A-Za-z0-9_-]{10,}"
    r"|(?:hf|npm)_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{50,}"
    r"|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"
    r")",
    re.DOTALL,
)
# A signed token. Where none begins at the first eyJ of a word, none begins later in that word: all
# of it is passed over.
_SIGNED = re.compile(
    r"(?<![A-Za-z0-9])eyJ(?:"
    r"(?P<signed>[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]*)?)|[A-Za-z0-9_-]*+)"
)
# "Basic" often begins prose: what follows is a credential where it has a digit, a padding, or
# capitals or dots within, and is no word with a number as in "Basic plan2024".
_WORD_WITH_NUMBER = r"(?:[A-Z]?[a-z]+\d{0,4}|\d{1,4})"
_SCHEME = re.compile(
    r"\b(?:(?i:bearer)\s+(?!(?i:authenti|authori[sz]|credential|security))"
    r"|(?i:basic)\s+(?=[\w.~+/=-]*?(?:[\d~+=]|[a-z][A-Z]|\w\.\w))"
    rf"(?!{_WORD_WITH_NUMBER}(?:-{_WORD_WITH_NUMBER})*+(?![\w~+/=-]|\.\w)))[A-Za-z0-9._~+/=-]{{8,}}"
)
_USER_OF_URL = re.compile(r"(?<=://)[^/\s:@]*:[^/\s@]+(?=@)")

_IS = r"\\?[\"']?\s*(?:=>|:=|[:=])\s*"
_NO_PART = r"(?![\w@#$%^&*+=/-])"
_COUNT = rf"\d{{1,9}}(?:\.\d{{1,9}})?{_NO_PART}(?!\.\w)"
# Words that people choose as passwords are secrets; after "access key: " they are prose, since keys
# and tokens are made by machines.
_PROSE = rf"\s*:\s+(?-i:[A-Z]?[a-z]{{1,11}}){_NO_PART}(?!\.\w)"
_CHOSEN = r"pass(?:word|wd|phrase)|(?<![a-z])pwd|db_?pwd|secret|(?<![a-z])(?:cvv|cvc)2?"
_MADE = (
    r"passcode"
    # Those of pages, and of what is parsed, are no secrets, and a number of them is a count.
    r"|(?<!unexpected )(?<!page)(?<!page[-_ ])(?<!next)(?<!next[-_ ])"
    rf"token(?!(?:{_IS}|\s+|>){_COUNT})"
    r"|(?:api|access|secret|private|account|shared|signing|signature|encryption|master|auth)"
    r"[-_ ]?key(?:[-_]base)?"
)
_NAME = (
    rf"(?:{_CHOSEN}|(?:{_MADE})(?!{_PROSE}))"
    r"(?:[-_]?\d|[-_](?:prod|live|test|dev|staging|old|new))?"
)
# What is in each of them and in the names below: most texts have none, and are done with.
_ANY_NAME = re.compile(r"pass|pwd|secret|token|key|cv[vc]|cookie|auth|sig", re.IGNORECASE)
# What is said about a secret, a reference to one, or what stands for one that was taken out.
_STATED = (
    r"is|are|was|were|be|has|have|had|must|may|can|could|cannot|should|will|would|do|does|did|not?"
    r"|none|nil|null|undefined|unset|true|false|empty|blank|missing|absent|invalid|valid|required"
    r"|optional|expired|expires|expiring|unknown|wrong|incorrect|mismatch|changed|rotated|revoked"
    r"|refused|rejected|denied|failed|failure|pending|redacted|hidden|masked|removed|expected"
)
# So may also begin a secret of several words, which is then in quotes.
_WORDS = (
    r"an?|the|yes|to|too|for|from|of|in|on|or|and|with|without|by|at|as|if|when|while|this|that"
    r"|these|it|its|your|our|their|my|please|ok|okay|string|text|str|int|integer|number|bytes|bool"
    r"|boolean|object|value|option|flag|argument|parameter|enter|use|see|set|get|check|only|token"
    r"|authentication|auth|access|credentials?"
)
_NO_REFERENCE = (
    r"(?!\$\{|\{\{|\$[A-Z][A-Z_]*\b|%[A-Z][A-Z_]*%|\*{3}|<[\w -]+>|\[)"
    # The path of a file, as in PWD=/home/ann.
    r"(?!~?/[a-z][\w.-]*(?:/[\w.-]+)*/?(?![\w+=/]))"
)
_VALUE = rf"(?!(?:{_STATED}|{_WORDS}){_NO_PART}){_NO_REFERENCE}"
_IN_QUOTES = (
    rf"(?!(?:{_STATED}){_NO_PART}|(?:{_WORDS})(?P=quote)){_NO_REFERENCE}"
    r"(?:(?!(?P=quote)).)+(?=(?P=quote))"
)
_ASSIGNED = re.compile(
    rf"(?P<before>{_NAME}{_IS})"
    rf"(?:(?P<quote>\\?[\"']){_IN_QUOTES}"
    rf"|(?P<open>\\?[\"']?){_VALUE}[^\s\"',;}}\[]{{3,}})",
    re.IGNORECASE,
)
_ELEMENT = re.compile(rf"(?P<before><[\w:.-]*?{_NAME}>)[^<]+", re.IGNORECASE)
_OPTION = re.compile(rf"(?P<before>(?<!\S)--?[\w-]*?{_NAME}\s+){_VALUE}[^\s-]\S{{2,}}", re.I)
_SIGNATURE = re.compile(r"(?P<before>[?&](?:x-\w+-)?sig(?:nature)?=)[^\s&#\"']+", re.IGNORECASE)
_AUTHORIZATION = re.compile(
    rf"(?P<before>authorization{_IS}\\?[\"']?)"
    # Without a scheme it may be said of somebody: "authorization: two persons".
    r"(?:(?:bearer|basic|digest|token|apikey)\s+|(?=\S{0,15}\d|\S{16}))"
    rf"{_VALUE}[^\s\"',;\[\\]{{4,}}",
    re.IGNORECASE,
)
_COOKIE = re.compile(
    r"(?P<before>\b(?:set-)?cookies?\\?[\"']?\s*[:=]\s*\\?[\"']?)[\w.%-]+=[^\r\n\"'\\]+", re.I
)


def is_credential(text: str) -> bool:
    """Whether ``text`` holds what only a credential looks like: an API key of a known maker, a
    signed token, a private key."""
    signed = any(found["signed"] for found in _SIGNED.finditer(text))
    return signed or _SHAPES.search(text) is not None


def without_credentials(text: str, put: str) -> str:
    """``text`` with ``put`` in place of what only a credential looks like, what follows ``Bearer``
    and ``Basic``, and the user and password of an address."""
    text = _SIGNED.sub(lambda found: put if found["signed"] else found[0], text)
    for form in (_SHAPES, _SCHEME, _USER_OF_URL):
        text = form.sub(put, text)
    return text


def without_secrets(text: str, put: str) -> str:
    """The same, and with ``put`` in place of the values that texts like ``password=…``,
    ``"client_secret": "…"`` or ``Cookie: …`` give to the name of a secret."""
    text = without_credentials(text, put)
    if not _ANY_NAME.search(text):
        return text
    for form in (_COOKIE, _AUTHORIZATION, _SIGNATURE, _OPTION, _ELEMENT):
        text = form.sub(lambda found: found["before"] + put, text)
    return _ASSIGNED.sub(
        lambda found: found["before"] + (found["quote"] or found["open"] or "") + put, text
    )
