"""Counters of the stub, as JSON and as text for Prometheus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from dcf.tools.stub.answer import Answer

Place = tuple[str, ...]
"""Server and tool, or server, tool and case."""

_HELP = {
    "tool_calls": "Calls of each tool.",
    "case_hits": "Answers of each case; default is the tool's default response.",
    "errors": "Answers that were errors.",
    "replayed": "Answers given again to a repeated idempotency key.",
}
_LABELS = ("server", "tool", "case")


class Metrics:
    """Counts by tool and by case."""

    def __init__(self) -> None:
        self._counters: dict[str, Counter[Place]] = {name: Counter() for name in _HELP}

    def count(self, tool: tuple[str, str], answer: Answer, *, replayed: bool) -> None:
        """One answer of the tool (server id, name). A replayed one is a call and a replay, but no
        new hit and no new error."""
        self._counters["tool_calls"][tool] += 1
        if replayed:
            self._counters["replayed"][tool] += 1
            return
        if answer.case_id is not None:
            self._counters["case_hits"][(*tool, answer.case_id)] += 1
        if answer.error is not None:
            self._counters["errors"][tool] += 1

    def reset(self) -> None:
        for counter in self._counters.values():
            counter.clear()

    def to_dict(self) -> dict[str, Any]:
        """``tool_calls``, ``errors``, ``replayed`` by ``server:tool``, ``case_hits`` by
        ``server:tool:case``, and the ``totals`` of each."""
        return {
            **{name: _joined(counter) for name, counter in self._counters.items()},
            "totals": {name: counter.total() for name, counter in self._counters.items()},
        }

    def to_prometheus(self) -> str:
        """The text exposition format 0.0.4: one ``dcf_stub_…_total`` for each counter."""
        return "".join(
            f"{line}\n"
            for name, counter in self._counters.items()
            for line in _exposed(f"dcf_stub_{name}_total", _HELP[name], counter)
        )


def _joined(counter: Mapping[Place, int]) -> dict[str, int]:
    return {":".join(place): count for place, count in sorted(counter.items())}


def _exposed(name: str, help_text: str, counter: Mapping[Place, int]) -> Iterator[str]:
    yield f"# HELP {name} {help_text}"
    yield f"# TYPE {name} counter"
    for place, count in sorted(counter.items()):
        labels = ",".join(
            f'{label}="{_escaped(value)}"' for label, value in zip(_LABELS, place, strict=False)
        )
        yield f"{name}{{{labels}}} {count}"


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
