"""Reading the run of a file ends with the file's error, whatever its documents say."""

from __future__ import annotations

import pytest

from control_plane import BadRunFile, CorruptHistory, RunExport, ServerError
from control_plane.run_export import Part
from dcf.workflow import reading_file, shelve

_META = (
    '{"workflow_id":"r","workflow_name":"w","definition":"d","start_at":"A","pool":"p","input":1,'
    '"states":["A"],"deps":{},"agents":{},"skills":{},'
    '"ctl":{"status":"failed","protocol":1,"digest":"d","pool":"p","born":"1","said":{}}}'
)


@pytest.mark.parametrize(
    "error", [TypeError("x"), AttributeError("x"), OverflowError("x"), KeyError("x"), ValueError()]
)
def test_what_no_reader_expects_of_a_document_is_told_of_the_file(error: Exception) -> None:
    said = "the documents of r: they are not those of a run"
    with pytest.raises(BadRunFile, match=said), reading_file("r"):
        raise error


def test_what_a_reader_says_itself_stays_as_it_is() -> None:
    with pytest.raises(CorruptHistory), reading_file("r"):
        raise CorruptHistory(workflow_id="r", entry="1-1")


async def test_no_file_says_that_redis_refused_a_command() -> None:
    event = Part("history", "", '["x","1","{}",""]')
    with pytest.raises(BadRunFile, match="cannot be put together") as raised:
        await shelve(RunExport(_META, (event,)))
    assert not isinstance(raised.value, ServerError)
