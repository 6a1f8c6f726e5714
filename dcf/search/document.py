"""What is searched: documents with named fields, and how much each field counts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Document:
    """``fields`` are searched by words. ``views`` are texts that say what the document is about,
    each embedded as a whole: ``(everything, the gist)``. The first says how long it is."""

    id: str
    fields: Mapping[str, str]
    views: tuple[str, ...]

    @property
    def digest(self) -> str:
        """Of all that is indexed."""
        return _digest([dict(self.fields), self.views])

    @property
    def views_digest(self) -> str:
        """Of what is embedded: documents with the same views share one vector."""
        return _digest(self.views)


@dataclass(frozen=True, slots=True)
class Shape:
    """The form of all documents of one index: how much a word counts in each field (1 is as it
    stands), and how much each view counts. ``name`` is the field that holds what a document is
    called, if there is one."""

    fields: Mapping[str, float]
    views: tuple[float, ...]
    name: str | None = None

    @property
    def digest(self) -> str:
        return _digest([dict(self.fields), self.views, self.name])


def _digest(value: object) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    # Half surrogates, as a JSON manifest may hold them, are no UTF-8; they count all the same.
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
