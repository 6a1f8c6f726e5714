"""What a Map does with many items: reading, batching, counting, writing."""

from __future__ import annotations

from dcf.asl.maps.object_store import (
    MAX_READ_BYTES,
    MemoryObjects,
    ObjectStore,
    check_count,
    no_bucket,
    printable,
    read_items,
    refuse_version,
    write_results,
)

__all__ = [
    "MAX_READ_BYTES",
    "MemoryObjects",
    "ObjectStore",
    "check_count",
    "no_bucket",
    "printable",
    "read_items",
    "refuse_version",
    "write_results",
]
