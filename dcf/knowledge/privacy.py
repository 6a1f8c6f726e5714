"""What must not get into the graph: secrets, and what names or finds a person.

Applied to every text that comes from outside (causes, statements, names) before it is embedded or
written. What is found becomes ``[email]``, ``[phone]``, ``[card]``, ``[iban]``, ``[secret NAME]``,
``[token]`` or ``[redacted]``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import regex

from dcf.knowledge.errors import SettingUnusable
from dcf.personal_form import without_personal
from dcf.regular_file import read_regular
from dcf.secret_form import without_secrets
from dcf.secret_name import names_a_secret
from dcf.tools import Redactor

CUT = 300
"""So many characters of a free text are kept."""
UNCHECKED = "[not checked]"
"""Takes the place of a text that a pattern of the user could not be tried on in time."""

_READ = 2_000
# At the end of what is read something may be torn apart, and not be recognised: that much is left
# out there.
_TORN = 200
_PUT = {"email": "[email]", "iban": "[iban]", "credit_card": "[card]", "phone": "[phone]"}
_PERSONAL = tuple(_PUT)
_PATTERN_S = 0.05
_LONGEST_PATTERN = 500

# Signs that look like those of an address, and what is not seen at all and may part a word.
_LOOKALIKES = str.maketrans("\uff20\ufe6b\uff0e", "@@.", "\x00\u00ad\u200b\u2060\ufeff")


class Privacy:
    """Takes such things out of texts. ``secrets`` are values by name; ``patterns`` are regular
    expressions of the user, each with 50 ms for a text."""

    def __init__(
        self, secrets: Mapping[str, str] | None = None, patterns: Sequence[str] = ()
    ) -> None:
        self._redactor = Redactor(secrets or {})
        self._patterns = [regex.compile(pattern) for pattern in patterns]

    @classmethod
    def from_env(cls, env: Mapping[str, str]) -> Self:
        """With the values of all variables that are named like a secret, and the patterns in the
        file ``DCF_GRAPH_REDACT`` (one a line; ``#`` begins a comment). Raises SettingUnusable with
        every line that is no pattern."""
        secrets = {name: value for name, value in env.items() if names_a_secret(name)}
        file = env.get("DCF_GRAPH_REDACT")
        return cls(secrets, _patterns_in(Path(file)) if file else ())

    def text(self, text: str, limit: int = CUT) -> str:
        """``text`` without them, at most ``limit`` characters."""
        torn = len(text) > _READ
        text = self._redactor.text(text[:_READ].translate(_LOOKALIKES))
        for pattern in self._patterns:
            try:
                text = pattern.sub("[redacted]", text, timeout=_PATTERN_S)
            except TimeoutError:
                return UNCHECKED
        text = without_personal(without_secrets(text, "[token]"), _PERSONAL, _PUT.__getitem__)
        if torn:
            text = text[:-_TORN]
        return text if len(text) <= limit else f"{text[: limit - 1]}…"

    def optional(self, text: str | None, limit: int = CUT) -> str | None:
        """The same; None stays None."""
        return None if text is None else self.text(text, limit)


def _patterns_in(file: Path) -> list[str]:
    try:
        lines = read_regular(file).decode("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = f"{file}: {getattr(error, 'strerror', None) or error}"
        raise SettingUnusable(name="DCF_GRAPH_REDACT", reason=reason) from error
    patterns, wrong = [], []
    for number, line in enumerate(lines, 1):
        pattern = line.strip()
        if not pattern or pattern.startswith("#"):
            continue
        problem = _problem_of(pattern)
        if problem is None:
            patterns.append(pattern)
        else:
            wrong.append(f"{file}:{number}: {problem}")
    if wrong:
        hint = "one regular expression a line"
        raise SettingUnusable(name="DCF_GRAPH_REDACT", reason="; ".join(wrong), hint=hint)
    return patterns


def _problem_of(pattern: str) -> str | None:
    if len(pattern) > _LONGEST_PATTERN:
        return f"longer than {_LONGEST_PATTERN} characters"
    try:
        compiled: Any = regex.compile(pattern)
    except regex.error as error:
        return str(error)
    return "it is found in an empty text" if compiled.search("") else None
