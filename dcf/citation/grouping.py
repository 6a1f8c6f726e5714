"""Which segments of a path are what: also where an id has slashes that should have been encoded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dcf.citation.form import Form, form_of, forms_of


@dataclass(frozen=True, slots=True)
class Grouped:
    """What stands, as it is written, where a form has its id, and where it has the part's value."""

    form: Form
    id: str
    value: str | None = None

    @property
    def ids(self) -> list[str]:
        """Those that are ids: the value may be a number."""
        return [self.id] if self.value is None or self.form.takes != "id" else [self.id, self.value]


def grouped(kind: str, segments: Sequence[str]) -> Grouped | None:
    """The segments behind ``kind``, by the one form that they have or nearly have; None where that
    would be a guess."""
    # A slash at the end says nothing in a URL.
    kept = segments[:-1] if segments and not segments[-1] else segments
    if not kept:
        return None
    if len(kept) >= 3:
        return _as_part(kind, kept) or _as_whole(kind, kept)
    return _as_whole(kind, kept)


def _as_part(kind: str, segments: Sequence[str]) -> Grouped | None:
    first, last = form_of(kind, segments[1]), form_of(kind, segments[-2])
    if first is not None and (first.takes == "id" or len(segments) == 3):
        return Grouped(first, segments[0], "/".join(segments[2:]))
    return None if last is None else Grouped(last, "/".join(segments[:-2]), segments[-1])


def _as_whole(kind: str, segments: Sequence[str]) -> Grouped | None:
    form = form_of(kind, None)
    # What has parts was more likely meant with one, whose name is wrong.
    if form is None or (len(segments) > 1 and len(forms_of(kind)) > 1):
        return None
    return Grouped(form, "/".join(segments))
