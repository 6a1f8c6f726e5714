"""Reading the guidelines for a Conductor from JSON that anybody may have written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

from dcf.advisors.reflector.given_json import read_given
from dcf.advisors.strategist.errors import InvalidStrategistGuidelines
from dcf.advisors.strategist.guidelines import StrategistGuidelines, Withdrawn
from dcf.advisors.strategist.remark import Advice, Followed, Remark
from dcf.advisors.strategist.shape import misfits, root_of
from dcf.guidelines import iso
from dcf.problem import Problem

PREFIX = "GUIDELINE"
_TIMES = ("timestamp", "last_evidence_at", "expires_at")
_REMARK = {"text", "confidence", "evidence", "advice", "followed", *_TIMES}
_DOCUMENT = {field.name for field in fields(StrategistGuidelines)} - {"more"}


def read_strategist_guidelines(text: str) -> StrategistGuidelines:
    """The guidelines in a text; of an empty one, guidelines that say nothing. Both of the shapes
    that there were are read: with ``updated_at`` and ``update_count``, and with ``last_updated``
    and without ``model_selection``.

    Raises InvalidStrategistGuidelines with all that is wrong.
    """
    if not text.strip():
        return StrategistGuidelines()
    return parse_guidelines(json_of(text))


def json_of(text: str, name: str = "the document") -> Any:
    """The value in ``text``, which is called ``name``. Raises InvalidStrategistGuidelines where
    there is none that can be kept."""
    wrong: list[str] = []
    value = read_given(name, text, wrong)
    if wrong:
        raise InvalidStrategistGuidelines(
            [Problem("GUIDELINE_JSON", one, hint="pass a JSON text") for one in wrong]
        )
    return value


def parse_guidelines(document: Any) -> StrategistGuidelines:
    """The guidelines in a JSON object; members that are not ours are kept. Raises
    InvalidStrategistGuidelines."""
    problems = misfits(root_of(document), "guidelines", PREFIX)
    if not problems:
        problems = [*_time_problems(document), *_scaling_problems(document)]
    if problems:
        raise InvalidStrategistGuidelines(problems)
    updated = document.get("updated_at", document.get("last_updated"))
    return StrategistGuidelines(
        recommendations=tuple(map(_remark, document.get("recommendations", ()))),
        skill_preferences=dict(document.get("skill_preferences", {})),
        companion_preferences=dict(document.get("companion_preferences", {})),
        companion_scaling=dict(document.get("companion_scaling", {})),
        model_selection=dict(document.get("model_selection", {})),
        warnings=tuple(map(_remark, document.get("warnings", ()))),
        withdrawn=tuple(
            Withdrawn(one["id"], _moment(one["at"]) or 0, one["why"])
            for one in document.get("withdrawn", ())
        ),
        revision=document.get("revision", 0),
        update_count=document.get("update_count", 0),
        updated_at=_moment(updated),
        more={
            name: value
            for name, value in document.items()
            if name not in _DOCUMENT | {"last_updated"}
        },
    )


def _remark(document: Any) -> Remark:
    if isinstance(document, str):
        return Remark(document)
    advice, followed = document.get("advice"), document.get("followed")
    return Remark(
        text=document["text"],
        at=_moment(document.get("timestamp")),
        confidence=document.get("confidence"),
        evidence=document.get("evidence"),
        advice=Advice.from_json(advice) if advice is not None else None,
        last_evidence_at=_moment(document.get("last_evidence_at")),
        expires_at=_moment(document.get("expires_at")),
        followed=Followed.from_json(followed) if followed is not None else None,
        more={name: value for name, value in document.items() if name not in _REMARK},
    )


def _scaling_problems(document: Mapping[str, Any]) -> list[Problem]:
    scaling = document.get("companion_scaling", {})
    least, most = scaling.get("min_companions", 0), scaling.get("max_companions", 1_000)
    if least <= most:
        return []
    message = f"at least {least} companions, but at most {most}"
    hint = "raise max_companions, or lower min_companions"
    return [Problem("GUIDELINE_SCALING", message, "/companion_scaling/min_companions", hint)]


def _time_problems(document: Mapping[str, Any]) -> list[Problem]:
    times = [(f"/{name}", document.get(name)) for name in ("updated_at", "last_updated")]
    for name, members in (
        ("recommendations", _TIMES),
        ("warnings", _TIMES),
        ("withdrawn", ("at",)),
    ):
        times += [
            (f"/{name}/{index}/{member}", one.get(member))
            for index, one in enumerate(document.get(name, ()))
            if isinstance(one, Mapping)
            for member in members
        ]
    return [
        Problem("GUIDELINE_VALUE", f"{value!r} is no ISO 8601 time", path)
        for path, value in times
        if value is not None and _moment(value) is None
    ]


def _moment(value: Any) -> int | None:
    """Milliseconds since the epoch; a time without its zone is one of UTC."""
    try:
        moment = datetime.fromisoformat(value)
        at = round(moment.replace(tzinfo=moment.tzinfo or UTC).timestamp() * 1000)
        # At either end of the calendar there are times that only their own zone can write.
        iso(at)
    except (TypeError, ValueError, OverflowError):
        return None
    return at
