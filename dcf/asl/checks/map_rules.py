"""How a Map runs its items: inline or distributed, and what only a distributed one may have."""

from __future__ import annotations

from dcf.asl.checks.reference_paths import check_reference_paths
from dcf.asl.reading.fields import check_exclusive, check_fields
from dcf.asl.reading.node import Node

DISTRIBUTED_FIELDS = (
    "ItemReader",
    "ItemBatcher",
    "ResultWriter",
    "Label",
)
"""Fields of a Map whose iterations are executions of their own. ToleratedFailureCount and
ToleratedFailurePercentage are not among them: the specification allows them in every Map, and AWS's
own examples have them in inline ones."""

_CONFIG_FIELDS = frozenset({"Mode", "ExecutionType"})


def processor_config(node: Node) -> tuple[str, str]:
    """Mode and execution type that a Map asks for; ``("INLINE", "")`` where it says nothing."""
    processor = node.value.get("ItemProcessor", node.value.get("Iterator"))
    config = processor.get("ProcessorConfig") if isinstance(processor, dict) else None
    if not isinstance(config, dict):
        return "INLINE", ""
    mode, execution_type = config.get("Mode", "INLINE"), config.get("ExecutionType", "")
    return str(mode), str(execution_type)


def check_distribution(node: Node) -> None:
    """Report each field of the Map ``node`` that needs a distributed one, when it is inline."""
    mode, _ = processor_config(node)
    if mode != "INLINE":
        return
    for field in DISTRIBUTED_FIELDS:
        if field in node:
            message = f"`{field}` belongs to a distributed Map, and this one is inline"
            hint = 'write `"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": …}`'
            aws = f"Field '{field}' is not supported"
            node.error("ASL_NOT_DISTRIBUTED", field, message, hint, aws)


def check_map_fields(node: Node, jsonata: bool) -> None:
    """Report what excludes another in the parts of a Map, and paths that may select several."""
    config = _reader_config(node)
    for part in (node.node("ItemBatcher"), config):
        if part is not None:
            check_exclusive(part, jsonata)
            check_reference_paths(part)
    if config is not None:
        _check_headers(config)


def _reader_config(node: Node) -> Node | None:
    reader = node.value.get("ItemReader")
    if not isinstance(reader, dict):
        return None
    return Node(reader, node.place("ItemReader"), node.findings).node("ReaderConfig")


def _check_headers(config: Node) -> None:
    kind = config.value.get("InputType")
    if kind == "CSV" and "CSVHeaderLocation" not in config:
        hint = "write `FIRST_ROW`, or `GIVEN` with `CSVHeaders`"
        aws = "The field 'CSVHeaderLocation' is required"
        config.error("ASL_MISSING_FIELD", "", "CSV needs `CSVHeaderLocation`", hint, aws)
    if kind == "JSON" and "CSVHeaderLocation" in config:
        message = "`CSVHeaderLocation` belongs to CSV, and this reader reads JSON"
        aws = "Field 'CSVHeaderLocation' is not supported"
        config.error("ASL_FIELD_CLASH", "CSVHeaderLocation", message, "leave it out", aws)


def check_processor_config(processor: Node, express: bool) -> None:
    """Report what is wrong with the ``ProcessorConfig`` of an item processor."""
    config = processor.node("ProcessorConfig")
    if config is None:
        return
    check_fields(config, _CONFIG_FIELDS, "`ProcessorConfig`")
    mode = config.choice("Mode", ("INLINE", "DISTRIBUTED"))
    config.choice("ExecutionType", ("STANDARD", "EXPRESS"))
    if mode == "INLINE" and "ExecutionType" in config:
        message = "`ExecutionType` belongs to a distributed Map, and this one is inline"
        aws = "Field 'ExecutionType' is not supported"
        hint = "leave it out, or set `Mode` to `DISTRIBUTED`"
        config.error("ASL_NOT_DISTRIBUTED", "ExecutionType", message, hint, aws)
    if mode == "DISTRIBUTED" and "ExecutionType" not in config:
        hint = "write `STANDARD` or `EXPRESS`"
        config.missing("ExecutionType", "`ExecutionType` is missing", hint)
    if mode == "DISTRIBUTED" and express:
        message = "an EXPRESS state machine has no distributed Maps"
        aws = (
            "The field 'Mode' with value 'DISTRIBUTED' is not supported inside 'EXPRESS' state"
            " machines"
        )
        hint = "use a STANDARD machine, or `INLINE`"
        config.error("ASL_EXPRESS_UNSUPPORTED", "Mode", message, hint, aws)
