"""Secrets in headers, options of commands, elements of XML and addresses.

All patterns are for texts in small letters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from dcf.secret_form.found import Found
from dcf.secret_form.naming import IS, NAME, kind_of
from dcf.secret_form.said import is_count, is_example, is_reference, is_said, is_variable

_TORN = r"(?=(?:\.{3}|…)?\s*\Z)"
_COOKIE = re.compile(
    r"\b(?:set-)?cookies?\\?[\"']?\s*+[:=]\s*+\\?[\"']?(?P<secret>(?P<value>)[\w.%-]++=[^\s;\"'\\]*+"
    # Further ones, and what is said about them, as Path=/ and HttpOnly.
    r"(?>(?:;[ \t]*+[\w.%-]++(?:=[^\s;\"'\\]*+)?)*))"
)
_AUTHORIZATION = re.compile(
    rf"authorization{IS}\\?[\"']?"
    # Without a scheme it may be said of somebody: "authorization: two persons".
    r"(?P<secret>(?:(?:bearer|basic|digest|token|apikey)\s++(?P<value>)|(?=\S{0,15}\d|\S{16}))"
    r"[^\s\"',;\[\\]{4,}+)"
)
_SIGNATURE = re.compile(r"[?&](?:x-\w{1,20}-)?sig(?:nature)?=(?P<secret>(?P<value>)[^\s&#\"'\\]++)")
_ELEMENT = re.compile(
    rf"<[\w:.-]*?(?P<name>{NAME})(?:\s[^<>]{{0,300}}(?<!/))?>"
    rf"(?:\s{{0,60}}<!\[cdata\[)?(?P<secret>(?<=cdata\[)(?>(?:(?!\]\]>)[^<]){{1,400}})(?=\]\]>)"
    rf"|[^<\"\\]++(?=<\\?/)|[^<\s\"\\]++{_TORN})"
)
_OPTION = re.compile(
    # As a list of arguments too.
    # It looks behind after its first sign: so it is searched much faster.
    rf"-(?<![^\s\"']-)-?[\w-]*?(?P<name>{NAME})(?:\s++|\\?[\"']\s*+,\s*+\\?[\"'])"
    r"(?P<secret>[^\s\"'\\-][^\s\"'\\]{2,}+)"
)
_NETRC = re.compile(r"\blogin\s++\S++\s++password\s++(?P<secret>(?P<value>)[^\s\"\\]++)")
_CURL = re.compile(
    r"(?<=\s)(?:-u|--user)[ =]\\?[\"']?[\w.@-]++:(?P<secret>(?P<value>)[^\s\"'\\]++)"
)
# With what each of them has one of: most texts have none of it, which is seen much faster.
_FORMS = (
    ("cookie", ("cookie",), _COOKIE),
    ("signature", ("sig=", "signature="), _SIGNATURE),
    ("authorization", ("authorization",), _AUTHORIZATION),
    ("password", ("login",), _NETRC),
    ("password", ("-u",), _CURL),
)
_NAMED_FORMS = (("<", _ELEMENT), ("-", _OPTION))


def in_fields(lower: str) -> Iterator[Found]:
    """What is found in ``lower``, a text in small letters."""
    for kind, parts, form in _FORMS:
        for hit in form.finditer(lower) if any(part in lower for part in parts) else ():
            start, end = hit.span("secret")
            value = max(start, hit.start("value"))
            program = kind == "authorization" and (
                is_reference(lower, value)
                or is_example(lower, value)
                or is_variable(lower, lower, value)
            )
            if not program and not is_said(lower, value, quoted=False):
                yield Found(kind, start, end)
    for part, form in _NAMED_FORMS:
        for hit in form.finditer(lower) if part in lower else ():
            start, end = hit.span("secret")
            counted = hit["name"] == "token" and is_count(lower, start)
            if not counted and not is_said(lower, start, quoted=False):
                yield Found(kind_of(hit["name"]), start, end)
