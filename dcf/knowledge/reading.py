"""From the documents of a run to what it came to. Reads only; no model, no graph."""

from __future__ import annotations

import json
import re
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from control_plane import (
    MissingBlob,
    RunDocument,
    StateDocument,
    Store,
    assigned,
    encode_name,
    split_path,
)
from dcf.knowledge.deeds import Deeds, deeds_in
from dcf.knowledge.outcome import Outcome, RunFact
from dcf.knowledge.privacy import Privacy
from dcf.knowledge.session_fact import COMPANION_POOL, SESSION_PIN
from dcf.skills import newest, parse_ref
from dcf.workflow import is_earlier

_PAGE = 500
_KEPT = 64
_NUMBER = re.compile(r"\[\d+\]")
# Pins of other things than skills have a kind in front.
_OTHER_PINS = ("tool:", "prompt:", "template:")


@dataclass(frozen=True, slots=True)
class _Setting:
    """What a run's meta document says of its states."""

    run: RunDocument
    definition: Mapping[str, Any]
    assigned: Mapping[str, str]
    versions: Mapping[str, Mapping[str, str]]
    deeds: Deeds


@dataclass(slots=True)
class _Totals:
    """What a run used and how its states stand, over all its documents."""

    states: Counter[str] = field(default_factory=Counter)
    cost_usd: float = 0.0
    tokens: int = 0

    def add(self, document: StateDocument) -> None:
        metrics = document.metrics or {}
        self.cost_usd += metrics.get("estimated_cost_usd") or 0
        self.tokens += metrics.get("total_tokens") or 0
        if document.kind == "state" and not is_earlier(document.path):
            self.states[document.status] += 1


class RunReader:
    """Reads runs of ``store``; definitions lately used are kept. Texts go through ``privacy``."""

    def __init__(self, store: Store, privacy: Privacy) -> None:
        self._store = store
        self._privacy = privacy
        self._definitions: OrderedDict[str, Mapping[str, Any]] = OrderedDict()

    async def tell(self, run: RunDocument) -> AsyncIterator[Outcome | RunFact]:
        """Every finished visit of a Task of ``run``, which is over, in order of their paths; last
        what the run came to as a whole."""
        setting = await self._setting(run)
        totals = _Totals()
        async for document in self._documents(run.workflow_id):
            totals.add(document)
            if document.type == "Task" and document.kind == "state":
                outcome = self._outcome(setting, await self._recovered(run, document))
                if outcome is not None:
                    yield outcome
        yield self._run_fact(setting, totals)

    def _run_fact(self, setting: _Setting, totals: _Totals) -> RunFact:
        run = setting.run
        ended = run.finished_at or run.finalized_at or 0
        started = run.started_at or run.created_at or ended
        version = run.raw.get("version")
        error = run.error
        return RunFact(
            run=f"{run.workflow_id}/{run.born}",
            redrives=run.redrives,
            workflow_id=run.workflow_id,
            workflow_name=self._privacy.text(run.name),
            version=None if version is None else self._privacy.text(str(version)),
            digest=run.definition,
            status=run.status,
            started_at=started,
            ended_at=ended,
            duration_ms=max(0, ended - started),
            states={**totals.states, "total": totals.states.total()},
            cost_usd=totals.cost_usd,
            tokens=totals.tokens,
            error=self._privacy.optional(error.error) if error else None,
            cause=self._privacy.optional(error.cause) if error else None,
            sop=self._privacy.optional(_source_of(setting.definition)),
        )

    async def _documents(self, workflow_id: str) -> AsyncIterator[StateDocument]:
        paths = await self._store.paths(workflow_id)
        for at in range(0, len(paths), _PAGE):
            found = await self._store.states(workflow_id, paths[at : at + _PAGE])
            for path, document in found.items():
                # An earlier visit stands under a path of its own, and says the one it had.
                yield document if document.path == path else replace(document, path=path)

    async def _recovered(self, run: RunDocument, document: StateDocument) -> StateDocument:
        """``document``, without the error of an earlier try that a later one made good. A state
        that is done keeps an error in that case, and when the failure was caught: then its output
        says so."""
        if document.status != "done" or document.error is None or not document.retries:
            return document
        key = self._store.keys(run.workflow_id).output(document.path)
        text = await self._store.backend.command("JSON.GET", key, ".summary")
        caught = text is not None and json.loads(text) == f"caught {document.error}"
        return document if caught else replace(document, error=None)

    async def _setting(self, run: RunDocument) -> _Setting:
        versions: dict[str, dict[str, str]] = {}
        for pin in run.raw.get("pins") or {}:
            if pin != SESSION_PIN and not pin.startswith(_OTHER_PINS):
                ref = parse_ref(pin)
                versions.setdefault(ref.name, {})[ref.wanted] = pin
        known = await assigned(self._store, run.workflow_id)
        definition = await self._definition(run)
        deeds = Deeds(self._privacy)
        # Only states with a binding call tools, or are approved: other histories are not read.
        if run.raw.get("skills"):
            deeds = await deeds_in(self._store, run.workflow_id, self._privacy)
        return _Setting(run, definition, known, versions, deeds)

    async def _definition(self, run: RunDocument) -> Mapping[str, Any]:
        """The workflow document, as it was submitted."""
        found = self._definitions.get(run.definition)
        if found is None:
            try:
                value: Any = await self._store.value(run.workflow_id, {"$blob": run.definition})
            except MissingBlob:
                # The run's own document says the skills too.
                return {}
            found = self._definitions[run.definition] = value if isinstance(value, dict) else {}
            if len(self._definitions) > _KEPT:
                self._definitions.popitem(last=False)
        return found

    def _outcome(self, setting: _Setting, document: StateDocument) -> Outcome | None:
        ended = document.times.get("finished")
        if document.status not in ("done", "failed") or ended is None:
            return None
        run, path = setting.run, document.path.partition("@")[0]
        shown = self._shown(setting.definition, path)
        binding = _binding(setting.definition, path)
        loaded = binding.get("skills") or _of_state(run.raw.get("skills") or {}, path) or ()
        skills = tuple(_manifest_ids(loaded, setting.versions))
        name = str(split_path(shown)[-1])
        declared = binding.get("task_type")
        bound = _companion_of(run) or _of_state(run.raw.get("agents") or {}, path)
        metrics, chosen = document.metrics or {}, document.raw.get("model_selection") or {}
        # A failure that was caught leaves a state done, and says what it was.
        error = document.error
        # What a person does or approves is the waiting: it begins again when the answer is there.
        first, other = ("entered", "started") if _is_approval(binding) else ("started", "entered")
        started = document.times.get(first) or document.times.get(other) or ended
        return Outcome(
            run=f"{run.workflow_id}/{run.born}",
            workflow_id=run.workflow_id,
            workflow_name=self._privacy.text(run.name),
            path=shown,
            state=name,
            visit=document.visit,
            tries=1 + sum(document.retries.values()),
            task_type=self._privacy.text(
                str(declared) if declared else _skill_name(skills[0]) if skills else name
            ),
            skills=skills,
            agent=self._privacy.optional(setting.assigned.get(path) or bound),
            status="failed" if error is not None else "done",
            error=self._privacy.text(error.error or "unnamed") if error else None,
            cause=self._privacy.optional(error.cause) if error else None,
            started_at=started,
            ended_at=ended,
            duration_ms=max(0, ended - started),
            cost_usd=metrics.get("estimated_cost_usd"),
            tokens=metrics.get("total_tokens"),
            tool_calls=metrics.get("tool_calls"),
            tier=chosen.get("tier"),
            fcs=chosen.get("fcs"),
            escalated=bool(metrics.get("tier_escalated")),
            model=self._privacy.optional(metrics.get("model") or chosen.get("model")),
            session=(run.raw.get("pins") or {}).get(SESSION_PIN),
            chosen=self._privacy.optional(_chosen(setting.definition, name)),
            tools=setting.deeds.tools(path, document.visit),
            approvals=setting.deeds.approvals(path, document.visit),
        )

    def _shown(self, definition: Mapping[str, Any], path: str) -> str:
        """``path`` without what must not be kept. A name that had any of it gets its place among
        the states of its machine: two of them must not become one."""
        names = [step for step in split_path(path) if isinstance(step, str)]
        private = [self._privacy.text(name) for name in names]
        if private == names:
            return path
        machines = _machines(definition, path)
        segments = path.split("/")
        for at, (name, shown, machine) in enumerate(zip(names, private, machines, strict=True)):
            if shown != name:
                states = list(machine.get("States") or ())
                place = f" ({states.index(name) + 1})" if name in states else ""
                number = segments[at].removeprefix(encode_name(name))
                segments[at] = encode_name(f"{shown}{place}") + number
        return "/".join(segments)


def _skill_name(manifest_id: str) -> str:
    """As bindings that declare a type of task call it: without version and ``skill.``."""
    return manifest_id.partition("@")[0].removeprefix("skill.")


def _of_state(table: Mapping[str, Any], path: str) -> Any:
    """What ``table`` says of a state: ``Fan[2]/Pay`` stands there as ``Fan[]/Pay`` in a Map, and as
    itself in a branch."""
    return table.get(path, table.get(_NUMBER.sub("[]", path)))


def _machines(document: Mapping[str, Any], path: str) -> list[Mapping[str, Any]]:
    """The state machine that each state on ``path`` stands in, empty where it is not known."""
    machine: Any = document.get("asl", document)
    state: Any = {}
    found = []
    for step in split_path(path):
        if isinstance(step, str):
            found.append(machine)
            state = (machine.get("States") or {}).get(step) or {}
            machine = state.get("ItemProcessor") or state.get("Iterator") or {}
        elif state.get("Branches"):
            machine = state["Branches"][step] if step < len(state["Branches"]) else {}
    return found


def _binding(document: Mapping[str, Any], path: str) -> Mapping[str, Any]:
    """The AgentBinding of the state at ``path``, empty where it has none."""
    states = _machines(document, path)[-1].get("States") or {}
    name = [step for step in split_path(path) if isinstance(step, str)][-1]
    return (states.get(name) or {}).get("AgentBinding") or {}


def _companion_of(run: RunDocument) -> str | None:
    """Who has the run, which is a delegated task, now that it is over; None for any other run. Its
    state is bound to the template of all companions."""
    if SESSION_PIN in (run.raw.get("pins") or {}) and run.pool.startswith(COMPANION_POOL):
        return run.pool.removeprefix(COMPANION_POOL)
    return None


def _is_approval(binding: Mapping[str, Any]) -> bool:
    """Whether a state is an approval, or what a person does, and no work."""
    approval = binding.get("approval")
    only = isinstance(approval, dict) and approval.get("only") is True
    return only or isinstance(binding.get("manual"), dict)


def _manifest_ids(refs: Iterable[str], versions: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """What the run was pinned to, for each reference; the reference itself where it was not."""
    for text in dict.fromkeys(refs):
        ref = parse_ref(text)
        pinned = versions.get(ref.name) or versions.get(f"skill.{ref.name}") or {}
        version = newest(pinned, ref.wanted)
        yield pinned[version] if version else text


def _chosen(document: Mapping[str, Any], state: str) -> str | None:
    """Why the plan of ``document`` took the skills of ``state`` (its name), and which were next."""
    plan = document.get("plan")
    steps = plan.get("steps") if isinstance(plan, Mapping) else None
    for step in steps if isinstance(steps, list) else ():
        if not isinstance(step, Mapping) or state not in (step.get("states") or ()):
            continue
        why = step.get("why")
        if not isinstance(why, str) or not why:
            return None
        others = [str(one["skill"]) for one in step.get("runners_up") or () if "skill" in one]
        return f"{why}; next: {', '.join(others)}" if others else why
    return None


def _source_of(document: Mapping[str, Any]) -> str | None:
    """The SOP or plan that a workflow document says it was made from."""
    for name in ("sop", "plan", "generated_from"):
        value = document.get(name)
        if isinstance(value, str):
            return value
        if isinstance(value, Mapping):
            named = value.get("id") or value.get("file") or value.get("title")
            if named:
                return str(named)
    return None
