"""Whether workers have a model find observations by themselves, and what that may take, as the
environment says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dcf.memory.errors import WrongVariables
from dcf.memory.extraction.queue import MOST
from dcf.memory.extraction.spending import Limits
from dcf.memory.setting import whole_number

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

        def number(name: str, default: int) -> int:
            return whole_number(environment, name, default, wrong, least=1, most=_LARGEST)

        usual = Limits()
        limits = Limits(
            number("DCF_EXTRACT_HOUR", usual.hour_tokens),
            number("DCF_EXTRACT_DAY", usual.day_tokens),
            number("DCF_EXTRACT_RATE", usual.minute_requests),
        )
        most = number("DCF_EXTRACT_QUEUE", MOST)
        if wrong:
            raise BadExtractionSetting(wrong)
        return cls(mode == "on", limits, most)
