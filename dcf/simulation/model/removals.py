"""Runs that are over are removed, and exported ones are put back.

Of histories and agents the model knows only whether they are there.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from control_plane import DONE, INDEX
from dcf.simulation.model.budgets import chain_of
from dcf.simulation.model.control import REHINT_MAX_MS, Control, is_json
from dcf.simulation.model.scratch import Scratch

Reply = list[Any]
THERE = True
"""What is known of a value of which only that is known."""


@dataclass(frozen=True, slots=True)
class Damaged:
    """What a strange hand wrote over a key of a run: the type that it has now, and the SHA-1 of its
    text where it is JSON. Whatever reads it has no rule, but for ``condemn``."""

    kind: str
    digest: str = ""


def condemn(now: Scratch) -> Reply:
    """A run of which nothing can be believed any more is cancelled and `removing`, as one that was
    born before any that gets its id from now on. It goes with what it is known to have, and with
    what somebody found."""
    request, keys = now.request, now.keys
    if now.peek(keys.meta) != Damaged(request["kind"], request["digest"]):
        return ["moved"]
    run: Control = {"status": "cancelled", "protocol": 1, "digest": "", "pool": request["pool"]}
    run |= {"born": str(now.now - 1), "said": {}, "removing": True}
    now.set(keys.meta, json.loads(now.text(2)) | {"ctl": run, "created_at": now.now})
    now.set(keys.stage, None)
    for name, key in (("paths", keys.paths), ("blobs", keys.blobs)):
        if request.get(f"no_{name}") or isinstance(now.peek(key), Damaged):
            now.set(key, None)
        now.add(key, dict.fromkeys(request[name], True))
    now.enlist(run)
    now.look_at(now.now + REHINT_MAX_MS)
    return ["ok", run["born"]]


def gc(now: Scratch) -> Reply:
    """So much of a run goes; with the last of it the run itself. From the first call on it is
    `removing`, so that nobody else goes on with it."""
    request, run = now.request, now.load_run()
    if request["born"] != ("" if run is None else run["born"]):
        return ["ok", 0]
    if run is not None and "removing" not in run:
        if kept := _why_kept(request, run):
            return kept
        run["removing"] = True
        if run["status"] == "pending":
            run["status"] = "cancelled"
        now.set(now.keys.due, None)
        now.save_run(run, {"status": run["status"]})
        now.enlist(run)
        now.look_at(now.now + REHINT_MAX_MS)
    elif run is not None and run.pop("restoring", None) is not None:
        now.save_run(run)
    if request.get("mark"):
        return ["more", 0]
    keys, removed = now.keys, 0
    for path in request["paths"]:
        removed += _remove(now, keys.state(path), keys.output(path), keys.calls(path))
        now.add(keys.paths, {path: None})
    for digest in request["blobs"]:
        removed += _remove(now, keys.blob(digest))
        now.add(keys.blobs, {digest: None})
    if now.peek(keys.paths) or now.peek(keys.blobs):
        return ["more", removed]
    whole = (keys.meta, keys.history, keys.chain, keys.due, keys.agents, keys.audit)
    removed += _remove(now, *whole)
    now.enlist(None)
    for of_all in (INDEX, DONE):
        now.add(of_all, {request["run"]: None})
    return ["ok", removed]


def goes_on(run: Control | None) -> bool:
    """Whether the removal of the run had begun, and nobody puts it back."""
    return run is not None and "removing" in run and "restoring" not in run


def _why_kept(request: dict[str, Any], run: Control) -> Reply | None:
    """Who goes on with it, or waits for it."""
    given_up, status = request.get("abandoned"), run["status"]
    if status == "running" or (status == "pending" and not given_up):
        return ["still_running", status]
    if "finalized" not in run and not given_up:
        return ["not_finalized"]
    if run.get("outbox", "told") != "told" and not request.get("unexported"):
        return ["not_exported"]
    return None


def _remove(now: Scratch, *keys: str) -> int:
    """How many of them there were."""
    there = sum(now.peek(key) is not None for key in keys)
    for key in keys:
        now.set(key, None)
    return there


def restore(now: Scratch) -> Reply:
    """The documents of a run that there is not, call by call; what was heard counts once."""
    request, run = now.request, now.load_run()
    number, last = request["number"], request.get("last")
    if run is not None and run.get("restoring") != request["call"]:
        whole = last and "removing" not in run
        same = whole and json.loads(now.text(2))["ctl"]["born"] == run["born"]
        return ["ok"] if same else ["exists"]
    heard = 0 if run is None else run.get("restored", 0)
    if number != heard + 1:
        return ["ok" if number <= heard else "gone"]
    if run is None:
        document = json.loads(now.text(2))
        now.set(now.keys.meta, document)
        run = document["ctl"] | {"removing": True, "restoring": request["call"]}
    now.save_run(run | {"restored": number})
    for (kind, name), text in zip(request["parts"], now.texts[1:], strict=True):
        _write(now, kind, name, text)
    if not last:
        now.look = now.now + REHINT_MAX_MS
        now.add(INDEX, {request["run"]: now.look})
        return ["ok"]
    document = json.loads(now.text(2))
    now.set(now.keys.meta, document)
    now.enlist(document["ctl"])
    now.add(INDEX, {request["run"]: None})
    now.add(DONE, {request["run"]: now.now})
    return ["ok"]


def refused_restore(now: Scratch) -> None:
    """What a call of a restore in which a text is no JSON makes of the run's document: nobody takes
    for whole what is there, nor counts the call."""
    if now.load_run() is None and is_json(now.text(2)):
        document = json.loads(now.text(2))
        now.set(now.keys.meta, document)
        now.save_run(document["ctl"] | {"removing": True, "restoring": now.request["call"]})


def _write(now: Scratch, kind: str, name: str, text: str) -> None:
    """One part of an export."""
    keys = now.keys
    if kind == "state":
        now.set(keys.state(name), json.loads(text))
    elif kind == "output":
        now.set(keys.output(name), json.loads(text))
    elif kind == "audit":
        now.set(keys.audit, json.loads(text))
    elif kind == "path":
        now.add(keys.paths, {name: True})
    elif kind == "chain":
        now.set(keys.chain, chain_of(_hash(text)))
    elif kind == "calls":
        now.set(keys.calls(name), _hash(text) | {"until": None})
    elif kind == "blob":
        now.add(keys.blobs, {name: True})
        now.set(keys.blob(name), text)
    else:
        now.set({"history": keys.history, "agents": keys.agents}[kind], THERE)


def _hash(text: str) -> dict[str, str]:
    flat = json.loads(text)
    return dict(zip(flat[::2], flat[1::2], strict=True))
