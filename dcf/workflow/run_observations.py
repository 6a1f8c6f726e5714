"""What a run that is over leaves to be known: a few observations, made of its history and its
definition, without a model.

They are told to later runs of the workflow, which may be of other people. So they are made of names
and conditions that the definition has, and of nothing that a run was given or that a tool put out;
that stands in the ``note`` of each, which no other run gets.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from control_plane import MissingBlob, RunDocument, StateDocument, Store, history
from dcf.memory import Actor, Memory, NewObservation, Observation, Origin
from dcf.memory.extraction import trimmed
from dcf.workflow.choice_reason import choice_reason
from dcf.workflow.run_story import RunStory, label_of

MOST = 5
"""Observations of one run: of those that are more, the last kinds are left out."""
_EVENTS = 20_000
"""Events of a history that are read: those of a wide Map repeat themselves long before."""
_TASKS = 50
"""Tasks whose results are looked at."""
_RISKS = ("medium", "high")


async def observe_run(
    store: Store, memory: Memory, workflow_id: str, *, project: str, by: Actor
) -> tuple[Observation, ...] | None:
    """Keep what a finished run leaves to be known, once, however often this is called: None where
    that was done, or the run is not over. Raises UnknownRun, CorruptHistory, MemoryProblem."""
    run = await store.run(workflow_id)
    source, event = Origin("run", workflow_id), f"{run.born}/{run.redrives}"
    if not run.is_over or await memory.observations.is_observed(source, event):
        return None
    new = await observations_of(store, run, project=project)
    return await memory.observations.observe(source, event, *new, by=by)


async def observations_of(
    store: Store, run: RunDocument, *, project: str = ""
) -> tuple[NewObservation, ...]:
    """What a run that is over leaves to be known, the most telling first. Raises as
    ``observe_run``."""
    story = RunStory(run, await definition_of(store, run))
    count = 0
    async for event in history.read(store, run.workflow_id):
        story.add(event)
        count += 1
        if count == _EVENTS:
            break
    await _look_at_results(store, story)
    return tuple(trimmed(one) for one in _Telling(story, project).all())[:MOST]


@dataclass(frozen=True, slots=True)
class _Telling:
    """The observations of a story."""

    story: RunStory
    project: str

    def all(self) -> Iterator[NewObservation]:
        """All that there is to tell."""
        yield from self._failures()
        for label, path in self.story.changed.items():
            yield self._new(
                "discovery",
                f"{label} answered the same input differently",
                path,
                subtitle="An earlier visit of the state in the same run had another result.",
                concepts=("gotcha",),
            )
        yield from self._rejections()
        for (label, tool, rule), path in self.story.refused.items():
            if (label, tool) in self.story.rejected:
                continue
            yield self._new(
                "discovery",
                f"{label} may not call {tool} ({rule})",
                path,
                subtitle=f"The gate refused the call by the rule {rule}.",
                concepts=("gotcha",),
            )
        for (label, error, target), (path, retried) in self.story.caught.items():
            yield self._new(
                "discovery",
                f"{label}: {error} led to {target}",
                path,
                subtitle=f"{label} failed with {error}, which was caught.",
                facts=self._retry_facts(path, error, retried),
                concepts=("gotcha", "how-it-works"),
            )
        for (label, error), path in self.story.helped.items():
            yield self._new(
                "bugfix",
                f"{label}: a retry got over {error}",
                path,
                subtitle=f"{label} failed with {error}, and a later try succeeded.",
                facts=self._policy(path, error),
                concepts=("problem-solution",),
            )
        yield from self._decisions()
        yield from self._changes()

    def _failures(self) -> Iterator[NewObservation]:
        if self.story.run.status == "timed_out":
            limit = self.story.definition.get("TimeoutSeconds")
            yield self._new(
                "discovery",
                "The run did not end within its time",
                None,
                facts=() if limit is None else (f"Its limit is {limit} s.",),
                concepts=("gotcha",),
            )
        last = list(self.story.failed)[-1:] if self.story.run.status == "failed" else []
        for key in [*last, *(key for key in self.story.failed if key not in last)]:
            (label, error), (path, retried) = key, self.story.failed[key]
            ended = key in last
            facts = (*self._way_to(path), *self._retry_facts(path, error, retried))
            yield self._new(
                "discovery",
                f"{label} ended the run with {error}" if ended else f"{label} failed with {error}",
                path,
                subtitle="Nothing caught the error." if not self._is_end(path) else "",
                facts=facts,
                concepts=("gotcha",),
                note=str(self.story.run.error or "") if ended else "",
            )

    def _rejections(self) -> Iterator[NewObservation]:
        """What people refused. Why they did is of that run, and may name whom it was about."""
        for (label, tool), times in self.story.rejected.items():
            path = times[0][0]
            yield self._new(
                "decision",
                f"{label}: a person refused {tool}",
                path,
                subtitle="The call waited for an approval, and was rejected.",
                concepts=("gotcha",),
                note="\n".join(f"{by}: {why}" if why else by for _, by, why in times),
            )

    def _decisions(self) -> Iterator[NewObservation]:
        if not self.story.chosen:
            return
        chosen = self.story.chosen
        # What is not the usual way comes first, as far as it is not of one item of many.
        keys = sorted(chosen, key=lambda key: (*self._rank(chosen[key], key), key[1]))
        facts = tuple(
            f"{label} went to {to}{self._reason(chosen[label, to], to)}" for label, to in keys
        )
        yield self._new(
            "decision",
            ", ".join(f"{label.rpartition('/')[2]}→{to}" for label, to in keys),
            chosen[keys[0]],
            subtitle=f"{len(keys)} decisions of the workflow, with the rules that they follow.",
            facts=facts,
            concepts=("how-it-works",),
        )

    def _changes(self) -> Iterator[NewObservation]:
        calls = sorted(self.story.calls.items(), key=lambda item: self.story.place(item[0][0]))
        risky = {key: call for key, call in calls if call.risk in _RISKS}
        if not risky and not self.story.files:
            return
        tools = list(dict.fromkeys(tool.rpartition(":")[2] for _, tool in risky))
        title = f"Changed by {', '.join(tools)}" if tools else "Files were written"
        yield self._new(
            "change",
            title,
            next((call.path for call in risky.values()), None),
            subtitle="Calls of tools that may change something outside, by the skills' own account."
            if tools
            else "",
            facts=tuple(
                f"{label} called {tool} (risk {call.risk}), declared by {', '.join(call.skills)}"
                for (label, tool), call in risky.items()
            ),
            concepts=("what-changed",),
            note="\n".join(self.story.files),
        )

    def _way_to(self, path: str) -> tuple[str, ...]:
        before = self.story.came_from.get(path)
        if before is None:
            return ()
        if self.story.state(before).get("Type") != "Choice":
            return (f"It came after {label_of(before)}.",)
        reason = self._reason(before, label_of(path).rpartition("/")[2])
        return (f"{label_of(before)} went there{reason}",)

    def _reason(self, path: str, to: str) -> str:
        reason = choice_reason(self.story.state(path), to)
        return f": {reason}" if reason else ""

    def _rank(self, path: str, key: tuple[str, str]) -> tuple[int, bool, int]:
        label, to = key
        by_default = bool(self.story.state(path).get("Default") == to)
        return label.count("/"), by_default, self.story.place(label)

    def _is_end(self, path: str) -> bool:
        return self.story.state(path).get("Type") == "Fail"

    def _retry_facts(self, path: str, error: str, retried: bool) -> tuple[str, ...]:
        return ("Its retries did not help.", *self._policy(path, error)) if retried else ()

    def _policy(self, path: str, error: str) -> tuple[str, ...]:
        rules = self.story.state(path).get("Retry") or ()
        names = (error, "States.TaskFailed", "States.ALL")
        for rule in rules:
            if any(name in rule.get("ErrorEquals", ()) for name in names):
                return (
                    f"Retry of {', '.join(rule['ErrorEquals'])}: "
                    f"up to {rule.get('MaxAttempts', 3)} times, "
                    f"first after {rule.get('IntervalSeconds', 1)} s.",
                )
        return ()

    def _new(self, type_: Any, title: str, path: str | None, **said: Any) -> NewObservation:
        run = self.story.run
        return NewObservation(
            type=type_,
            title=title,
            origin=Origin("run", run.workflow_id, state=path),
            project=self.project,
            workflow=run.name,
            at=self.story.at.get(path or "", run.finished_at or 0) or None,
            **said,
        )


async def _look_at_results(store: Store, story: RunStory) -> None:
    """What the Tasks of a run say that its history does not."""
    keys = store.keys(story.run.workflow_id)
    for path, visits in list(story.done.items())[:_TASKS]:
        text = await store.backend.command("JSON.GET", keys.output(path), ".artifacts")
        story.files += map(_artifact, json.loads(text) if text else ())
        if len({output for _, output in visits}) > 1:
            earlier = [f"{path}@{visit}" for visit, _ in visits[:-1]]
            found = await store.states(story.run.workflow_id, [path, *earlier])
            if _differ(found, path, visits):
                story.changed.setdefault(label_of(path), path)


def _differ(
    found: Mapping[str, StateDocument], path: str, visits: Sequence[tuple[int, str]]
) -> bool:
    """Whether two visits with the same input put out something else."""
    outputs: dict[str, str] = {}
    names = [*(f"{path}@{visit}" for visit, _ in visits[:-1]), path]
    for name, (_, output) in zip(names, visits, strict=True):
        document = found.get(name)
        if document is not None:
            given = document.raw.get("effective_input", document.input)
            if outputs.setdefault(json.dumps(given, sort_keys=True), output) != output:
                return True
    return False


async def definition_of(store: Store, run: RunDocument) -> Mapping[str, Any]:
    """The machine that a run executes; empty where it is gone."""
    try:
        value: Any = await store.value(run.workflow_id, {"$blob": run.definition})
    except MissingBlob:
        return {}
    machine = value.get("asl", value) if isinstance(value, dict) else {}
    return machine if isinstance(machine, dict) else {}


def _artifact(one: object) -> str:
    if isinstance(one, Mapping):
        return str(one.get("path") or one.get("uri") or one.get("name") or json.dumps(one))
    return str(one)
