"""A Map of a definition, read into its parsed form."""

from __future__ import annotations

from dcf.asl.dataflow import read_path, read_template
from dcf.asl.jsonata.flow import read_jsonata
from dcf.asl.maps.item_batcher import read_batcher
from dcf.asl.memory_policy import read_memory
from dcf.asl.reading.item_reader_fields import read_item_reader
from dcf.asl.reading.node import Node
from dcf.asl.reading.result_writer_fields import read_result_writer
from dcf.asl.reading.state_parts import Parts
from dcf.asl.reading.typed_field import read_amount, read_expected
from dcf.asl.retrier import LARGEST
from dcf.asl.scope import Expression
from dcf.asl.state import MapState


def read_map(parts: Parts) -> MapState:
    node, jsonata = parts.node, parts.jsonata
    for new, old in (("ItemProcessor", "Iterator"), ("ItemSelector", "Parameters")):
        if new in node and old in node:
            message = f"`{old}` is the old name of `{new}`: only one of them may stand here"
            node.error("ASL_FIELD_CLASH", old, message, f"keep `{new}`", fields=(new, old))
    if "ItemProcessor" not in node and "Iterator" not in node:
        hint = "give it a machine with `StartAt` and `States`"
        node.missing("ItemProcessor", "a Map needs `ItemProcessor`", hint)
    inner = node.node("ItemProcessor" if "ItemProcessor" in node else "Iterator")
    return MapState(
        **parts.common,
        memory=read_memory(node, is_task=False),
        processor=None if inner is None else parts.read_machine(inner, True),
        items=_read_items(node, inner) if jsonata else read_path(node, "ItemsPath"),
        items_text=str(node.value.get("ItemsPath", "$")),
        item_selector=_read_selector(node, jsonata),
        max_concurrency=read_amount(node, "MaxConcurrency", jsonata, 0, LARGEST),
        tolerated_count=read_amount(node, "ToleratedFailureCount", jsonata, 0, LARGEST),
        tolerated_percentage=read_amount(
            node, "ToleratedFailurePercentage", jsonata, 0, 100, fraction=True
        ),
        is_distributed=_is_distributed(inner),
        label=node.text("Label"),
        reader=read_item_reader(node, jsonata),
        batcher=read_batcher(node, jsonata),
        writer=read_result_writer(node, jsonata),
    )


def _read_items(node: Node, processor: Node | None) -> Expression | None:
    """An array, and for a distributed Map also an object. An inline Map with an object gets as far
    as to run, and fails there, in Step Functions too."""
    value = node.value.get("Items")
    if isinstance(value, str):
        kinds = ("array", "object") if _is_distributed(processor) else ("array",)
        return read_expected(node, "Items", *kinds)
    if "Items" in node and not isinstance(value, (list, dict)):
        node.wrong_type("Items", "an array, or JSONata that gives one")
        return None
    return read_jsonata(node, "Items")


def _read_selector(node: Node, jsonata: bool) -> Expression | None:
    if jsonata:
        return read_jsonata(node, "ItemSelector")
    return read_template(node, "ItemSelector" if "ItemSelector" in node else "Parameters")


def _is_distributed(processor: Node | None) -> bool:
    config = None if processor is None else processor.value.get("ProcessorConfig")
    return isinstance(config, dict) and config.get("Mode") == "DISTRIBUTED"
