"""Passwords among the arguments of commands that take them behind an option of one letter.

Which letter it is differs, and so does whether a blank follows: with ``mysql -p shop`` the password
is asked for, and ``-P`` is a port. Sources: the manual pages of each command.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from dcf.secret_form.found import Found
from dcf.secret_form.said import is_said

_FAR = 300
"""Signs between a command and its password."""
# Arguments up to the end of the command; in a list of arguments quotes and commas are between them.
_ARGUMENTS = rf"\b[^\n|;&<>`]{{0,{_FAR}}}?[\s\"']"
_GAP = r"(?:\s++|\\?[\"']\s*+,\s*+)"
_WORD = r"\\?[\"']?(?P<secret>[^\s\"'\\|;&<>`-][^\s\"'\\|;&<>`]{2,}+)"
_LOGIN = r"(?:docker|podman|nerdctl|buildah|skopeo|helm|oras|crane|oc|az|cf|ibmcloud)"


def _taking(command: str, option: str, gap: str, word: str = _WORD) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{command}){_ARGUMENTS}{option}{gap}{word}")


_FORMS = (
    ("mysql", _taking("mysql(?:dump|admin|import|check|show|binlog|pump|slap|sh)?", "-p", "")),
    ("mariadb", _taking("mariadb(?:-[a-z]{1,20})?", "-p", "")),
    ("sshpass", _taking("sshpass", "-p", rf"{_GAP}?")),
    ("login", _taking(rf"{_LOGIN}\b[^\n|;&<>`]{{0,40}}?[\s\"']login", "-p", rf"{_GAP}?")),
    ("mongo", _taking("mongo(?:sh|dump|restore|export|import|stat|top|files)?", "-p", _GAP)),
    ("redis-cli", _taking("redis-cli", "-a", _GAP)),
    ("ldap", _taking("ldap(?:search|add|modify|delete|passwd|whoami)", "-w", rf"{_GAP}?")),
    ("7z", _taking("7z[az]?", "-p", "")),
    (" -P ", _taking("(?:un)?zip", "-P", rf"{_GAP}?")),
    (
        "curl",
        _taking(
            "curl",
            rf"(?:-[A-Za-z#]{{0,9}}?[uU](?:{_GAP})?|--(?:proxy-)?user(?:=|{_GAP}))",
            r"\\?[\"']?[^\s:\"'\\-][^\s:\"'\\]{0,100}:(?!//)",
            r"(?P<secret>[^\s\"'\\|;&<>`]{3,}+)",
        ),
    ),
)
COMMANDS = tuple(name.lower() for name, _ in _FORMS)
"""Every text with such a password has one of these, in small letters."""


def in_commands(text: str, lower: str) -> Iterator[Found]:
    """What is found in ``text``, which is ``lower`` in small letters."""
    for name, form in _FORMS:
        for hit in form.finditer(text) if name in text else ():
            start, end = hit.span("secret")
            if not is_said(lower, start, quoted=False):
                yield Found("password", start, end)
