"""What a resource does of which no call was recorded: its ``kind``."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from typing import Any

from dcf.asl import JSON, Answer, TaskFailed, TaskSucceeded

_REQUEST_ID = str(uuid.UUID(int=0))
_DATE = "Thu, 01 Jan 1970 00:00:00 GMT"
_TRACE = "Root=1-00000000-000000000000000000000000;Parent=0000000000000000;Sampled=0"


def answer_of(task: Mapping[str, Any], arguments: JSON) -> Answer | None:
    """The answer of a resource of this kind; None when its kind says nothing (``replay``)."""
    kind = task.get("kind")
    if kind == "sleep":
        answer = answer_of(task.get("then", {"kind": "echo"}), arguments)
        return answer and Answer(answer.event, float(task["seconds"]) + answer.after_s)
    if kind == "lambda_invoke":
        return _invoke(task.get("functions", {}), arguments)
    if kind == "error":
        return Answer(TaskFailed(task["error"], _exception(task, json.dumps)))
    if kind == "echo":
        return Answer(TaskSucceeded(arguments))
    if kind == "return":
        return Answer(TaskSucceeded(task.get("value")))
    if kind == "format":
        return Answer(TaskSucceeded(str(task["template"]).replace("{event}", str(arguments))))
    if kind == "repeat":
        return Answer(TaskSucceeded(str(task["text"]) * int(task["count"])))
    return None


def _invoke(functions: Mapping[str, Any], arguments: JSON) -> Answer | None:
    """``lambda:invoke``: the function named in the arguments, its result in Lambda's wrapper."""
    given = arguments if isinstance(arguments, dict) else {}
    named = str(given.get("FunctionName", "")).rpartition(":function:")[2]
    function = functions.get(named)
    if function is None:
        return None
    if function.get("kind") == "error":
        return Answer(TaskFailed(function["error"], _exception(function, compact)))
    answer = answer_of(function, given.get("Payload", {}))
    if answer is None or not isinstance(answer.event, TaskSucceeded):
        return answer
    return Answer(TaskSucceeded(_wrapped(answer.event.result)), answer.after_s)


def _wrapped(payload: JSON) -> dict[str, JSON]:
    headers = {
        "Connection": "keep-alive",
        "Content-Length": str(len(json.dumps(payload))),
        "Content-Type": "application/json",
        "Date": _DATE,
        "X-Amz-Executed-Version": "$LATEST",
        "X-Amzn-Trace-Id": _TRACE,
        "x-amzn-Remapped-Content-Length": "0",
        "x-amzn-RequestId": _REQUEST_ID,
    }
    # Single texts among the lists: so AWS gives these two.
    single = ("Date", "X-Amzn-Trace-Id", "x-amzn-RequestId")
    listed = {name: text if name in single else [text] for name, text in headers.items()}
    return {
        "ExecutedVersion": "$LATEST",
        "Payload": payload,
        "SdkHttpMetadata": {
            "AllHttpHeaders": listed,
            "HttpHeaders": headers,
            "HttpStatusCode": 200,
        },
        "SdkResponseMetadata": {"RequestId": _REQUEST_ID},
        "StatusCode": 200,
    }


def _exception(task: Mapping[str, Any], write: Any) -> str:
    """The cause that Lambda's Python runtime reports for a handler that raises."""
    name, message = str(task["error"]), str(task.get("message", ""))
    raised = f"raise {name}({json.dumps(message)})"
    where = f'  File "/var/task/handler.py", line 2, in handler\n    {raised}\n'
    cause = {
        "errorMessage": message,
        "errorType": name,
        "requestId": _REQUEST_ID,
        "stackTrace": [where],
    }
    return str(write(cause))


def compact(value: JSON) -> str:
    """``value`` as JSON text without blanks."""
    return json.dumps(value, separators=(",", ":"))
