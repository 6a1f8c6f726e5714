"""Documents have keys under their prefix and no others, whatever is tried."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcf.workspace import DocumentKeys, WorkspaceError

ESCAPES = [
    "", "doc:", "doc", "DOC:a", "Doc:a", "docs:a", "xdoc:a", " doc:a", "\tdoc:a", "\ndoc:a",
    "doc:a\n", "doc:a b", "doc:\x00a", "doc\x00:a", "doc:a\r\nFLUSHALL", "cp:wf:run:meta",
    "cp:wf:doc:a:meta", "dp:wf:run:output:A", "{doc:}a", "doc:{cp}", "doc:*", "doc:?", "doc:[a]",
    "../doc:a", "doc:a'", 'doc:"a"', "doc:ä", "doc\uff1aa", "\u200bdoc:a", "doc:\u202ea",
    "d\u043ec:a",
    "doc:\ud800", "doc:" + "a" * 300, "doc%3Aa", "doc:$(x)", "doc:a;b", "doc:a,b", "doc:a\\b",
]  # fmt: skip


@pytest.mark.parametrize("key", ESCAPES, ids=lambda key: ascii(key)[:20])
def test_keys_that_are_no_document_are_refused(key: str) -> None:
    with pytest.raises(WorkspaceError):
        DocumentKeys().check(key)


@pytest.mark.parametrize("key", ["doc:a", "doc:0f3c", "doc:team/plan#2", "doc:a:b:c", "doc:../x"])
def test_keys_under_the_prefix_are_documents(key: str) -> None:
    assert DocumentKeys().check(key) == key


@given(st.text(max_size=40))
def test_whatever_passes_begins_with_the_prefix(key: str) -> None:
    try:
        assert DocumentKeys("team:doc:").check(key).startswith("team:doc:")
    except WorkspaceError:
        return


@pytest.mark.parametrize(
    "prefix", ["", "doc", "cp:", "dp:", "cp:wf:", "dp:doc:", ":", "doc::", "d oc:", "{doc}:", "c*:"]
)
def test_a_prefix_that_reaches_the_keys_of_the_platform_is_refused(prefix: str) -> None:
    with pytest.raises(ValueError, match="prefix"):
        DocumentKeys(prefix)
