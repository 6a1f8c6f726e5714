"""Whether workers have a model find observations by themselves, and what that may take, as the
environment says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dcf.memory.errors import WrongVariables
from dcf.memory.extraction.queue import MOST
from dcf.memory.extraction.spending import Limits

_ON = ("on", "off")
_LARGEST = 10**12


class BadExtractionSetting(WrongVariables):
    """{text}."""

    code = "memory_extraction_setting"


@dataclass(frozen=True, slots=True)
class ExtractionSetting:
    """``is_on``: workers queue what ended and work through the queue. At most ``most`` events are
    open at a time."""

    is_on: bool = False
    limits: Limits = field(default_factory=Limits)
    most: int = MOST

    @classmethod
    def from_env(cls, environment: Mapping[str, str]) -> ExtractionSetting:
        """``DCF_EXTRACT`` and its ``_HOUR``, ``_DAY``, ``_RATE`` and ``_QUEUE``. Raises
        BadExtractionSetting with all that is wrong."""
        wrong: dict[str, str] = {}
        mode = (environment.get("DCF_EXTRACT") or "off").lower()
        if mode not in _ON:
            wrong["DCF_EXTRACT"] = f"is {mode!r}, not {' or '.join(_ON)}"
        usual = Limits()
        limits = Limits(
            _number(environment, "DCF_EXTRACT_HOUR", usual.hour_tokens, wrong),
            _number(environment, "DCF_EXTRACT_DAY", usual.day_tokens, wrong),
            _number(environment, "DCF_EXTRACT_RATE", usual.minute_requests, wrong),
        )
        most = _number(environment, "DCF_EXTRACT_QUEUE", MOST, wrong)
        if wrong:
            raise BadExtractionSetting(wrong)
        return cls(mode == "on", limits, most)


def _number(environment: Mapping[str, str], name: str, default: int, wrong: dict[str, str]) -> int:
    """The number that a variable says; of one that is wrong the default, and it is noted."""
    text = (environment.get(name) or str(default)).strip()
    if text.isascii() and text.isdecimal() and len(text) < 14 and 0 < int(text) <= _LARGEST:
        return int(text)
    wrong[name] = f"is {text!r}, not a whole number from 1 to {_LARGEST:,}"
    return default
