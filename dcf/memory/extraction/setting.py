"""Whether workers have a model find observations by themselves, and what that may take, as the
environment says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dcf.memory.errors import MemoryProblem
from dcf.memory.extraction.queue import MOST
from dcf.memory.extraction.spending import Limits

_ON = ("on", "off")
_LARGEST = 10**12


class BadExtractionSetting(MemoryProblem):
    """{name} is {value!r}, not {wanted}."""

    code = "memory_extraction_setting"
    hint = "leave it unset for the default"


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
        BadExtractionSetting."""
        mode = (environment.get("DCF_EXTRACT") or "off").lower()
        if mode not in _ON:
            wanted = " or ".join(_ON)
            raise BadExtractionSetting(name="DCF_EXTRACT", value=mode, wanted=wanted)
        usual = Limits()
        limits = Limits(
            _number(environment, "DCF_EXTRACT_HOUR", usual.hour_tokens),
            _number(environment, "DCF_EXTRACT_DAY", usual.day_tokens),
            _number(environment, "DCF_EXTRACT_RATE", usual.minute_requests),
        )
        return cls(mode == "on", limits, _number(environment, "DCF_EXTRACT_QUEUE", MOST))


def _number(environment: Mapping[str, str], name: str, default: int) -> int:
    text = (environment.get(name) or str(default)).strip()
    if not (text.isascii() and text.isdecimal() and len(text) < 14 and 0 < int(text) <= _LARGEST):
        wanted = f"a whole number from 1 to {_LARGEST:,}"
        raise BadExtractionSetting(name=name, value=text, wanted=wanted)
    return int(text)
