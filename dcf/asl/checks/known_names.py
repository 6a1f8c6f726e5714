"""Names that AWS gives: services that a Task calls by name, their calls, and errors."""

from __future__ import annotations

OPTIMIZED_SERVICES: dict[str, frozenset[str]] = {
    "apigateway": frozenset({"invoke"}),
    "athena": frozenset(
        {"startQueryExecution", "stopQueryExecution", "getQueryExecution", "getQueryResults"}
    ),
    "aws-sdk": frozenset(),
    "batch": frozenset({"submitJob"}),
    "bedrock": frozenset({"invokeModel", "createModelCustomizationJob"}),
    "codebuild": frozenset(),
    "databrew": frozenset({"startJobRun"}),
    "dynamodb": frozenset({"getItem", "putItem", "updateItem", "deleteItem"}),
    "ecs": frozenset({"runTask"}),
    "eks": frozenset(),
    "elasticmapreduce": frozenset(),
    "emr-containers": frozenset(),
    "emr-serverless": frozenset(),
    "events": frozenset({"putEvents"}),
    "glue": frozenset({"startJobRun"}),
    "http": frozenset({"invoke"}),
    "lambda": frozenset({"invoke"}),
    "mediaconvert": frozenset({"createJob"}),
    "s3": frozenset({"getObject", "listObjectsV2", "putObject"}),
    "sagemaker": frozenset(),
    "sns": frozenset({"publish"}),
    "sqs": frozenset({"sendMessage"}),
    "states": frozenset({"startExecution"}),
}
"""Calls by service; none where they are too many to list.

AWS adds to it: what is missing here is remarked on only where it looks like a slip of the pen.
"""

ERROR_NAMES = frozenset(
    {
        "States.ALL",
        "States.BranchFailed",
        "States.DataLimitExceeded",
        "States.ExceedToleratedFailureThreshold",
        "States.HeartbeatTimeout",
        "States.Http.Socket",
        "States.IntrinsicFailure",
        "States.ItemReaderFailed",
        "States.NoChoiceMatched",
        "States.ParameterPathFailure",
        "States.Permissions",
        "States.QueryEvaluationError",
        "States.ResultPathMatchFailure",
        "States.ResultWriterFailed",
        "States.Runtime",
        "States.TaskFailed",
        "States.Timeout",
    }
)
"""Errors whose names begin with ``States.``."""

HTTP_ERRORS = "States.Http.StatusCode."
"""How the errors of HTTP calls begin; the status follows."""

PATTERNS = ("sync", "sync:2", "waitForTaskToken")
"""What may stand after the last point of a ``Resource``."""
