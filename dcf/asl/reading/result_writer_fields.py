"""``ResultWriter`` of a Map, read into its parsed form."""

from __future__ import annotations

from dcf.asl.dataflow import read_template
from dcf.asl.jsonata.flow import read_object
from dcf.asl.maps.result_writer import OUTPUT_TYPES, TRANSFORMATIONS, ResultWriter
from dcf.asl.reading.fields import check_fields, check_language_fields
from dcf.asl.reading.node import OUT_OF_RANGE, Node
from dcf.asl.scope import constant

_FIELDS = frozenset({"Resource", "WriterConfig", "Parameters", "Arguments", "Comment"})


def read_result_writer(map_node: Node, jsonata: bool) -> ResultWriter | None:
    """The ``ResultWriter`` of a Map; problems go to its findings."""
    node = map_node.node("ResultWriter")
    if node is None:
        return None
    field = "Arguments" if jsonata else "Parameters"
    check_language_fields(node, jsonata, {"Parameters"}, {"Arguments"})
    check_fields(node, _FIELDS, "a ResultWriter")
    node.text("Comment")
    config = node.node("WriterConfig") or Node({}, node.place("WriterConfig"), node.findings)
    check_fields(config, frozenset({"Transformation", "OutputType"}), "`WriterConfig`")
    transformation = config.choice("Transformation", TRANSFORMATIONS)
    output_type = config.choice("OutputType", OUTPUT_TYPES)
    resource = node.text("Resource", filled=True)
    if resource is not None and not resource.endswith(":s3:putObject"):
        hint = "use `arn:aws:states:::s3:putObject`"
        node.error(OUT_OF_RANGE, "Resource", f"no ResultWriter writes to `{resource}`", hint)
    if resource is None and not config.value and "Resource" not in node:
        hint = "say where the results go in `Resource`, or how they look in `WriterConfig`"
        node.missing("Resource", "a ResultWriter needs `Resource`", hint)
    arguments = read_object(node, field) if jsonata else read_template(node, field)
    if resource is None:
        return ResultWriter(None, transformation or "COMPACT", output_type or "JSON")
    if field not in node:
        node.missing(field, f"`{field}` is missing", "name the `Bucket`")
    return ResultWriter(arguments or constant({}), transformation or "NONE", output_type or "JSON")
