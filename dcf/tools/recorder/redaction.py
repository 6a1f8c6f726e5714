"""What must not be written to a file: secrets, known by value, by the name of a member, by form."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from dcf.secret_form import without_credentials

REDACTED = "[redacted]"
_SHORTEST = 4
_NAME = re.compile(
    r"passw(or)?d|passphrase|secret|credential|authori[sz]ation|cookie|private_?key|api_?key"
    r"|access_?key|(^|_)(token|pin|cvv|cvc)$|(auth|access|refresh|session|bearer|id)_?token"
)
_BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[-. ]+")


class Redaction:
    """Takes secrets out of JSON values.

    ``values`` are known ones, as headers and variables hold them; those of less than four
    characters are left alone, since they occur everywhere.
    """

    def __init__(self, values: Iterable[str]) -> None:
        known = sorted({value for value in values if len(value) >= _SHORTEST}, key=len)
        self._known = tuple(reversed(known))

    def clean(self, value: Any) -> Any:
        """``value`` with ``[redacted]`` where a secret was; text stays text."""
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, list):
            return [self.clean(item) for item in value]
        if isinstance(value, Mapping):
            return {self._text(key): self._member(key, member) for key, member in value.items()}
        return value

    def clean_values(self, value: Any) -> Any:
        """As ``clean``, by value and form only: a schema's member named ``password`` is none."""
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, list):
            return [self.clean_values(item) for item in value]
        if isinstance(value, Mapping):
            return {key: self.clean_values(member) for key, member in value.items()}
        return value

    def _member(self, name: str, value: Any) -> Any:
        return _hidden(value) if is_secret_name(name) else self.clean(value)

    def _text(self, text: str) -> str:
        for secret in self._known:
            text = text.replace(secret, REDACTED)
        return without_credentials(text, REDACTED)


def _hidden(value: Any) -> Any:
    """``value`` of a member that holds a secret: all of it, in lists and objects too, but what says
    only whether there is one."""
    if isinstance(value, list):
        return [_hidden(item) for item in value]
    if isinstance(value, Mapping):
        return {name: _hidden(member) for name, member in value.items()}
    return value if value is None or isinstance(value, bool) else REDACTED


def is_secret_name(name: str) -> bool:
    """Whether a member of this name holds a secret, in whatever way its words are joined."""
    return _NAME.search(_BOUNDARY.sub("_", name).lower()) is not None
