"""``ItemReader`` of a Map, read into its parsed form."""

from __future__ import annotations

from dcf.asl.dataflow import read_template
from dcf.asl.jsonata.flow import read_object
from dcf.asl.maps.item_format import DELIMITERS, ItemFormat
from dcf.asl.maps.item_manifest import KINDS
from dcf.asl.maps.item_reader import MAX_ITEMS, ItemReader
from dcf.asl.payload import JSON, excerpt
from dcf.asl.reading.fields import check_fields, check_language_fields
from dcf.asl.reading.findings import child
from dcf.asl.reading.node import OUT_OF_RANGE, WRONG_TYPE, Node
from dcf.asl.reading.typed_field import read_amount
from dcf.asl.scope import Expression, constant

_FIELDS = frozenset({"Resource", "ReaderConfig", "Parameters", "Arguments", "Comment"})
_CONFIG = frozenset(
    {"InputType", "MaxItems", "MaxItemsPath", "CSVHeaderLocation", "CSVHeaders", "CSVDelimiter"}
    | {"ItemsPointer", "ManifestType", "Transformation", "Comment"}
)
INPUT_TYPES = ("CSV", "JSON", "JSONL", "PARQUET", "MANIFEST")


def read_item_reader(map_node: Node, jsonata: bool) -> ItemReader | None:
    """The ``ItemReader`` of a Map; problems go to its findings."""
    node = map_node.node("ItemReader")
    if node is None:
        return None
    arguments = "Arguments" if jsonata else "Parameters"
    check_language_fields(node, jsonata, {"Parameters"}, {"Arguments"})
    check_fields(node, _FIELDS, "an ItemReader")
    node.text("Comment")
    lists = _read_resource(node)
    config = node.node("ReaderConfig") or Node({}, node.place("ReaderConfig"), node.findings)
    check_language_fields(config, jsonata, {"MaxItemsPath"}, ())
    check_fields(config, _CONFIG, "`ReaderConfig`")
    config.text("Comment")
    input_type = config.choice("InputType", INPUT_TYPES)
    if input_type == "PARQUET":
        message = "Parquet is read on AWS, not here: a run of this Map fails"
        config.warning("ASL_PARQUET_UNREAD", "InputType", message, "use CSV or JSONL")
    loads = config.choice("Transformation", ("NONE", "LOAD_AND_FLATTEN")) == "LOAD_AND_FLATTEN"
    manifest = config.choice("ManifestType", KINDS)
    # An inventory says itself what its files are; `MANIFEST` is the older way to ask for one.
    inventory = manifest == "S3_INVENTORY"
    if inventory and input_type not in (None, "MANIFEST"):
        message = "an inventory of S3 is read as it says itself: `InputType` does not go with it"
        config.error("ASL_FIELD_CLASH", "InputType", message, "remove `InputType`")
    if "InputType" not in config and (loads or not lists) and not inventory:
        config.missing("InputType", "`InputType` is missing", "write for example `JSON`")
    if input_type == "MANIFEST":
        manifest = manifest or "S3_INVENTORY"
    return ItemReader(
        arguments=_read_arguments(node, arguments, jsonata),
        lists=lists,
        format=_read_format(config, input_type) if loads or not lists else None,
        manifest=manifest,
        # At run time a number over the maximum is accepted, and the reader reports a negative one.
        max_items=read_amount(config, "MaxItems", jsonata, 0, MAX_ITEMS, within=False),
    )


def _read_resource(node: Node) -> bool:
    """Whether the reader lists objects rather than reading one."""
    resource = node.text("Resource", filled=True)
    if "Resource" not in node:
        hint = "write `arn:aws:states:::s3:getObject`"
        node.missing("Resource", "an ItemReader needs `Resource`", hint)
    if resource is None or resource.endswith(":s3:getObject") or "${" in resource:
        return False
    if not resource.endswith(":s3:listObjectsV2"):
        hint = "use `arn:aws:states:::s3:getObject` or `arn:aws:states:::s3:listObjectsV2`"
        node.error(OUT_OF_RANGE, "Resource", f"no ItemReader reads from `{resource}`", hint)
    return True


def _read_arguments(node: Node, field: str, jsonata: bool) -> Expression:
    read = read_object(node, field) if jsonata else read_template(node, field)
    if field not in node:
        hint = "say in which `Bucket` the items are, and under which `Key` or `Prefix`"
        node.missing(field, f"`{field}` is missing", hint)
    return read if read is not None else constant({})


def _read_headers(config: Node) -> list[JSON] | None:
    headers = config.array("CSVHeaders")
    if headers == []:
        message = "`CSVHeaders` is empty"
        config.error(OUT_OF_RANGE, "CSVHeaders", message, "name the columns")
    for index, name in enumerate(headers or ()):
        if not isinstance(name, str):
            place = child(config.place("CSVHeaders"), index)
            message = f"the name of a column is a string, found {excerpt(name)}"
            aws = "Expected value of type [STRING]"
            config.findings.error(WRONG_TYPE, place, message, "write it in quotes", aws)
    return headers


def _read_format(config: Node, input_type: str | None) -> ItemFormat | None:
    location = config.choice("CSVHeaderLocation", ("FIRST_ROW", "GIVEN"))
    headers = _read_headers(config)
    delimiter = config.choice("CSVDelimiter", tuple(DELIMITERS))
    pointer = config.text("ItemsPointer") or ""
    if location == "GIVEN" and headers is None:
        hint = "name the columns, or set `CSVHeaderLocation` to `FIRST_ROW`"
        config.missing("CSVHeaders", "`CSVHeaders` is missing", hint)
    if pointer and not pointer.startswith("/"):
        hint = "write for example `/orders/items`"
        config.error(OUT_OF_RANGE, "ItemsPointer", f"`{pointer}` is no JSON pointer", hint)
    if input_type not in ("CSV", "JSON", "JSONL", "PARQUET"):
        return None
    names = tuple(str(name) for name in headers or ()) if location == "GIVEN" else None
    return ItemFormat(input_type, names, DELIMITERS[delimiter or "COMMA"], pointer)
