"""ItemReader: objects become the items of a Map."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest
from asl_builders import enter, machine_of, parsed, run, visit_of
from hypothesis import given
from hypothesis import strategies as st

from dcf.asl import (
    Execution,
    Failure,
    ItemsRead,
    ItemsUnreadable,
    MemoryObjects,
    ObjectRef,
    ReadItems,
    step,
    validate,
)
from dcf.asl.errors import EvaluationError
from dcf.asl.maps.item_format import ItemFormat

PASS = {"Type": "Pass", "End": True}


def reading(config: dict[str, Any], *, lists: bool = False, **fields: Any) -> dict[str, Any]:
    """A Map over what its reader finds in the bucket ``b``."""
    action = "listObjectsV2" if lists else "getObject"
    where = {"Bucket": "b", "Prefix.$": "$.prefix"} if lists else {"Bucket": "b", "Key.$": "$.key"}
    reader = {
        "Resource": f"arn:aws:states:::s3:{action}",
        "Parameters": where,
        **({"ReaderConfig": config} if config else {}),
    }
    processor = {
        **machine_of(P=PASS),
        "ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"},
    }
    return {"Type": "Map", "ItemReader": reader, "ItemProcessor": processor, **fields}


def items_of(config: dict[str, Any], content: bytes | str) -> Any:
    """The items that a Map with this reader finds in an object, or why it fails."""
    content = content.encode() if isinstance(content, str) else content
    found = execute(reading(config), {"b/k": content})
    return found.output if found.status == "SUCCEEDED" else (found.error, found.cause)


def execute(state: dict[str, Any], objects: dict[str, bytes], **input: Any) -> Execution:
    definition = machine_of(M={**state, "End": True})
    return run(definition, {"key": "k", "prefix": "", **input}, objects=MemoryObjects(objects))


def test_a_reader_asks_for_its_object() -> None:
    effect = enter(reading({"InputType": "JSON"}), {"key": "in/orders.json"})

    assert effect == ReadItems((ObjectRef("b", "in/orders.json"),))


def test_the_items_of_a_json_array() -> None:
    assert items_of({"InputType": "JSON"}, '[1, {"a": 2}]') == [1, {"a": 2}]


def test_the_items_at_a_json_pointer() -> None:
    config = {"InputType": "JSON", "ItemsPointer": "/a~1b/0"}

    assert items_of(config, '{"a/b": [[1, 2]]}') == [1, 2]


PAIRS = [{"Key": "a", "Value": 1}, {"Key": "b", "Value": [2]}]


@pytest.mark.parametrize(
    ("config", "items"), [({}, PAIRS), ({"MaxItems": 1}, PAIRS[:1]), ({"ItemsPointer": ""}, PAIRS)]
)
def test_the_items_of_a_json_object_are_its_members(config: Any, items: Any) -> None:
    assert items_of({"InputType": "JSON", **config}, '{"a": 1, "b": [2]}') == items


def test_a_json_pointer_may_lead_to_an_object() -> None:
    config = {"InputType": "JSON", "ItemsPointer": "/o"}

    assert items_of(config, '{"o": {"a": 1, "b": [2]}}') == PAIRS


def test_the_members_of_a_json_object_have_keys() -> None:
    selector = {"key.$": "$$.Map.Item.Key", "value.$": "$$.Map.Item.Value"}
    state = reading({"InputType": "JSON"}, ItemSelector=selector)

    assert execute(state, {"b/k": b'{"a": 1}'}).output == [{"key": "a", "value": 1}]


@pytest.mark.parametrize("step", ["1", "9" * 5_000, "\u00b2", "-1", ""])
def test_a_json_pointer_to_no_element_fails_the_reader(step: str) -> None:
    config = {"InputType": "JSON", "ItemsPointer": f"/{step}"}

    assert items_of(config, "[[1, 2]]")[0] == "States.ItemReaderFailed"


def test_json_lines() -> None:
    assert items_of({"InputType": "JSONL"}, '{"a": 1}\n\n[2]\r\n') == [{"a": 1}, [2]]


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\u0085", "\u000b", "\u001c"])
def test_only_a_newline_ends_a_json_line(separator: str) -> None:
    # JSON texts may hold these as they are, save for the control characters below a space.
    written = json.dumps(separator) if separator < " " else f'"{separator}"'

    assert items_of({"InputType": "JSONL"}, f"{written}\n2\r\n") == [separator, 2]


@pytest.mark.parametrize("value", ["1e999", "-1e999", "NaN", "Infinity", "[" * 101 + "]" * 101])
@pytest.mark.parametrize("kind", ["JSON", "JSONL"])
def test_an_item_that_no_payload_may_be_fails_the_reader(kind: str, value: str) -> None:
    content = f"[0, {value}]" if kind == "JSON" else f"0\n{value}\n"

    assert items_of({"InputType": kind}, content)[0] == "States.ItemReaderFailed"


def test_an_item_may_nest_as_deep_as_can_be_stored_with_its_map() -> None:
    deep = "[" * 98 + "]" * 98
    deeper = f"[{deep}]"

    assert items_of({"InputType": "JSONL"}, deeper)[0] == "States.Runtime"

    assert items_of({"InputType": "JSON"}, f"[{deep}]") == [json.loads(deep)]
    assert items_of({"InputType": "JSONL"}, deep) == [json.loads(deep)]


def test_a_field_of_a_csv_may_be_long() -> None:
    config = {"InputType": "CSV", "CSVHeaderLocation": "FIRST_ROW"}

    assert items_of(config, f"a\n{'x' * 200_000}\n") == [{"a": "x" * 200_000}]


def test_a_csv_with_its_names_in_the_first_row() -> None:
    config = {"InputType": "CSV", "CSVHeaderLocation": "FIRST_ROW"}

    assert items_of(config, 'id,name\n1,"a, b"\n2,\n') == [
        {"id": "1", "name": "a, b"},
        {"id": "2", "name": ""},
    ]


def test_a_csv_with_given_names_and_a_delimiter() -> None:
    config = {
        "InputType": "CSV",
        "CSVHeaderLocation": "GIVEN",
        "CSVHeaders": ["x", "y"],
        "CSVDelimiter": "SEMICOLON",
    }

    assert items_of(config, "1;2\n3;4") == [{"x": "1", "y": "2"}, {"x": "3", "y": "4"}]


def test_rows_may_be_longer_or_shorter_than_the_names() -> None:
    config = {"InputType": "CSV", "CSVHeaderLocation": "FIRST_ROW"}

    assert items_of(config, "a,b\n1,2,3\n4\n") == [{"a": "1", "b": "2"}, {"a": "4", "b": ""}]


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("C:\\\\Files\\\\App.exe,1", ["C:\\Files\\App.exe", "1"]),
        ("a\\,b,c", ["a,b", "c"]),
        ("a\\bc,\\d", ["abc", "d"]),
        ('"say \\"hi\\"",x', ['say "hi"', "x"]),
        ('"say ""hi""","x\ny"', ['say "hi"', "x\ny"]),
        ('{""k"":""v""},"[1,2]"', ['{"k":"v"}', "[1,2]"]),
        ('"",""""', ["", '"']),
        ('5" pipe,x', ['5" pipe', "x"]),
        ("C:\\dir\\\nnext,y", ["C:dir", ""]),
        ('"open,x', ["open,x", ""]),
    ],
)
def test_fields_of_a_csv_by_the_rules_of_the_guide(text: str, fields: list[str]) -> None:
    """The developer guide, example-csv-parse-dist-map.html: quotes are doubled, also outside of
    quotes; a backslash escapes itself, a quote and the delimiter, and is dropped elsewhere."""
    config = {"InputType": "CSV", "CSVHeaderLocation": "GIVEN", "CSVHeaders": ["a", "b"]}

    assert list(items_of(config, text)[0].values()) == fields


def test_a_backslash_escapes_the_delimiter_that_is_in_use() -> None:
    config = {"InputType": "CSV", "CSVHeaderLocation": "FIRST_ROW", "CSVDelimiter": "PIPE"}

    assert items_of(config, "a|b\nx\\|y|1\\,2\n") == [{"a": "x|y", "b": "1,2"}]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_rows_end_with_any_newline_and_empty_ones_are_none(newline: str) -> None:
    config = {"InputType": "CSV", "CSVHeaderLocation": "FIRST_ROW"}
    text = newline.join(["a", "1", "", '""', "2", "\\", "3"])

    assert items_of(config, text) == [{"a": "1"}, {"a": ""}, {"a": "2"}, {"a": ""}, {"a": "3"}]


def test_names_of_columns_are_unique() -> None:
    config = {"InputType": "CSV", "CSVHeaderLocation": "FIRST_ROW"}

    assert items_of(config, "a,a\n1,2\n") == (
        "States.ItemReaderFailed",
        "CSV headers cannot contain duplicates.",
    )


def test_a_compressed_object_is_unfolded() -> None:
    assert items_of({"InputType": "JSON"}, gzip.compress(b"[1]")) == [1]


@pytest.mark.parametrize(("limit", "count"), [(2, 2), (0, 3), (9, 3)])
def test_max_items_cuts_the_items(limit: int, count: int) -> None:
    assert len(items_of({"InputType": "JSON", "MaxItems": limit}, "[1, 2, 3]")) == count


def test_max_items_may_come_from_the_input() -> None:
    state = reading({"InputType": "JSON", "MaxItemsPath": "$.n"})

    assert execute(state, {"b/k": b"[1, 2, 3]"}, n=1).output == [1]


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("JSON", "not json"),
        ("JSON", '"a"'),
        ("JSON", "[" * 100_000),
        ("JSON", b"\xff\xfe"),
        ("JSON", b"\x1f\x8b broken"),
        ("JSONL", "{}\n{"),
        ("JSON", "[NaN]"),
    ],
)
def test_content_that_cannot_be_read_fails_the_reader(kind: str, content: bytes | str) -> None:
    assert items_of({"InputType": kind}, content)[0] == "States.ItemReaderFailed"


def test_an_object_that_is_not_there_fails_the_reader() -> None:
    execution = execute(reading({"InputType": "JSON"}), {})

    assert execution.error == "States.ItemReaderFailed"


def test_the_cause_of_an_unreadable_object_stands_alone() -> None:
    state = parsed(reading({"InputType": "JSON"}))

    effect = step(state, visit_of({"key": "k"}), ItemsUnreadable("access denied"))

    assert effect == Failure("States.ItemReaderFailed", "access denied")


def test_a_failed_reader_is_caught() -> None:
    catch = [{"ErrorEquals": ["States.ItemReaderFailed"], "Next": "Next"}]
    state = parsed(reading({"InputType": "JSON"}, Catch=catch))

    effect = step(state, visit_of({"key": "k"}), ItemsUnreadable("access denied"))

    assert effect.next == "Next"


def test_a_listing_gives_the_objects_themselves_as_items() -> None:
    objects = {"b/in/1": b"xx", "b/in/2": b"", "b/out/3": b"", "c/in/4": b""}

    items = execute(reading({}, lists=True), objects, prefix="in/").output

    assert [(item["Key"], item["Size"]) for item in items] == [("in/1", 2), ("in/2", 0)]


def test_a_listing_may_be_loaded_and_flattened() -> None:
    config = {"InputType": "JSON", "Transformation": "LOAD_AND_FLATTEN"}
    objects = {"b/in/1": b"[1, 2]", "b/in/2": b"[3]"}

    assert execute(reading(config, lists=True), objects, prefix="in/").output == [1, 2, 3]


def test_an_inventory_lists_the_files_with_the_items() -> None:
    manifest = {
        "sourceBucket": "source",
        "destinationBucket": "arn:aws:s3:::lists",
        "fileFormat": "CSV",
        "fileSchema": "Bucket, Key, Size",
        "files": [{"key": "data/1.csv.gz"}, {"key": "data/2.csv.gz"}],
    }
    objects = {
        "b/k": json.dumps(manifest).encode(),
        "lists/data/1.csv.gz": gzip.compress(b'"source","a","1"\n"source","b","2"\n'),
        "lists/data/2.csv.gz": gzip.compress(b'"source","c","3"\n'),
    }

    items = execute(reading({"InputType": "MANIFEST"}), objects).output

    assert items == [
        {"Bucket": "source", "Key": "a", "Size": "1"},
        {"Bucket": "source", "Key": "b", "Size": "2"},
        {"Bucket": "source", "Key": "c", "Size": "3"},
    ]


def test_an_inventory_has_no_input_type() -> None:
    """The developer guide, input-output-itemreader.html, `ManifestType` and `Transformation`."""
    inventory = {"ManifestType": "S3_INVENTORY"}
    loading = {"Transformation": "LOAD_AND_FLATTEN"}
    manifest = b'{"fileSchema": "Key", "files": [{"key": "f"}]}'

    assert execute(reading(inventory), {"b/k": manifest, "b/f": b"x"}).output == [{"Key": "x"}]
    assert codes(reading({**inventory, "InputType": "JSON"})) == ["ASL_FIELD_CLASH"]
    assert codes(reading(loading, lists=True)) == ["ASL_MISSING_FIELD"]


def codes(state: dict[str, Any]) -> list[str]:
    return [problem.code for problem in validate(machine_of(M={**state, "End": True}))]


def test_a_manifest_is_read_in_two_steps() -> None:
    state = parsed(reading({"InputType": "MANIFEST"}))
    first = ReadItems((ObjectRef("b", "k"),))
    content = b'{"fileSchema": "Key", "files": [{"key": "f"}]}'

    effect = step(state, visit_of({"key": "k"}), ItemsRead(first, (content,)))

    assert effect == ReadItems((ObjectRef("b", "f"),), manifest={"headers": ["Key"]})


def test_a_reader_in_jsonata_has_arguments() -> None:
    state = {
        **reading({"InputType": "JSON", "MaxItems": "{% 1 + 1 %}"}),
        "QueryLanguage": "JSONata",
    }
    reader = {k: v for k, v in state["ItemReader"].items() if k != "Parameters"}
    state["ItemReader"] = {**reader, "Arguments": {"Bucket": "b", "Key": "{% $states.input.key %}"}}

    assert execute(state, {"b/k": b"[1, 2, 3]"}).output == [1, 2]


def test_a_reader_without_a_key_fails() -> None:
    state = reading({"InputType": "JSON"})
    state["ItemReader"]["Parameters"] = {"Bucket": "b", "Key.$": "$.key.x"}

    assert enter(state, {"key": {"x": 5}}).error == "States.ItemReaderFailed"


@given(st.binary(max_size=80), st.sampled_from(["CSV", "JSON", "JSONL"]))
def test_any_content_gives_items_or_a_failed_reader(content: bytes, kind: str) -> None:
    try:
        assert isinstance(ItemFormat(kind).parse(content), list)
    except EvaluationError as error:
        assert error.error == "States.ItemReaderFailed"


def test_more_items_than_may_be_are_no_fault_and_less_than_none_are_the_readers() -> None:
    state = reading({"InputType": "JSON", "MaxItemsPath": "$.n"})
    objects = {"b/k": b"[1, 2, 3]"}

    negative = execute(state, objects, n=-1)

    assert execute(state, objects, n=100_000_001).output == [1, 2, 3]
    assert negative.error == "States.ItemReaderFailed"
    assert negative.cause == "field MaxItems must be positive"
