"""What came of a task, read from its run."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from rich.highlighter import JSONHighlighter

from control_plane import BadName, MissingBlob, Store, UnknownRun
from dcf.sessions import SessionTask


@dataclass(frozen=True, slots=True)
class TaskResult:
    """The output of a task, None while it has none; ``missing`` says why it cannot be read any
    more."""

    summary: str | None
    data: Any = None
    metrics: Any = None
    missing: str | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "summary": self.summary,
            "data": self.data,
            "metrics": self.metrics,
            "missing": self.missing,
        }

    @property
    def shown(self) -> list[Any]:
        """For people."""
        parts: list[Any] = [self.summary] if self.summary else []
        if self.data is not None:
            text = json.dumps(self.data, ensure_ascii=False, indent=2)
            parts.append(JSONHighlighter()(text))
        return [*parts, f"the result is gone: {self.missing}"] if self.missing else parts


async def result_of(store: Store, task: SessionTask) -> TaskResult:
    """The result of a task, whole."""
    if task.is_open or task.first_at is None or task.kind == "group":
        return TaskResult(task.summary)
    try:
        run = await store.run(task.task_id)
        if run.exit is None:
            return TaskResult(task.summary)
        output = (await store.outputs(task.task_id, [run.exit])).get(run.exit)
        if output is None:
            return TaskResult(task.summary)
        data = await store.value(task.task_id, output["data"])
    except (UnknownRun, BadName, MissingBlob) as gone:
        return TaskResult(task.summary, missing=str(gone))
    return TaskResult(output.get("summary") or task.summary, data, output.get("metrics"))
