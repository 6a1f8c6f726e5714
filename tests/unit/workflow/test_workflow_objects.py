"""Objects of a worker: whatever the store does, the step gets an answer."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from dcf import asl
from dcf.workflow import Objects, no_objects

READ = asl.ReadItems((asl.ObjectRef("shelf", "a"),))
LIST = asl.ReadItems((), ("shelf", ""))
WRITE = asl.WriteResults("shelf", {"a": "1"}, None)


class Broken:
    """A store whose every call raises ``error``."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def get(self, ref: Any) -> Any:
        raise self._error

    def list(self, bucket: str, prefix: str) -> Any:
        raise self._error

    def put(self, bucket: str, key: str, content: bytes) -> Any:
        raise self._error


@pytest.mark.parametrize("error", [ValueError("odd"), RuntimeError(), KeyError("x")])
def test_a_store_that_breaks_answers_and_is_logged(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    objects = Objects(Broken(error), in_memory=True)
    for request in (READ, LIST):
        event = asyncio.run(objects.read(request))
        assert isinstance(event, asl.ItemsUnreadable)
        event.cause.encode()
    event = asyncio.run(objects.write(WRITE))
    assert isinstance(event, asl.ResultsUnwritable)
    assert type(error).__name__ in event.cause
    assert len(caplog.records) == 3


def test_a_refusal_with_half_a_character_can_be_told() -> None:
    event = asyncio.run(Objects(Broken(OSError("\ud800")), in_memory=True).read(READ))
    assert event == asl.ItemsUnreadable("\\ud800")


def test_without_objects_nothing_is_read_or_written() -> None:
    cause = "this worker has no object store: set DCF_OBJECTS"
    for objects in (no_objects(), no_objects(in_memory=False)):
        for request in (READ, LIST):
            assert asyncio.run(objects.read(request)) == asl.ItemsUnreadable(cause)
        assert asyncio.run(objects.write(WRITE)) == asl.ResultsUnwritable(cause)


def test_what_takes_long_is_done_in_a_thread_unless_all_is_in_memory() -> None:
    main = threading.get_ident()
    files, memory = Objects(asl.MemoryObjects()), Objects(asl.MemoryObjects(), in_memory=True)
    assert asyncio.run(files.apart(threading.get_ident)) != main
    assert asyncio.run(memory.apart(threading.get_ident)) == main
