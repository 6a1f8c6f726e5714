"""Manifests: objects that list the files with a Map's items (S3 inventory, Athena)."""

from __future__ import annotations

import json
from collections.abc import Iterator

from dcf.asl.effect import ObjectRef
from dcf.asl.errors import ITEM_READER_FAILED, PlainError
from dcf.asl.maps.item_format import lines
from dcf.asl.payload import JSON, MAX_DEPTH
from dcf.asl.payload import kind as kind_of

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
            return tuple(_address(line) for line in lines(text)), {}
        return _inventory(json.loads(text), source)
    except (ValueError, RecursionError) as error:
        cause = f"The manifest '{source.key}' cannot be read: {_why(error)}"
        raise PlainError(ITEM_READER_FAILED, cause) from error


def _why(error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError):
        return f"it is not text in UTF-8: see its byte {error.start}"
    if isinstance(error, RecursionError):
        return f"it nests deeper than {MAX_DEPTH}"
    if isinstance(error, (json.JSONDecodeError, _BadManifest)):
        return str(error)
    return "it has a number with too many digits"


class _BadManifest(ValueError):
    """What a manifest lacks."""


def _inventory(manifest: JSON, source: ObjectRef) -> tuple[tuple[ObjectRef, ...], JSON]:
    if not isinstance(manifest, dict):
        raise _BadManifest(f"it must be an object, found {kind_of(manifest)}")
    if manifest.get("fileFormat", "CSV") != "CSV":
        raise _BadManifest("only inventories in CSV are supported")
    bucket = str(manifest.get("destinationBucket") or source.bucket).rpartition(":")[2]
    headers = [name.strip() for name in str(manifest.get("fileSchema", "Bucket, Key")).split(",")]
    return tuple(ObjectRef(bucket, key) for key in _keys(manifest.get("files"))), {
        "headers": headers
    }


def _keys(files: JSON) -> Iterator[str]:
    if not isinstance(files, list):
        raise _BadManifest(f"its `files` must be an array, found {kind_of(files)}")
    for number, file in enumerate(files):
        key = file.get("key") if isinstance(file, dict) else None
        if not isinstance(key, str):
            raise _BadManifest(f"`files[{number}]` must be an object with the text `key`")
        yield key


def _address(line: str) -> ObjectRef:
    bucket, _, key = line.strip('"').removeprefix("s3://").partition("/")
    if not bucket or not key:
        raise _BadManifest(f"{line!r} is no address such as s3://bucket/key")
    return ObjectRef(bucket, key)
