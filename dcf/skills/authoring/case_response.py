"""What a case answers when it succeeds."""

from __future__ import annotations

import json
from collections.abc import Iterator

from dcf.skills.authoring.place import Place


def answers(place: Place) -> Iterator[tuple[Place, object]]:
    """The answer of a case or step, with where it was written; nothing when it has none.

    What a failing call says is free: the result schema is of successes.
    """
    if place.text("errorMode") not in (None, "flaky"):
        return
    response, template = place.member("response"), place.member("responseTemplate")
    if response:
        yield response, response.value
    elif template and isinstance(template.value, str):
        yield template, template_value(template.value)


def template_value(text: str) -> object:
    """What a responseTemplate answers before placeholders are filled in: JSON, else the text."""
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value
