"""Placeholders in what is to be typed: they become inputs."""

from __future__ import annotations

import re
from collections.abc import Iterator

_CODE = re.compile(r"`([^`\n]{1,400})`")
_ANGLE = re.compile(r"<(?P<name>[A-Za-z][A-Za-z0-9]*(?:[ _./-][A-Za-z0-9]+){0,5})>")
_BRACES = re.compile(
    r"\{\{-?\s*(?P<name>[A-Za-z_]\w*)\s*-?\}\}|\$\{(?P<shell>[A-Za-z_]\w*)(?:[:}][^}\n]*)?\}?"
)
_DOLLAR = re.compile(r"(?<![\\$\w])\$(?P<name>[A-Za-z_]\w*)")
_YOURS = re.compile(r"(?<![\w<$-])(?P<name>(?:YOUR|MY)[_-][A-Z0-9]+(?:[_-][A-Z0-9]+)*)\b")
_SET = re.compile(
    r"(?:^|[;&|]\s*|\b(?:export|local|set|declare|readonly|let)\s+)\$?([A-Za-z_]\w*)\s*=(?!=)"
    r"|\bfor\s+\(?\$?(\w+)|\bread\s+(?:-\w+\s+)*(\w+)|\bforeach\s*\(\s*\$(\w+)",
    re.MULTILINE,
)


def _words(told: str) -> frozenset[str]:
    return frozenset(told.split())


_SHELL = _words(
    """
    PATH HOME USER PWD SHELL HOSTNAME RANDOM UID EUID PS1 IFS LANG TERM OLDPWD EDITOR TMPDIR _
    BASH_SOURCE LINENO SECONDS HOST LOGNAME KUBECONFIG PPID true false null
    """
)
_TAGS = _words(
    """
    a abbr b big blockquote body br button caption center code col dd del details div dl dt em
    font form h1 h2 h3 h4 h5 h6 head hr html i iframe img input ins kbd label li link meta nav
    ol option p picture pre s script section select small source span strong style sub summary
    sup svg table tbody td textarea tfoot th thead title tr tt u ul var video head header
    footer main article
    """
)


def placeholders(text: str, *, is_code: bool) -> Iterator[str]:
    """The placeholders in ``text`` as names of inputs, in order. In prose only what stands in
    backticks, or is unmistakable, counts."""
    if is_code:
        yield from _in_code(text)
        return
    for found in _CODE.finditer(text):
        yield from _in_code(found[1])
    for pattern in (_BRACES, _YOURS):
        yield from _names(pattern, text)


def _in_code(text: str) -> Iterator[str]:
    given = {name for found in _SET.finditer(text) for name in found.groups() if name} | _SHELL
    for pattern in (_ANGLE, _BRACES, _DOLLAR, _YOURS):
        for name in _names(pattern, text):
            if name not in given and name.lower() not in _TAGS:
                yield name


def _names(pattern: re.Pattern[str], text: str) -> Iterator[str]:
    for found in pattern.finditer(text):
        yield next(one for one in found.groups() if one)


def input_name(written: str) -> str:
    """A placeholder as the name of an input: ``YOUR_CLUSTER`` and ``<your-cluster>`` are
    ``cluster``."""
    name = re.sub(r"\W+", "_", written, flags=re.ASCII).strip("_").lower()
    name = re.sub(r"^(?:your|my|the|insert|enter|some)_(?=[a-z])", "", name)
    return name if re.match(r"[a-z_]", name) else f"value_{name}".rstrip("_")
