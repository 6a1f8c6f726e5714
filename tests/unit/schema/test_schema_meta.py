"""Whether a document is a JSON Schema is what the meta-schema of 2020-12 says."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, SchemaError

from dcf.schema.meta import _WHOLE, is_schema

KEYWORDS: list[str] = sorted(_WHOLE["properties"])
NAMES = st.sampled_from([*KEYWORDS, "a", "^a", "("])
# What some keyword allows and another does not.
LEAVES = st.sampled_from(
    [None, True, False, 0, 1, -1, 0.5, 2.0, "", "a", "(", "#", "string", "a#b", "http://x", "%"]
)
DOCUMENTS = st.recursive(
    LEAVES | st.lists(LEAVES, max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)


def accepted(document: Any) -> bool:
    try:
        Draft202012Validator.check_schema(document)
    except SchemaError:
        return False
    return True


@settings(max_examples=100)
@given(document=DOCUMENTS)
def test_a_document_is_a_schema_where_the_meta_schema_accepts_it(document: Any) -> None:
    assert is_schema(document) is accepted(document)


def test_each_keyword_has_its_rule_below_another() -> None:
    values: list[Any] = [True, 1, -1, "a", "(", [], ["a"], ["a", "a"], {}, {"(": "a"}, {"a": []}]
    for keyword in KEYWORDS:
        for value in values:
            document = {"items": {keyword: value}}
            assert is_schema(document) is accepted(document), document
