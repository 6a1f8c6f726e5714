"""Manifests: objects that list the files with a Map's items (S3 inventory, Athena)."""

from __future__ import annotations

import json

from dcf.asl.effect import ObjectRef
from dcf.asl.errors import ITEM_READER_FAILED, PlainError
from dcf.asl.payload import JSON

KINDS = ("S3_INVENTORY", "ATHENA_DATA")


def read_manifest(
    kind: str, content: bytes, source: ObjectRef
) -> tuple[tuple[ObjectRef, ...], JSON]:
    """The files that a manifest lists, and {headers}: the columns of an inventory's files.

    Raises EvaluationError (``States.ItemReaderFailed``).
    """
    try:
        text = content.decode("utf-8-sig")
        if kind == "ATHENA_DATA":
            return tuple(_address(line.strip()) for line in text.splitlines() if line.strip()), {}
        return _inventory(json.loads(text), source)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        cause = f"The manifest '{source.key}' cannot be read: {error}"
        raise PlainError(ITEM_READER_FAILED, cause) from error


def _inventory(manifest: JSON, source: ObjectRef) -> tuple[tuple[ObjectRef, ...], JSON]:
    if manifest.get("fileFormat", "CSV") != "CSV":
        raise ValueError("only inventories in CSV are supported")
    bucket = str(manifest.get("destinationBucket") or source.bucket).rpartition(":")[2]
    headers = [name.strip() for name in str(manifest.get("fileSchema", "Bucket, Key")).split(",")]
    files = tuple(ObjectRef(bucket, str(file["key"])) for file in manifest["files"])
    return files, {"headers": headers}


def _address(line: str) -> ObjectRef:
    bucket, _, key = line.strip('"').removeprefix("s3://").partition("/")
    if not bucket or not key:
        raise ValueError(f"{line!r} is no address such as s3://bucket/key")
    return ObjectRef(bucket, key)
