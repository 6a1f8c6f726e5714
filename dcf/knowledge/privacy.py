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
_PATTERN_S = 0.05
_LONGEST_PATTERN = 500

# Blanks that are not seen to be others: pages and word processors write numbers with them.
_BLANKS = " \u00a0\u2007\u2009\u202f"
# Signs that look like those of an address, and what is not seen at all and may part a word.
_LOOKALIKES = str.maketrans("\uff20\ufe6b\uff0e", "@@.", "\x00\u00ad\u200b\u2060\ufeff")
_EMAIL = regex.compile(
    # What follows the @ of a version of a skill is no domain.
    r"[\w.!#$%&'*+/=?^`{|}~-]{1,64}@(?!\d+\.\d+\.\d)"
    r"(?:[\w-]{1,63}\.){1,8}[^\W\d_][\w-]{1,62}"
)
_IBAN = regex.compile(rf"\b[A-Z]{{2}}\d{{2}}(?:[{_BLANKS}-]?[A-Z0-9]){{11,30}}\b")
# Lengths by country, from the registry of ISO 13616: small letters run on into what follows.
_IBAN_LENGTHS = (
    "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DK18 DO28 "
    "EE20 EG29 ES24 FI18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 "
    "IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MR27 MT31 MU30 "
    "NL18 NO15 PK24 PL28 PS29 PT25 QA29 RO24 RS22 SA24 SC31 SE24 SI19 SK24 SM27 ST25 SV28 TL23 "
    "TN24 TR26 UA29 VA22 VG24 XK20"
)
_SMALL_IBAN = regex.compile(
    r"\b(?:"
    + "|".join(
        rf"{one[:2]}\d{{2}}(?:[{_BLANKS}-]?[A-Z0-9]){{{int(one[2:]) - 4}}}"
        for one in _IBAN_LENGTHS.split()
    )
    + r")\b",
    regex.IGNORECASE | regex.ASCII,
)
# Most texts have nothing like it, and are spared all those countries.
_MAY_BE_IBAN = regex.compile(r"(?<=\b[A-Za-z]{2})\d\d")
_CARD = regex.compile(
    rf"(?<![\w.-])(?:\d(?:[{_BLANKS}-]?\d){{12,18}}"
    # Dots only where cards have them: numbers with a point are something else.
    r"|\d{4}(?:\.\d{4}){3}|\d{4}\.\d{6}\.\d{5})(?![\w-])"
)
# International, or with a leading zero, or grouped: bare digits are rather an amount or an order.
_PHONE = regex.compile(
    rf"(?<![\w.-])(?:\+|00)\d(?:[{_BLANKS}()./-]{{0,2}}\d){{6,14}}(?![\w-])"
    rf"|(?<![\w.:-])(?:\(\d{{2,5}}\)|0\d{{1,4}})[{_BLANKS}/-]\d(?:[{_BLANKS}/-]?\d){{4,9}}(?![\w:-])"
    rf"|(?<![\w.:-])\(?\d{{3}}\)?[{_BLANKS}.-]\d{{3}}[{_BLANKS}.-]\d{{4}}(?![\w-])"
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
        text = self._redactor.text(text[:_READ].translate(_LOOKALIKES))
        for pattern in self._patterns:
            try:
                text = pattern.sub("[redacted]", text, timeout=_PATTERN_S)
            except TimeoutError:
                return UNCHECKED
        text = _EMAIL.sub("[email]", without_secrets(text, "[token]"))
        for form in (_IBAN, _SMALL_IBAN) if _MAY_BE_IBAN.search(text) else ():
            text = form.sub(lambda found: "[iban]" if _is_iban(found[0]) else found[0], text)
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
    bare = "".join(filter(str.isalnum, text))
    moved = bare[4:] + bare[:4]
    return len(bare) >= 15 and int("".join(str(int(sign, 36)) for sign in moved)) % 97 == 1


def _is_card(text: str) -> bool:
    """Luhn's checksum (ISO/IEC 7812-1, annex B), and an issuer of payment cards: they begin with 2
    to 6. Times in milliseconds begin with 1, and one in ten has the checksum too."""
    digits = [int(sign) for sign in reversed(text) if sign.isdigit()]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[1::2]]
    return (sum(digits[::2]) + sum(doubled)) % 10 == 0 and 2 <= digits[-1] <= 6


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
