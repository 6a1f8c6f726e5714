"""ItemBatcher: several items for one iteration of a Map."""

from __future__ import annotations

from dataclasses import dataclass

from dcf.asl.dataflow import read_template
from dcf.asl.jsonata.flow import read_jsonata
from dcf.asl.payload import JSON, PAYLOAD_LIMIT, size
from dcf.asl.reading.fields import check_fields, check_language_fields
from dcf.asl.reading.node import Node
from dcf.asl.reading.typed_field import read_amount
from dcf.asl.scope import Expression, Scope

MAX_BATCH_ITEMS = 100_000_000


@dataclass(frozen=True, slots=True)
class ItemBatcher:
    """At most ``max_items`` items and ``max_bytes`` of input for each iteration.

    0 is no limit. ``batch_input`` is put beside the items of every batch.
    """

    max_items: Expression | None = None
    max_bytes: Expression | None = None
    batch_input: Expression | None = None

    def batches(self, scope: Scope, items: list[JSON]) -> list[JSON]:
        """``items`` as inputs {BatchInput, Items} of the iterations. Raises EvaluationError.

        An item that alone is larger than ``max_bytes`` has a batch for itself.
        """
        # A limit of 0 is none: no batch is full with 0 items, and without a limit of bytes a batch
        # is as large as an input may be.
        most = int(self.max_items(scope)) if self.max_items is not None else MAX_BATCH_ITEMS
        room = int(self.max_bytes(scope)) if self.max_bytes is not None else 0
        room = room or PAYLOAD_LIMIT
        start: dict[str, JSON] = {}
        if self.batch_input is not None:
            start["BatchInput"] = self.batch_input(scope)
        empty = size({**start, "Items": []})
        batches: list[JSON] = []
        current: list[JSON] = []
        used = empty
        for item in items:
            more = size(item)
            # A comma stands before every item but the first.
            if current and (len(current) == most or used + 1 + more > room):
                batches.append({**start, "Items": current})
                current, used = [], empty
            used += more + (1 if current else 0)
            current.append(item)
        if current:
            batches.append({**start, "Items": current})
        return batches


_LIMITS = ("MaxItemsPerBatch", "MaxInputBytesPerBatch")
_PATHS = ("MaxItemsPerBatchPath", "MaxInputBytesPerBatchPath")
_FIELDS = frozenset({*_LIMITS, *_PATHS, "BatchInput", "Comment"})


def read_batcher(map_node: Node, jsonata: bool) -> ItemBatcher | None:
    """The ``ItemBatcher`` of a Map; problems go to its findings."""
    node = map_node.node("ItemBatcher")
    if node is None:
        return None
    check_language_fields(node, jsonata, _PATHS, ())
    check_fields(node, _FIELDS, "an ItemBatcher")
    node.text("Comment")
    if not any(field in node for field in (*_LIMITS, *_PATHS)):
        hint = "say how many items, or how many bytes, a batch may have"
        node.error("ASL_MISSING_FIELD", "", "an ItemBatcher needs a limit", hint)
    return ItemBatcher(
        read_amount(node, _LIMITS[0], jsonata, 0, MAX_BATCH_ITEMS),
        read_amount(node, _LIMITS[1], jsonata, 0, PAYLOAD_LIMIT),
        read_jsonata(node, "BatchInput") if jsonata else read_template(node, "BatchInput"),
    )
