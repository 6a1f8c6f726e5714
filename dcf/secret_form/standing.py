"""Credentials that are known by where they stand: in a key file, behind a scheme, in an address."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dcf.secret_form.found import Found
from dcf.secret_form.said import is_example

_TORN = r"(?=(?:\.{3}|…)?\s*\Z)"
_BEGIN = r"-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?"
_END = r"-----END (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----"
_PRIVATE_KEY = re.compile(
    # Its lines may each be in quotes, as in the source of a program. What opens or closes in JSON
    # is none of it.
    rf"{_BEGIN}(?>(?:(?!-----(?:BEGIN|END) |\"\s*:)[^{{}}\[\]])*){_END}"
    # Without its end it was torn: then all that follows in the same text belongs to it.
    rf"|{_BEGIN}-----(?=(?>(?:\s|\\[nrt])*)(?:[A-Za-z0-9+/=]{{16}}|[A-Za-z-]+: |[\w+/]*{_TORN}))"
    r"(?>(?:(?!-----BEGIN )[^\"{}\\]|\\[^\"])*)",
)
# A signed token. Where none begins at the first eyJ of a word, none begins later in that word: all
# of it is passed over.
_SIGNED = re.compile(
    r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))eyJ(?:"
    r"(?P<signed>[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]*){0,3})|[A-Za-z0-9_-]*+)"
)
# "Basic" often begins prose: what follows is a credential where it has a digit, a padding, or
# capitals or dots within, and is no word with a number as in "Basic plan2024".
_WORD_WITH_NUMBER = r"(?:[A-Z]?[a-z]+\d{0,4}|\d{1,4})"
_SCHEME = re.compile(
    r"(?<![\w-])(?:(?i:bearer)\s+(?!(?i:authenti|authori[sz]|credential|security))"
    r"|(?i:basic)\s+(?=[\w.~+/=-]*?(?:[\d~+=]|[a-z][A-Z]|\w\.\w))"
    rf"(?!{_WORD_WITH_NUMBER}(?>(?:-{_WORD_WITH_NUMBER})*)(?![\w~+/=-]|\.\w)))"
    r"(?P<secret>[A-Za-z0-9._~+/=-]{8,}+)"
)
_NAME_OF_SCHEME = re.compile("bearer|basic")
# A password may have an @ too: the last one before the host counts. One that was cut may have none.
_OF_ADDRESS = re.compile(
    r":(?:\\?/){2}(?P<secret>"
    r"(?!\[?user(?:name)?:pass(?:w(?:or)?d)?\]?@)[^/\s:@\"<>\\]*:(?!\[\w|[$%]?\{|\$[A-Z_]+@|%\(?\w|\*{3})"
    rf"(?:[^/\s\"<>\\]+(?=@)|(?!\d)[^/\s\"<>\\:@\[\]]{{3,}}+{_TORN})"
    r"|(?=[A-Za-z_]{0,64}\d)[\w.~+=-]{20,}(?=@))"
)
_OF_ORACLE = re.compile(r"jdbc:oracle:[a-z]+:[\w$#]+/(?P<secret>[^@/\s\"]{1,200}+)@")


def private_keys(text: str) -> Iterator[Found]:
    """Private keys in PEM and in OpenSSH's form."""
    if "PRIVATE KEY" in text:
        for hit in _PRIVATE_KEY.finditer(text):
            yield Found("private key", *hit.span())


def signed_tokens(text: str) -> Iterator[Found]:
    """JSON Web Tokens (RFC 7519), signed or encrypted."""
    if "eyJ" in text:
        for hit in _SIGNED.finditer(text):
            if hit["signed"]:
                yield Found("signed token", *hit.span())


def of_addresses(text: str) -> Iterator[Found]:
    """The user and password of URLs."""
    for form in (_OF_ADDRESS, _OF_ORACLE):
        for hit in form.finditer(text):
            yield Found("user of an address", *hit.span("secret"))


def of_schemes(text: str, lower: str) -> Iterator[Found]:
    """What follows ``Bearer`` and ``Basic``, with the scheme itself; ``lower`` is ``text`` in small
    letters."""
    for name in _NAME_OF_SCHEME.finditer(lower):
        hit = _SCHEME.match(text, name.start())
        if hit and not is_example(text, hit.start("secret")):
            yield Found("authorization", *hit.span())
