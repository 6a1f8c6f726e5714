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
_NEAR = 60
"""Signs before ``login`` among which the command stands that logs in."""
# Arguments up to the end of the command; in a list of arguments quotes and commas are between them.
_ARGUMENTS = rf"\b[^\n|;&<>`]{{0,{_FAR}}}?[\s\"']"
_GAP = r"(?:\s++|\\?[\"']\s*+,\s*+)"
_WORD = r"\\?[\"']?(?P<secret>[^\s\"'\\|;&<>`-][^\s\"'\\|;&<>`]{2,}+)"
_LOGS_IN = re.compile(
    r"(?<!\w)(?:docker|podman|nerdctl|buildah|skopeo|helm|oras|crane|oc|az|cf|ibmcloud)"
    r"[\s\"'][^\n|;&<>`]{0,40}\Z"
)


def _taking(command: str, option: str, gap: str, word: str = _WORD) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{command}){_ARGUMENTS}{option}{gap}{word}")


# By what each begins with, which is found much faster than the whole of it.
_FORMS = {
    "mysql": _taking("mysql(?:dump|admin|import|check|show|binlog|pump|slap|sh)?", "-p", ""),
    "mariadb": _taking("mariadb(?:-[a-z]{1,20})?", "-p", ""),
    "sshpass": _taking("sshpass", "-p", rf"{_GAP}?"),
    "login": _taking("login", "-p", rf"{_GAP}?"),
    "mongo": _taking("mongo(?:sh|dump|restore|export|import|stat|top|files)?", "-p", _GAP),
    "redis-cli": _taking("redis-cli", "-a", _GAP),
    "curl": _taking(
        "curl",
        rf"(?:-[A-Za-z#]{{0,9}}?[uU](?:{_GAP})?|--(?:proxy-)?user(?:=|{_GAP}))",
        r"\\?[\"']?[^\s:\"'\\-][^\s:\"'\\]{0,100}:(?!//)",
        r"(?P<secret>[^\s\"'\\|;&<>`]{3,}+)",
    ),
}
COMMANDS = tuple(_FORMS)
"""Every text with such a password has one of these."""


def in_commands(text: str, lower: str) -> Iterator[Found]:
    """What is found in ``text``, which is ``lower`` in small letters."""
    for name, form in _FORMS.items():
        place = text.find(name)
        while place >= 0:
            hit = form.match(text, place)
            if hit and _is_one(name, text, lower, hit):
                yield Found("password", *hit.span("secret"))
            place = text.find(name, hit.end() if hit else place + len(name))


def _is_one(name: str, text: str, lower: str, hit: re.Match[str]) -> bool:
    if is_said(lower, hit.start("secret"), quoted=False):
        return False
    before = text[max(0, hit.start() - _NEAR) : hit.start()]
    return name != "login" or _LOGS_IN.search(before) is not None
