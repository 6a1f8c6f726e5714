"""What names or finds a person in free text, by rules that are chosen by name.

Nothing is taken out unless it is asked for: numbers and addresses are often what a text is about.
No rule reads more than a few dozen characters from each place where it might begin.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import regex

from dcf.problem import Problem
from dcf.regular_file import read_regular
from dcf.secret_form import in_json, is_json, marked

# Blanks that are not seen to be others: pages and word processors write numbers with them.
_BLANKS = " \u00a0\u2007\u2009\u202f"
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
# What the Social Security Administration never gave out is none; bare digits are rather an order.
_US_SSN = regex.compile(
    r"(?<![\w.-])(?!000|666|9)\d{3}(?P<between>[ -])(?!00)\d\d(?P=between)(?!0000)\d{4}(?![\w-])"
)
_OCTET = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
# Addresses that every machine has find nobody.
_IPV4 = regex.compile(
    rf"(?<![\w.])(?!127\.|0\.0\.0\.0\b|255\.255\.255\.255\b)(?:{_OCTET}\.){{3}}{_OCTET}(?!\.?\w)"
)


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


@dataclass(frozen=True, slots=True)
class _Rule:
    """What matches one of ``forms`` and ``holds``."""

    forms: tuple[regex.Pattern[str], ...]
    holds: Callable[[str], bool] = bool
    may_be: regex.Pattern[str] | None = None


# In the order in which they are applied: an account or a card has parts that look like a phone.
_RULES = {
    "email": _Rule((_EMAIL,), may_be=regex.compile("@")),
    "iban": _Rule((_IBAN, _SMALL_IBAN), _is_iban, _MAY_BE_IBAN),
    "credit_card": _Rule((_CARD,), _is_card),
    "us_ssn": _Rule((_US_SSN,)),
    "phone": _Rule((_PHONE,)),
    "ipv4": _Rule((_IPV4,)),
}
PERSONAL_RULES = tuple(_RULES)
"""Their names."""


def personal_rule_problems(names: Iterable[object], path: str = "") -> list[Problem]:
    """One problem for each of ``names`` that is no rule; ``path`` is where the list stands."""
    known = ", ".join(PERSONAL_RULES)
    return [
        Problem(
            "PERSONAL_RULE_UNKNOWN",
            f"{name!r} is no rule for what names or finds a person",
            f"{path}/{number}",
            hint=f"the rules are {known}",
        )
        for number, name in enumerate(names)
        if name not in _RULES
    ]


def without_personal(text: str, names: Collection[str], put: Callable[[str], str] = marked) -> str:
    """``text`` with ``put(name)`` in place of what the rules of these ``names`` find. JSON stays
    JSON. Names that are no rules find nothing (see ``personal_rule_problems``).

    >>> without_personal("ask ann@mail.example", ["email"])
    'ask [redacted: email]'
    """
    if names and is_json(text):
        return in_json(text, lambda one, _: value_without_personal(one, names, put))
    for name, rule in _RULES.items():
        if name in names and (rule.may_be is None or rule.may_be.search(text)):
            text = _applied(rule, text, put(name))
    return text


def value_without_personal(
    value: Any, names: Collection[str], put: Callable[[str], str] = marked
) -> Any:
    """The same for every text and number in a JSON value, names of members too."""
    if isinstance(value, str):
        return without_personal(value, names, put)
    if isinstance(value, list):
        return [value_without_personal(item, names, put) for item in value]
    if isinstance(value, Mapping):
        return {
            without_personal(key, names, put): value_without_personal(item, names, put)
            for key, item in value.items()
        }
    if isinstance(value, int) and not isinstance(value, bool):
        written = str(value)
        cleaned = without_personal(written, names, put)
        return value if cleaned == written else cleaned
    return value


@dataclass(frozen=True)
class PersonalSetting:
    """What is to be taken out: what ``rules`` find, and the names of ``persons``. A name is found
    as whole words, in any case and with any blanks between them."""

    rules: tuple[str, ...] = ()
    persons: tuple[str, ...] = ()

    @classmethod
    def from_env(cls, env: Mapping[str, str]) -> tuple[Self, list[Problem]]:
        """By ``DCF_PII``, the names of rules between commas, and ``DCF_PII_NAMES``, a file with
        the name of a person in each line (``#`` begins a comment); and all that is wrong there."""
        rules = tuple(name for one in env.get("DCF_PII", "").split(",") if (name := one.strip()))
        problems = [replace(one, file="DCF_PII") for one in personal_rule_problems(rules)]
        file = env.get("DCF_PII_NAMES")
        try:
            text = read_regular(Path(file)).decode("utf-8-sig") if file else ""
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not UTF-8"
            hint = "name a text file with one name in a line, or unset DCF_PII_NAMES"
            problem = Problem("PERSONAL_NAMES_UNREADABLE", f"{file} cannot be read: {reason}")
            return cls(rules), [*problems, replace(problem, hint=hint, file="DCF_PII_NAMES")]
        lines = (line.strip() for line in text.splitlines())
        return cls(rules, tuple(one for one in lines if one and one[0] != "#")), problems

    def without(self, text: str) -> str:
        """``text`` with a mark in place of each.

        >>> PersonalSetting(persons=("Ann Lee",)).without("ANN  LEE says so")
        '[redacted: name] says so'
        """
        text = without_personal(text, self.rules)
        if self._persons is None:
            return text
        if is_json(text):
            return in_json(text, lambda one, _: self._without_persons(one))
        return str(self._persons.sub(marked("name"), text))

    def _without_persons(self, value: Any) -> Any:
        assert self._persons is not None
        return self._persons.sub(marked("name"), value) if isinstance(value, str) else value

    @cached_property
    def _persons(self) -> regex.Pattern[str] | None:
        # The longest first: of "Ann" and "Ann Lee" both are meant where the second stands.
        names = sorted({" ".join(one.split()) for one in self.persons} - {""}, key=len)[::-1]
        if not names:
            return None
        forms = (r"\s+".join(regex.escape(word) for word in one.split(" ")) for one in names)
        return regex.compile(rf"(?<!\w)(?:{'|'.join(forms)})(?!\w)", regex.IGNORECASE)


def _applied(rule: _Rule, text: str, stand_in: str) -> str:
    for form in rule.forms:
        text = form.sub(lambda hit: stand_in if rule.holds(hit[0]) else hit[0], text)
    return text
