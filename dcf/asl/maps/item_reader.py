"""ItemReader: which objects hold the items of a Map, and how their bytes become items."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

from dcf.asl.effect import ObjectRef, ReadItems
from dcf.asl.errors import ITEM_READER_FAILED, PlainError
from dcf.asl.maps.item_format import ItemFormat, Members
from dcf.asl.maps.item_manifest import read_manifest
from dcf.asl.maps.unpacking import unpack
from dcf.asl.payload import JSON
from dcf.asl.scope import Expression, Scope
from dcf.asl.visit import ItemsRead

MAX_ITEMS = 100_000_000
"""Most items that one Map takes from a reader (a Step Functions limit)."""


@dataclass(frozen=True, slots=True)
class ItemReader:
    """``arguments`` gives {Bucket, Key} or, with ``lists``, {Bucket, Prefix}.

    ``format`` None: the listing itself holds the items, or ``manifest`` says where they are.
    A listing with a format: the items are in the listed objects.
    """

    arguments: Expression
    lists: bool = False
    format: ItemFormat | None = None
    manifest: str | None = None
    max_items: Expression | None = None

    def request(self, scope: Scope) -> ReadItems:
        """What to read first. Raises EvaluationError."""
        given = self.arguments(scope)
        bucket = _text(given, "Bucket")
        if self.lists:
            return ReadItems((), (bucket, _text(given, "Prefix", "")))
        version = given.get("VersionId") if isinstance(given, dict) else None
        return ReadItems((ObjectRef(bucket, _text(given, "Key"), version),))

    def items(self, scope: Scope, event: ItemsRead) -> list[JSON] | ReadItems:
        """The items in what was read, or what else to read. Raises EvaluationError."""
        request = event.request
        if request.listing is not None:
            entries: list[JSON] = [dict(entry) for entry in event.listing]
            return self._listed(scope, request.listing[0], entries)
        if self.manifest is not None and request.manifest is None:
            files, manifest = read_manifest(self.manifest, event.contents[0], request.objects[0])
            return ReadItems(files, manifest=manifest)
        format = self._format(request)
        found = [format.parse(content) for content in unpack(event.contents)]
        keyed = bool(found) and all(isinstance(items, Members) for items in found)
        items = chain.from_iterable(found)
        return self._limited(scope, Members(items) if keyed else list(items))

    def _listed(self, scope: Scope, bucket: str, entries: list[JSON]) -> list[JSON] | ReadItems:
        if self.format is None:
            return self._limited(scope, entries)
        keys = (entry.get("Key") for entry in entries)
        return ReadItems(tuple(ObjectRef(bucket, key) for key in keys if isinstance(key, str)))

    def _format(self, request: ReadItems) -> ItemFormat:
        if self.format is not None:
            return self.format
        manifest = request.manifest if isinstance(request.manifest, dict) else {}
        return ItemFormat("CSV", headers=tuple(manifest.get("headers") or ()))

    def _limited(self, scope: Scope, items: list[JSON]) -> list[JSON]:
        limit = 0 if self.max_items is None else int(self.max_items(scope))
        if limit < 0:
            raise PlainError(ITEM_READER_FAILED, "field MaxItems must be positive")
        del items[min(limit or MAX_ITEMS, MAX_ITEMS) :]
        return items


def _text(given: JSON, field: str, default: str | None = None) -> str:
    value = given.get(field, default) if isinstance(given, dict) else None
    if not isinstance(value, str):
        raise PlainError(ITEM_READER_FAILED, f"The ItemReader needs the name of its {field}.")
    return value
