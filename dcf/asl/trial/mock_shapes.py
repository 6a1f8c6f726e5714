"""The shapes of what well-known services answer, as far as a mocked answer is checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from dcf.asl.payload import JSON, is_number


@dataclass(frozen=True, slots=True)
class Number:
    """A number within ``low`` and ``high``."""

    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Text:
    """A string of ``shortest`` to ``longest`` characters, one of ``allowed`` if there are any."""

    shortest: int = 0
    longest: int | None = None
    allowed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Flag:
    """``true`` or ``false``."""


@dataclass(frozen=True, slots=True)
class Items:
    """An array of one kind of things."""

    of: Shape


@dataclass(frozen=True, slots=True)
class Members:
    """An object whose members, whatever they are called, are one kind of things."""

    of: Shape


Shape: TypeAlias = "Number | Text | Flag | Items | Members | Mapping[str, Shape]"

_NUMBER, _TEXT, _FLAG = Number(), Text(), Flag()


def _one_of(*allowed: str) -> Text:
    return Text(allowed=allowed)


def _all(shape: Shape, *fields: str) -> dict[str, Shape]:
    return dict.fromkeys(fields, shape)


_VALUE: dict[str, Shape] = {
    **_all(_TEXT, "S", "N", "B"),
    **_all(Items(_TEXT), "SS", "NS", "BS"),
    **_all(_FLAG, "BOOL", "NULL"),
}
_VALUE |= {"L": Items(_VALUE), "M": Members(_VALUE)}
_UNITS = _all(_NUMBER, "CapacityUnits", "ReadCapacityUnits", "WriteCapacityUnits")
_CAPACITY: Shape = {
    "TableName": Text(1, 1024),
    "Table": _UNITS,
    **_UNITS,
    **_all(Members(_UNITS), "LocalSecondaryIndexes", "GlobalSecondaryIndexes"),
}
_DYNAMODB: Shape = {
    "ConsumedCapacity": _CAPACITY,
    **_all(Members(_VALUE), "Attributes", "Item"),
    "ItemCollectionMetrics": {
        "ItemCollectionKey": Members(_VALUE),
        "SizeEstimateRangeGB": Items(_NUMBER),
    },
}
_STORAGE_CLASSES = (
    *("STANDARD", "REDUCED_REDUNDANCY", "STANDARD_IA", "ONEZONE_IA", "INTELLIGENT_TIERING"),
    *("GLACIER", "DEEP_ARCHIVE", "OUTPOSTS", "GLACIER_IR", "SNOW", "EXPRESS_ONEZONE"),
    *("FSX_OPENZFS", "FSX_ONTAP"),
)
_STORED: dict[str, Shape] = {
    **_all(_TEXT, "ETag", "VersionId", "Expiration", "SSECustomerAlgorithm", "SSEKMSKeyId"),
    **_all(_TEXT, "ChecksumCRC32", "ChecksumCRC32C", "ChecksumSHA1", "ChecksumSHA256"),
    "BucketKeyEnabled": _FLAG,
    "ServerSideEncryption": _one_of("AES256", "aws:fsx", "aws:kms", "aws:kms:dsse"),
    "RequestCharged": _one_of("requester"),
    "ChecksumType": _one_of("COMPOSITE", "FULL_OBJECT"),
}
_FUNCTION: Shape = {
    **_all(_TEXT, "FunctionName", "FunctionArn", "Role", "Runtime", "KMSKeyArn", "MasterArn"),
    **_all(_TEXT, "LastModified", "CodeSha256", "RevisionId", "StateReason"),
    "Handler": Text(0, 128),
    "Description": Text(0, 256),
    "Version": Text(1, 1024),
    "CodeSize": _NUMBER,
    "MemorySize": Number(128, 10_240),
    "Timeout": Number(1),
    "PackageType": _one_of("Zip", "Image"),
    "State": _one_of("Pending", "Active", "Inactive", "Failed"),
    "LastUpdateStatus": _one_of("Successful", "Failed", "InProgress"),
    "Architectures": Items(_one_of("x86_64", "arm64")),
    "TracingConfig": {"Mode": _one_of("Active", "PassThrough")},
    "EphemeralStorage": {"Size": Number(512, 10_240)},
    "Environment": {"Variables": Members(_TEXT)},
    "VpcConfig": {**_all(Items(_TEXT), "SubnetIds", "SecurityGroupIds"), "VpcId": _TEXT},
    "Layers": Items({"Arn": Text(1, 140), "CodeSize": _NUMBER}),
}
_ALGORITHM = _one_of("SYMMETRIC_DEFAULT", "RSAES_OAEP_SHA_1", "RSAES_OAEP_SHA_256", "SM2PKE")

SHAPES: dict[str, Shape] = {
    "lambda:invoke": {
        "ExecutedVersion": Text(1, 1024),
        "FunctionError": _TEXT,
        "LogResult": _TEXT,
        "StatusCode": _NUMBER,
    },
    "dynamodb:getItem": _DYNAMODB,
    "dynamodb:putItem": _DYNAMODB,
    "dynamodb:updateItem": _DYNAMODB,
    "dynamodb:deleteItem": _DYNAMODB,
    "events:putEvents": {
        "Entries": Items({"EventId": _TEXT, "ErrorCode": _TEXT, "ErrorMessage": _TEXT}),
        "FailedEntryCount": _NUMBER,
    },
    "sns:publish": {"MessageId": _TEXT, "SequenceNumber": _TEXT},
    "sqs:sendMessage": {
        **_all(_TEXT, "MessageId", "MD5OfMessageBody", "SequenceNumber"),
        **_all(_TEXT, "MD5OfMessageAttributes", "MD5OfMessageSystemAttributes"),
    },
    "states:startExecution": {"ExecutionArn": Text(1, 256), "StartDate": _TEXT},
    "aws-sdk:lambda:getFunction": {
        "Configuration": _FUNCTION,
        "Code": _all(_TEXT, "RepositoryType", "Location", "ImageUri", "ResolvedImageUri"),
        "Tags": Members(_TEXT),
        "Concurrency": {"ReservedConcurrentExecutions": Number(0)},
    },
    "aws-sdk:kms:encrypt": {
        "CiphertextBlob": Text(1, 6144),
        "KeyId": Text(1, 2048),
        "EncryptionAlgorithm": _ALGORITHM,
    },
    "aws-sdk:kms:decrypt": {
        "Plaintext": Text(1, 4096),
        "KeyId": Text(1, 2048),
        "EncryptionAlgorithm": _ALGORITHM,
    },
    "aws-sdk:s3:getObject": {
        **_STORED,
        **_all(_TEXT, "AcceptRanges", "Restore", "CacheControl", "ContentType", "ContentRange"),
        **_all(_TEXT, "ContentDisposition", "ContentEncoding", "ContentLanguage", "Expires"),
        **_all(_TEXT, "LastModified", "ObjectLockRetainUntilDate", "WebsiteRedirectLocation"),
        **_all(_NUMBER, "ContentLength", "MissingMeta", "PartsCount", "TagCount"),
        "DeleteMarker": _FLAG,
        "Metadata": Members(_TEXT),
        "StorageClass": Text(allowed=_STORAGE_CLASSES),
        "ReplicationStatus": _one_of("COMPLETE", "PENDING", "FAILED", "REPLICA", "COMPLETED"),
        "ObjectLockMode": _one_of("GOVERNANCE", "COMPLIANCE"),
        "ObjectLockLegalHoldStatus": _one_of("ON", "OFF"),
    },
    "aws-sdk:s3:putObject": {**_STORED, "Size": _NUMBER},
}
"""What is checked of an answer, by the service and action of an integration; other fields are
free."""

_WELL_KNOWN = {
    **{
        f"aws-sdk:{name}": name for name in SHAPES if name.startswith(("dynamodb:", "sns:", "sqs:"))
    },
    "aws-sdk:eventbridge:putEvents": "events:putEvents",
    "aws-sdk:sfn:startExecution": "states:startExecution",
}

ALWAYS: dict[str, tuple[str, ...]] = {
    "states:startExecution": ("ExecutionArn", "StartDate"),
    "aws-sdk:sfn:startExecution": ("ExecutionArn", "StartDate"),
    "aws-sdk:sfn:describeExecution": ("ExecutionArn", "StateMachineArn", "Status", "StartDate"),
}
"""Fields that every answer has, by the API's model."""

_POLLED = {"states:startExecution": "aws-sdk:sfn:describeExecution"}
"""What is asked until the work of a ``.sync`` has ended, and its result comes from."""


def shape_problem(resource: str | None, result: JSON, *, complete: bool = True) -> str | None:
    """What is wrong with ``result`` as an answer of the service in ``resource``; None: nothing.

    Without ``complete`` fields that every answer has may be missing.
    """
    if resource is None or not resource.startswith("arn:") or ":states:::" not in resource:
        return None
    if resource.endswith(".waitForTaskToken"):
        return None
    action, _, pattern = resource.partition(":states:::")[2].partition(".")
    # The same API whether Step Functions knows it well or through the SDK.
    shape = SHAPES.get(action) or SHAPES.get(_WELL_KNOWN.get(action, ""))
    problem = None if shape is None else next(_problems("", shape, result), None)
    if problem is not None or not complete or not isinstance(result, dict):
        return problem
    # Who waits for the end of the work (.sync) gets the answer to another question.
    asked = _POLLED.get(action, "") if pattern else action
    missing = next((name for name in ALWAYS.get(asked, ()) if name not in result), None)
    return None if missing is None else f"Field '{missing}' is required"


def _problems(field: str, shape: Shape, value: JSON) -> Iterator[str]:
    named = f"Field '{field}'"
    if isinstance(shape, Number):
        yield from _number_problems(named, shape, value)
    elif isinstance(shape, Text):
        yield from _text_problems(named, shape, value)
    elif isinstance(shape, Flag):
        if not isinstance(value, bool):
            yield f"{named} must be a boolean"
    elif isinstance(shape, Items):
        if not isinstance(value, list):
            yield f"{named} must be an array"
            return
        for item in value:
            yield from _problems(field, shape.of, item)
    elif not isinstance(value, dict):
        yield f"{named} must be an object" if field else "The result must be an object"
    elif isinstance(shape, Members):
        for name, inner in value.items():
            yield from _problems(name, shape.of, inner)
    else:
        for name, expected in shape.items():
            if name in value:
                yield from _problems(name, expected, value[name])


def _number_problems(named: str, shape: Number, value: JSON) -> Iterator[str]:
    if not is_number(value):
        yield f"{named} must be a number"
    elif shape.low is not None and value < shape.low:
        yield f"{named} is less than the minimum value"
    elif shape.high is not None and value > shape.high:
        yield f"{named} exceeds the maximum value"


def _text_problems(named: str, shape: Text, value: JSON) -> Iterator[str]:
    if not isinstance(value, str):
        yield f"{named} must be a string"
    elif len(value) < shape.shortest:
        yield f"{named} is smaller than the minimum length"
    elif shape.longest is not None and len(value) > shape.longest:
        yield f"{named} exceeds the maximum length"
    elif shape.allowed and value not in shape.allowed:
        yield f"{named} is not an expected value"
