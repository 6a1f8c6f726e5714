"""Rules that keep secrets out of the registry, and so off the disk."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dcf.problem import Problem
from dcf.secret_form import is_credential
from dcf.secret_name import names_a_secret
from dcf.skills.authoring.credential import (
    assigned_secret,
    query_secret,
)
from dcf.skills.authoring.place import Place

_DEFAULT = re.compile(r"\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*):-(?P<default>[^}]+)\}")
_HINT = "write ${VARIABLE}: the environment holds the value"


def check_secrets(registry: Place) -> Iterator[Problem]:
    """Every text of the registry. What is a credential for certain is an error, because generating
    would write it into ``generated/``; what only might be one is a warning."""
    yield from _check_credentials(registry)
    servers = registry.member("servers")
    environments = registry.member("overrides")
    groups = [servers, *(place for _, place in (environments.members() if environments else ()))]
    for group in groups:
        for _, server in group.members() if group else ():
            yield from _check_server(server)


def _check_credentials(place: Place) -> Iterator[Problem]:
    if isinstance(place.value, str) and is_credential(place.value):
        message = "this text holds a credential, which generating would copy to another file"
        yield place.problem("REG_SECRET_LITERAL", message, f"{_HINT}; and replace the credential")
    for _, member in place.members():
        yield from _check_credentials(member)
    for element in place.elements():
        yield from _check_credentials(element)


def _check_server(server: Place) -> Iterator[Problem]:
    for kind, member in (("header", "headers"), ("variable", "environment")):
        entries = server.member(member)
        for name, place in entries.members() if entries else ():
            if isinstance(place.value, str) and names_a_secret(name):
                yield from _check_value(kind, name, place)
    for place in _texts(server):
        assigned = assigned_secret(str(place.value)) or query_secret(str(place.value))
        if assigned and not is_credential(str(place.value)):
            yield _warning(place, f"{assigned!r} looks like a secret written into the source")
    args = server.member("args")
    before = ""
    for place in args.elements() if args else ():
        text = place.value if isinstance(place.value, str) else ""
        option = before.startswith("-") and "=" not in before and names_a_secret(before)
        if option and text and "${" not in text and not is_credential(text):
            yield _warning(place, f"what follows {before!r} looks like a secret")
        before = text


def _check_value(kind: str, name: str, place: Place) -> Iterator[Problem]:
    text: str = place.value
    if is_credential(text):
        return  # said already
    if "${" not in text:
        yield _warning(place, f"the {kind} {name!r} looks like a secret written into the source")
    for match in _DEFAULT.finditer(text):
        if names_a_secret(match["name"]):
            message = f"the default of {match['name']} looks like a secret written into the source"
            yield _warning(place, message)


def _texts(server: Place) -> Iterator[Place]:
    for name in ("endpoint", "path"):
        place = server.member(name)
        if place and isinstance(place.value, str):
            yield place
    args = server.member("args")
    for place in args.elements() if args else ():
        if isinstance(place.value, str):
            yield place


def _warning(place: Place, message: str) -> Problem:
    return place.problem("REG_SECRET_LITERAL", message, _HINT, "warning")
