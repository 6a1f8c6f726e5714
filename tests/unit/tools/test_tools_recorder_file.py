"""What a recording writes: cases in a tools file, everything that stood there kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from campaigns import campaign
from hypothesis import given, settings
from hypothesis import strategies as st

from dcf.tools import InvalidDocument, ToolDescription
from dcf.tools.recorder import Recorded, Recording, Redaction, authored_tools, tools_text

FILE = Path("shop.tools.yaml")
HEAD = "apiVersion: tools/v1\nkind: ToolsRegistry\n"
DESCRIPTION = ToolDescription("quote", "Price goods.", {"type": "object"}, None)


def recording(*calls: tuple[dict[str, Any], Any]) -> Recording:
    made = Recording()
    made.describe([DESCRIPTION])
    for arguments, answer in calls:
        made.note("quote", arguments, answer if isinstance(answer, Recorded) else Recorded(answer))
    return made


def tools(*calls: tuple[dict[str, Any], Any], secrets: tuple[str, ...] = ()) -> dict[str, Any]:
    return authored_tools(recording(*calls), Redaction(secrets))


def cases(text: str) -> list[Any]:
    found: list[Any] = yaml.safe_load(text)["servers"]["shop"]["tools"]["quote"]["cases"]
    return found


def test_a_call_becomes_a_case_that_matches_its_arguments_exactly() -> None:
    text = tools_text(None, "shop", tools(({"sku": "A"}, {"price": 5})), FILE)
    [case] = cases(text)
    assert case["match"] == {"strategy": "exact", "value": {"sku": "A"}}
    assert case["response"] == {"price": 5}


def test_the_order_of_calls_does_not_show() -> None:
    calls = [({"sku": name}, {"price": number}) for number, name in enumerate("CAB")]
    forth = tools_text(None, "shop", tools(*calls), FILE)
    assert forth == tools_text(None, "shop", tools(*reversed(calls)), FILE)


def test_errors_hangs_and_changing_answers_are_kept() -> None:
    declined = Recorded({"code": "Declined", "message": "no"}, "Declined")
    made = tools(
        ({"n": 1}, declined),
        ({"n": 2}, Recorded(hung=True)),
        ({"n": 3}, "pending"),
        ({"n": 3}, "pending"),
        ({"n": 3}, "done"),
        ({"n": 3}, "done"),
        ({"n": 4}, Recorded("no luck", "DCF.ToolError")),
    )
    first, second, third, fourth = made["quote"]["cases"]
    assert (first["errorMode"], first["errorCode"]) == ("throw", "Declined")
    assert first["response"]["message"] == "no"
    assert second["errorMode"] == "timeout"
    assert third["sequence"] == {
        "steps": [{"response": "pending"}, {"response": "pending"}, {"response": "done"}]
    }
    assert fourth["response"] == {"message": "no luck"}


def test_secrets_are_taken_out_wherever_they_are() -> None:
    call = {"user": "ann", "apiKey": "abc", "note": "Bearer eyJhbGciOi", "at": "https://a:b@c.d"}
    answer = {"session_token": "xyz", "echo": "it is hush-hush-1", "next": "page-2"}
    made = tools((call, answer), secrets=("hush-hush-1", "x"))
    text = tools_text(None, "shop", made, FILE)
    for secret in ("abc", "eyJhbGciOi", "a:b@", "xyz", "hush-hush-1"):
        assert secret not in text
    [case] = cases(text)
    assert case["response"]["next"] == "page-2"
    assert case["match"]["strategy"] == "regex"


BEFORE = (
    HEAD
    + """\
# Ours, and dear to us.
servers:
  shop:
    description: A shop   # with a comment
    tools:
      quote:
        description: Ours.
        params: { type: object, properties: { sku: { type: string } } }
        cases:
          - id: first
            match: { strategy: exact, path: sku, value: A }
            response: { price: 1 }   # the best price

      # a comment between tools
      other: { description: Flow, cases: [{ id: a, match: { strategy: always }, response: 1 }] }
  bank:
    tools: {}
"""
)
QUOTE = HEAD + "servers:\n  shop:\n    tools:\n"


@pytest.mark.parametrize(
    "before",
    [
        BEFORE,
        BEFORE.rstrip("\n"),
        BEFORE.replace("\n", "\r\n"),
        HEAD + "servers: {}\n",
        HEAD + "servers:\n",
        HEAD + "servers:\n  shop:\n    tools:\n",
        HEAD + "servers:\n  shop:\n    tools: {}\n    description: x\n",
        HEAD + "servers: { shop: { tools: { quote: { description: x } } } }\n",
        QUOTE + "      quote:\n        description: x\n        cases: []\n",
        QUOTE + "      quote:\n        cases:\n        description: x\n",
        QUOTE + "      quote:\n        description: |\n          x\n          y\n",
        QUOTE + "      quote: &q\n        description: x\n      twin: *q\n      last: {}\n",
        HEAD + "servers:\n  a: &s { tools: {} }\n  b: *s\n",
    ],
)
def test_what_stands_in_the_file_stays_to_the_letter(before: str) -> None:
    made = tools(({"sku": "B"}, {"price": 2}), ({"sku": "C"}, {"price": 3}))
    try:
        after = tools_text(before, "shop", made, FILE)
    except InvalidDocument as refused:
        assert "twin: *q" in before, refused
        return
    kept = iter(after.splitlines())
    opened = [line.rstrip("]} ") for line in before.splitlines() if "tools:" not in line]
    for line in opened:  # each line of before, in order; a flow collection may have grown
        wanted = line.removesuffix("{").removesuffix("[").removesuffix("cases:")
        assert any(found.startswith(wanted.rstrip()) for found in kept), line
    shop = yaml.safe_load(after)["servers"]["shop"]
    assert [case["response"]["price"] for case in shop["tools"]["quote"]["cases"]][-2:] == [2, 3]
    # A second recording of the same calls changes nothing.
    assert tools_text(after, "shop", made, FILE) == after


def test_a_call_that_has_a_case_keeps_it() -> None:
    before = tools_text(None, "shop", tools(({"n": 1}, "old")), FILE)
    assert tools_text(before, "shop", tools(({"n": 1}, "new")), FILE) == before


@pytest.mark.parametrize("text", ["a: [", "- 1\n", "apiVersion: skill/v1\n"])
def test_a_file_that_is_no_tools_file_is_refused(text: str) -> None:
    with pytest.raises(InvalidDocument) as caught:
        tools_text(text, "shop", tools(({"n": 1}, 1)), FILE)
    assert caught.value.problems[0].code == "TOOL_RECORD_FILE"


TRICKY = ["yes", "no", "12:30", "0123", "2026-01-01", "null", "- x", "a: b", "#", "~", "1_000"]
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=12)
    | st.sampled_from(TRICKY),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("abc: -", max_size=4), inner)
    ),
    max_leaves=8,
)


@campaign(shares=3)
@settings(max_examples=35, deadline=None)
@given(calls=st.lists(st.tuples(st.dictionaries(st.sampled_from("abc"), JSON), JSON), max_size=4))
def test_any_json_is_read_back_as_it_was(
    share: int, calls: list[tuple[dict[str, Any], Any]]
) -> None:
    made = tools(*calls)
    for before in (None, BEFORE):
        text = tools_text(before, "shop", made, FILE)
        read = yaml.safe_load(text)["servers"]["shop"]["tools"]["quote"].get("cases", [])
        wanted = made["quote"].get("cases", [])
        assert read[len(read) - len(wanted) :] == wanted


def test_what_lies_in_a_list_or_an_object_with_the_name_of_a_secret_is_one() -> None:
    told = {"passwords": ["hunter2", 5], "credentials": {"user": "bob", "set": True}, "note": "n"}
    assert Redaction([]).clean(told) == {
        "passwords": ["[redacted]", "[redacted]"],
        "credentials": {"user": "[redacted]", "set": True},
        "note": "n",
    }
