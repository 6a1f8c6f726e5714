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
_PATTERN_S = 0.05
_LONGEST_PATTERN = 500

_FORMS: Sequence[tuple[str, regex.Pattern[str]]] = (
    ("[token]", regex.compile(r"(?i)\b(?:bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}")),
    ("[token]", regex.compile(r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]*)?")),
    ("[token]", regex.compile(r"\b(?:sk|pk|rk)[-_](?:[A-Za-z0-9]+[-_])*[A-Za-z0-9]{16,}")),
    ("[token]", regex.compile(r"\b(?:gh[pousr]_|github_pat_|xox[abprs]-)[A-Za-z0-9_-]{10,}")),
    ("[token]", regex.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b")),
    ("[token]", regex.compile(r"(?<=://)[^/\s:@]*:[^/\s@]+(?=@)")),
    (
        "[token]",
        regex.compile(
            r"(?i)(?<=\b(?:password|passwd|secret|token|api[-_]?key)[\"']?\s*[:=]\s*[\"']?)"
            r"[^\s\"',;}\[]{4,}"
        ),
    ),
    (
        "[email]",
        # What follows the @ of a version of a skill is no domain.
        regex.compile(
            r"[\w.!#$%&'*+/=?^`{|}~-]{1,64}@(?!\d+\.\d+\.\d)"
            r"(?:[\w-]{1,63}\.){1,8}[^\W\d_][\w-]{1,62}"
        ),
    ),
)
_IBAN = regex.compile(r"\b[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]){11,30}\b")
_CARD = regex.compile(r"(?<![\w.-])\d(?:[ -]?\d){12,18}(?![\w-])")
# International, or with a leading zero, or grouped: bare digits are rather an amount or an order.
_PHONE = regex.compile(
    r"(?<![\w.-])(?:\+|00)\d(?:[ ()./-]{0,2}\d){6,14}(?![\w-])"
    r"|(?<![\w.:-])(?:\(\d{2,5}\)|0\d{1,4})[ /-]\d(?:[ /-]?\d){4,9}(?![\w:-])"
    r"|(?<![\w.:-])\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}(?![\w-])"
)


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
        text = self._redactor.text(text[:_READ].replace("\x00", ""))
        for pattern in self._patterns:
            try:
                text = pattern.sub("[redacted]", text, timeout=_PATTERN_S)
            except TimeoutError:
                return UNCHECKED
        for label, form in _FORMS:
            text = form.sub(label, text)
        text = _IBAN.sub(lambda found: "[iban]" if _is_iban(found[0]) else found[0], text)
        text = _CARD.sub(lambda found: "[card]" if _is_card(found[0]) else found[0], text)
        text = _PHONE.sub("[phone]", text)
        if torn:
            text = text[:-_TORN]
        return text if len(text) <= limit else f"{text[: limit - 1]}…"

    def optional(self, text: str | None, limit: int = CUT) -> str | None:
        """The same; None stays None."""
        return None if text is None else self.text(text, limit)


def _is_iban(text: str) -> bool:
    """The checksum of ISO 13616: the rest of a division by 97 is 1."""
    bare = regex.sub(r"[ -]", "", text)
    moved = bare[4:] + bare[:4]
    return len(bare) >= 15 and int("".join(str(int(sign, 36)) for sign in moved)) % 97 == 1


def _is_card(text: str) -> bool:
    """Luhn's checksum (ISO/IEC 7812-1, annex B)."""
    digits = [int(sign) for sign in reversed(text) if sign.isdigit()]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[1::2]]
    return (sum(digits[::2]) + sum(doubled)) % 10 == 0 and any(digits)


def _patterns_in(file: Path) -> list[str]:
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
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
