"""ResultWriter: what a Map does with the results of its iterations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dcf.asl.effect import WriteResults
from dcf.asl.errors import RESULT_WRITER_FAILED, PlainError
from dcf.asl.maps.map_run import MapRun
from dcf.asl.payload import JSON, compact
from dcf.asl.scope import Expression, Scope
from dcf.asl.visit import Joined

TRANSFORMATIONS = ("NONE", "COMPACT", "FLATTEN")
OUTPUT_TYPES = ("JSON", "JSONL")


@dataclass(frozen=True, slots=True)
class ResultWriter:
    """``arguments`` gives {Bucket, Prefix}; None: the results stay in the output of the Map.

    ``transformation``: NONE has the results with what is known of each iteration, COMPACT the
    results alone, FLATTEN these with arrays among them taken apart. A failed iteration, which has
    no result, is always told as by NONE.
    """

    arguments: Expression | None = None
    transformation: str = "COMPACT"
    output_type: str = "JSON"

    def write(self, scope: Scope, run: MapRun, event: Joined) -> WriteResults:
        """The files for ``event``, and the output that names their manifest.

        Raises EvaluationError.
        """
        assert self.arguments is not None
        given = self.arguments(scope)
        bucket = given.get("Bucket") if isinstance(given, dict) else None
        if not isinstance(bucket, str):
            raise PlainError(RESULT_WRITER_FAILED, "The ResultWriter needs the name of a Bucket.")
        folder = "/".join(filter(None, (str(given.get("Prefix") or "").strip("/"), run.id)))
        files, index = self._files(run, event, folder)
        manifest = {"DestinationBucket": bucket, "MapRunArn": run.arn, "ResultFiles": index}
        key = f"{folder}/manifest.json"
        files[key] = compact(manifest)
        details = {"Bucket": bucket, "Key": key}
        return WriteResults(bucket, files, {"MapRunArn": run.arn, "ResultWriterDetails": details})

    def transform(self, run: MapRun, event: Joined) -> list[JSON]:
        """The results as the Map's own result."""
        return list(self._transformed(run, event, range(len(event.results))))

    def _files(
        self, run: MapRun, event: Joined, folder: str
    ) -> tuple[dict[str, str], dict[str, list[JSON]]]:
        files: dict[str, str] = {}
        index: dict[str, list[JSON]] = {"FAILED": [], "PENDING": [], "SUCCEEDED": []}
        failed = sorted(event.failures)
        succeeded = [n for n in range(len(event.results)) if n not in event.failures]
        for status, numbers in (("SUCCEEDED", succeeded), ("FAILED", failed)):
            if not numbers:
                continue
            name = f"{folder}/{status}_0.{self.output_type.lower()}"
            text = self._text(list(self._transformed(run, event, numbers)))
            files[name] = text
            index[status].append({"Key": name, "Size": len(text.encode("utf-8", "replace"))})
        return files, index

    def _text(self, entries: list[JSON]) -> str:
        if self.output_type == "JSONL":
            return "\n".join(compact(entry) for entry in entries)
        return compact(entries)

    def _transformed(
        self, run: MapRun, event: Joined, numbers: range | list[int]
    ) -> Iterator[JSON]:
        for number in numbers:
            if self.transformation == "NONE" or number in event.failures:
                yield _record(run, event, number)
                continue
            result = event.results[number]
            if self.transformation == "FLATTEN" and isinstance(result, list):
                yield from result
            else:
                yield result


def _record(run: MapRun, event: Joined, number: int) -> JSON:
    """What is known of one iteration, in the form of a described execution."""
    name = run.execution_name(number)
    record: dict[str, JSON] = {"ExecutionArn": run.execution(name), "Name": name}
    if event.inputs is not None:
        record |= {"Input": compact(event.inputs[number])}
        record |= {"InputDetails": {"Included": True}}
    failure = event.failures.get(number)
    if failure is not None:
        record |= {"Error": failure[0] or "", "Cause": failure[1] or "", "Status": "FAILED"}
    else:
        record |= {"Output": compact(event.results[number]), "Status": "SUCCEEDED"}
        record |= {"OutputDetails": {"Included": True}, "RedriveStatus": "NOT_REDRIVABLE"}
        record |= {"RedriveStatusReason": "Execution is SUCCEEDED and cannot be redriven"}
    return record | {"RedriveCount": 0, "StateMachineArn": run.machine}
