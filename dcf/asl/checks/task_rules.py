"""What a Task may ask for: whose credentials, and what an EXPRESS machine cannot wait for."""

from __future__ import annotations

import re

from dcf.asl.checks.resource_name import doubt_about
from dcf.asl.reading.node import Node

_ACTIVITY = re.compile(r"arn:[^:]*:states:[^:]*:[^:]*:activity:")
_PATTERN = re.compile(r"(\.sync)(?::2)?$|(\.waitForTaskToken)$")
_SERVICE = re.compile(r"arn:[^:]*:states:[^:]*:[^:]*:([\w-]+):")
_HOLE = "${"
_NEVER_SYNC = frozenset({"apigateway", "aws-sdk", "dynamodb", "events", "lambda", "sns", "sqs"})
_NEVER_CALLBACK = frozenset(
    {"athena", "batch", "codebuild", "databrew", "dynamodb", "elasticmapreduce"}
    | {"emr-containers", "emr-serverless", "glue", "mediaconvert", "sagemaker"}
)
"""Services of AWS that offer no call of this pattern at all."""


def check_task(node: Node, express: bool, only_aws: bool) -> None:
    """Report what is wrong with ``Credentials`` and ``Resource``.

    ``express``: the machine is EXPRESS. ``only_aws``: what only DCF has is wrong too.
    """
    resource = node.value.get("Resource")
    if only_aws:
        _check_extensions(node, resource)
    if isinstance(resource, str):
        _check_name(node, resource, only_aws)
    is_activity = isinstance(resource, str) and _ACTIVITY.match(resource) is not None
    _check_credentials(node, is_activity)
    if express and isinstance(resource, str):
        _check_express(node, resource, is_activity)


def check_memory_on_aws(node: Node) -> None:
    """Report the policy of a Map or Parallel for the memory, which AWS does not have."""
    if "memory" in node:
        message = "`memory` is an extension that AWS does not have"
        aws = "Field 'memory' is not supported"
        node.error("ASL_NOT_ON_AWS", "memory", message, "leave it out", aws)


def _check_extensions(node: Node, resource: object) -> None:
    if "AgentBinding" in node:
        message = "`AgentBinding` is an extension that AWS does not have"
        aws = "Field 'AgentBinding' is not supported"
        node.error("ASL_NOT_ON_AWS", "AgentBinding", message, "name a `Resource`", aws)
    if not isinstance(resource, str) or _HOLE in resource:
        return  # a placeholder, which the deployment fills in, passes
    if _is_plain(resource):
        message = f"`{resource}` is no ARN: AWS calls nothing by another name"
        aws = "Value is not a valid resource ARN"
        node.error("ASL_NOT_ON_AWS", "Resource", message, "write `arn:aws:states:::…`", aws)
    elif not _is_offered(resource):
        message = f"`{resource}` is nothing that AWS offers to call"
        aws = _not_recognized(resource)
        node.error("ASL_NOT_ON_AWS", "Resource", message, "leave its last part out", aws)


def _check_name(node: Node, resource: str, only_aws: bool) -> None:
    doubt = doubt_about(resource)
    if doubt is None or (only_aws and _is_plain(resource)):
        return  # a plain name has been refused for being one
    if only_aws and doubt.is_certain:
        aws = _not_recognized(resource)
        node.error("ASL_NOT_ON_AWS", "Resource", doubt.message, doubt.hint, aws)
    else:
        node.warning("ASL_UNKNOWN_RESOURCE", "Resource", doubt.message, doubt.hint)


def _not_recognized(resource: str) -> str:
    return (
        f"The resource provided {resource} is not recognized. The value is not a valid resource"
        " ARN, or the resource is not available in this region."
    )


def _is_plain(resource: str) -> bool:
    return not resource.startswith("arn:") and _HOLE not in resource


def _is_offered(resource: str) -> bool:
    service, pattern = _SERVICE.match(resource), _PATTERN.search(resource)
    if service is None or pattern is None:
        return True
    name = service.group(1)
    if pattern.group(1):
        return name not in _NEVER_SYNC and (name == "states" or not resource.endswith(":2"))
    return name not in _NEVER_CALLBACK


def _check_credentials(node: Node, is_activity: bool) -> None:
    credentials = node.node("Credentials")
    if credentials is None:
        return
    if is_activity:
        message = "an activity takes no `Credentials`: its worker has its own"
        aws = "The field 'Credentials' is not supported for activities"
        node.error("ASL_FIELD_CLASH", "Credentials", message, "leave `Credentials` out", aws)
    elif "RoleArn" not in credentials and "RoleArn.$" not in credentials:
        message = "`Credentials` needs `RoleArn`"
        aws = "The field 'RoleArn' is required but was missing"
        credentials.error("ASL_MISSING_FIELD", "", message, "name the role to assume", aws)


def _check_express(node: Node, resource: str, is_activity: bool) -> None:
    if is_activity:
        _refuse(node, "activities", "Activity ARN")
        return
    pattern = _PATTERN.search(resource)
    if pattern is None:
        return
    name = pattern.group(1) or pattern.group(2)
    # AWS writes a second space here for callbacks; kept, since texts are compared as they are.
    end = " " if name == ".waitForTaskToken" else ""
    _refuse(node, f"`{name}`", f"'{name}' service integration{end}")


def _refuse(node: Node, what: str, aws_what: str) -> None:
    message = f"an EXPRESS state machine cannot wait for {what}"
    hint = "use a STANDARD machine, or a resource that answers at once"
    aws = f"Express state machine does not support {aws_what}"
    node.error("ASL_EXPRESS_UNSUPPORTED", "Resource", message, hint, aws)
