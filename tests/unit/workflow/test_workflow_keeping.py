"""A lease is kept during all that is done under it, not only while a handler works."""

from __future__ import annotations

import asyncio
from typing import Any

from unit.workflow.stage import RUN, Stage, flow, mapping, passing, staged

from dcf import asl
from dcf.workflow import Objects

DISTRIBUTED = {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}}
READER = {
    "Resource": "arn:aws:states:::s3:getObject",
    "ReaderConfig": {"InputType": "JSON"},
    "Parameters": {"Bucket": "b", "Key": "k.json"},
}
WRITER = {
    "Resource": "arn:aws:states:::s3:putObject",
    "Parameters": {"Bucket": "out", "Prefix": "p"},
}
TTL_MS = 2000


class SlowObjects(Objects):
    """Objects that take their time; ``begun`` and ``ended`` count what was asked of them."""

    def __init__(self, *, read_s: float = 0, write_s: float = 0) -> None:
        super().__init__(asl.MemoryObjects({"b/k.json": b"[1,2]"}), in_memory=True)
        self._read_s, self._write_s = read_s, write_s
        self.begun = self.ended = 0

    async def read(self, request: asl.ReadItems) -> asl.Event:
        await self._take(self._read_s)
        return await super().read(request)

    async def write(self, request: asl.WriteResults) -> asl.Event:
        await self._take(self._write_s)
        return await super().write(request)

    async def _take(self, seconds: float) -> None:
        if seconds:
            self.begun += 1
            await asyncio.sleep(seconds)
            self.ended += 1


def large_map(**fields: Any) -> dict[str, Any]:
    return flow(M=mapping({**flow(P=passing()), **DISTRIBUTED}, ItemReader=READER, **fields))


@staged
async def test_a_reader_slower_than_the_lease_reads_once(stage: Stage) -> None:
    objects = SlowObjects(read_s=40)
    for name in ("w1", "w2"):
        stage.worker({}, name=name, objects=objects, ttl_ms=TTL_MS)
    await stage.submit(large_map())
    result = await stage.end()
    assert (result.output, objects.begun) == ([1, 2], 1)


@staged
async def test_a_writer_slower_than_the_lease_writes_once(stage: Stage) -> None:
    objects = SlowObjects(write_s=40)
    for name in ("w1", "w2"):
        stage.worker({}, name=name, objects=objects, ttl_ms=TTL_MS)
    await stage.submit(large_map(ResultWriter=WRITER))
    assert ((await stage.end()).status, objects.begun) == ("succeeded", 1)


@staged
async def test_who_lost_the_lease_stops_reading(stage: Stage) -> None:
    objects = SlowObjects(read_s=40)
    stage.worker({}, objects=objects, ttl_ms=TTL_MS)
    await stage.submit(large_map())
    await stage.until_status("M", "running")
    await stage.store.cancel(RUN, by="test")
    await asyncio.sleep(60)
    assert (objects.begun, objects.ended) == (1, 0)
