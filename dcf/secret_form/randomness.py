"""Secrets that nobody's format tells, but that only chance can have made.

What is drawn from letters and digits changes from one kind of sign to another far more often than
names, words and numbers do. That says more of few signs than the entropy of their frequencies: 32
signs cannot have more than 5 bits each of it, and many identifiers come near to what they have.

Digests, ids of commits and UUIDs have letters of one case and stay, as do images, fonts and
certificates in Base64, which are longer or stand in long lines one below the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from dcf.secret_form.found import Found
from dcf.secret_form.naming import IS
from dcf.secret_form.runs import Runs

_LEAST, _MOST = 32, 100
"""Signs of what is a secret wherever it stands."""
_LINE = 56
"""Signs of a line of Base64, at least."""
_LEAST_NAMED = 15
_CHANGES = 0.42
"""Of letters of both cases and digits, 62 in 100 neighbours differ in kind; of words, 20 to 35."""
_CHANGES_OF_TWO = 0.25
"""Of small letters and digits, 40 in 100 do."""
_KINDS = bytes(
    0 if chr(code).isdigit() else 1 if chr(code).islower() else 2 if chr(code).isupper() else 3
    for code in range(128)
)
_KINDS += bytes(len(_KINDS))
_WORDS = 8
"""Signs of a word of a name, with what joins it to the next."""
_DIGITS = frozenset("0123456789abcdef-")
_BETWEEN = b"_-/+=.~"
_WORD = re.compile(
    rf"(?<![A-Za-z0-9_+/-])(?:[a-z]{{2,12}}\d{{0,3}}[-_]){{0,3}}"
    rf"(?P<secret>[A-Za-z0-9_+/-]{{{_LEAST},}}+={{0,2}})"
)
_GAP = 40
_NEXT_LINE = re.compile(r"[\s\"'\\nbrf+,]{1,40}")
# Digests and public keys say what they are; so does data in an address.
_PUBLIC_BEFORE = re.compile(
    r"(?i:sha\d{1,3}|md5|h1|\bid|base64|fingerprint|etag)[-:=,~ ]{1,2}[\"']?\Z"
)
_PUBLIC = re.compile(r"AAAA[BCE]|MII|iVBOR|/9j/|R0lGOD")
_DIGIT = re.compile("[0-9]")
_VALUE = re.compile(rf"[\w+/.~-]{{{_LEAST_NAMED},{_MOST}}}+={{0,2}}(?![\w+/.~-])")
# What these makers make has no look of its own: 32 hexadecimal digits, or small letters and digits.
_MAKERS = (
    r"adafruit|adobe|airtable|algolia|asana|beamer|bitbucket|bittrex|cloudflare|codecov|cohere"
    r"|coinbase|confluent|contentful|datadog|deepgram|discord|dropbox|etsy|fastly|finicity|finnhub"
    r"|flickr|freshbooks|gitter|hubspot|intercom|jfrog|kraken|kucoin|launchdarkly|linkedin|looker"
    r"|mailgun|mapbox|mattermost|meraki|messagebird|mistral|netlify|nytimes|okta|plaid|privateai"
    r"|rapidapi|sendbird|sentry|snyk|sonar|squarespace|sumo|travis|trello|twitch|twitter|zendesk"
)
_NAMED = re.compile(
    rf"(?:key|token|secret|credentials?|creds?|auth|webhook|license|dsn|(?P<maker>{_MAKERS}))"
    rf"[\w.-]{{0,20}}{IS}(?:[rbf](?=[\"']))?\\?[\"']?\Z"
)
_BEFORE = 80
"""Signs in which a name and what separates it from its value stand."""


def random_values(text: str, lower: str, runs: Runs) -> Iterator[Found]:
    """What only chance can have made, and what it seems to have made where that has the name of a
    secret or of who makes such; ``lower`` is ``text`` in small letters, ``runs`` are those of
    ``text``."""
    for start, end in runs.of_least(_LEAST):
        for hit in _WORD.finditer(text, start, end):
            if _is_secret(text, runs.kinds, hit):
                yield Found("random value", *hit.span("secret"))
    if ":" in lower or "=" in lower:
        for start, end in runs.of_least(_LEAST_NAMED):
            for hit in _VALUE.finditer(text, start, end) if _DIGIT.search(text, start, end) else ():
                if is_drawn(hit[0]) and _is_named(lower, hit):
                    yield Found("random value", *hit.span())


def _is_secret(text: str, kinds: bytes, hit: re.Match[str]) -> bool:
    start, end = hit.span("secret")
    if end - start > _MOST or not _is_random(hit["secret"]) or _PUBLIC.match(text, start):
        return False
    said = _PUBLIC_BEFORE.search(text, max(0, start - 16), start)
    return not said and not _is_line(text, kinds, start, end)


def _is_named(lower: str, hit: re.Match[str]) -> bool:
    if lower[hit.end() : hit.end() + 1] in ("(", "["):
        # A function or a list of a program.
        return False
    name = _NAMED.search(lower, max(0, hit.start() - _BEFORE), hit.start())
    # A digest is the key of many things.
    return name is not None and (name["maker"] is not None or not _is_digest(hit[0]))


def _is_random(word: str) -> bool:
    bare = word.encode().translate(_KINDS, _BETWEEN)
    return (
        bare.count(0) > 1
        and not _is_joined(word, bare)
        and {0, 1, 2} <= set(bare)
        and len(bare) >= _LEAST - 4
        and _changes(bare) >= _CHANGES
        and not _is_digest(word.removeprefix("0x"))
    )


def is_drawn(value: str) -> bool:
    """The same of what has a name: of small letters and digits alone, too."""
    bare = value.encode("ascii", "replace").translate(_KINDS, _BETWEEN)
    is_mixed = {1, 2} <= set(bare)
    if bare.count(0) < (1 if is_mixed else 3) or max(bare) == 0 or _is_joined(value, bare):
        return False
    return _changes(bare) >= (_CHANGES if is_mixed else _CHANGES_OF_TWO)


def _is_joined(word: str, bare: bytes) -> bool:
    """Whether there is more between the parts of it than chance puts there."""
    return (len(word) - len(bare)) * _WORDS > len(word) and not word.endswith("=")


def _is_digest(value: str) -> bool:
    return set(value.lower()) <= _DIGITS


def _changes(kinds: bytes) -> float:
    return sum(map(int.__ne__, kinds, kinds[1:])) / max(1, len(kinds) - 1)


def _is_line(text: str, kinds: bytes, start: int, end: int) -> bool:
    """Whether it is one of several lines of Base64, the last of which is shorter."""
    line = b"a" * _LINE
    above = kinds.rfind(line, max(0, start - _LINE - _GAP), start)
    if above >= 0 and _NEXT_LINE.fullmatch(text, above + _LINE, start):
        return True
    below = kinds.find(b"a" * 8, end, end + _GAP)
    return end - start >= _LINE and below >= 0 and bool(_NEXT_LINE.fullmatch(text, end, below))
