"""Ways to break a script on purpose, and the guarantee that must then be seen to break."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from dcf.simulation import Guarantee, Sabotage

# By name the first seed that notices a sabotage, or a mutant of the sample: see find_seeds.py.
NOTICED: dict[str, dict[str, int]] = json.loads(
    Path(__file__).with_name("noticed.json").read_text("utf-8")
)


@dataclass(frozen=True, slots=True)
class Broken:
    """``guarantees``: at least one of these must be reported within ``seeds`` seeds."""

    name: str
    sabotage: Sabotage
    guarantees: frozenset[Guarantee]
    seeds: int = 80


def without(text: str, instead: str = "") -> Callable[[str], str]:
    """Replaces ``text``, which must be there."""

    def change(source: str) -> str:
        assert text in source, f"the script has changed: {text!r} is not in it"
        return source.replace(text, instead)

    return change


def _all(change: Callable[[str], str], *scripts: str) -> Sabotage:
    return dict.fromkeys(scripts, change)


def _clear_tokens(source: str) -> str:
    for hashed, clear in (
        ("redis.sha1hex(token)", "token"),
        ("redis.sha1hex(REQ.token)", "REQ.token"),
        ("redis.sha1hex(REQ.token .. ", "(REQ.token .. "),
    ):
        source = source.replace(hashed, clear)
    return source


_HOLDER = "lease.token ~= redis.sha1hex(REQ.token) or ctl.fence ~= REQ.fence"

BROKEN = (
    Broken(
        "a server that takes no writes is taken for a document that cannot be stored",
        _all(without("  if refuses(message) then return { err = message } end\n"), "commit"),
        frozenset({"sound"}),
    ),
    Broken(
        "a commit does not look at token and fence",
        _all(without(_HOLDER, "false"), "commit"),
        frozenset({"fenced"}),
    ),
    Broken(
        "a commit does not look at the end of its lease",
        _all(without("if lease.ends <= NOW then return 'lease_expired' end"), "commit"),
        frozenset({"fenced"}),
    ),
    Broken(
        "fences do not grow",
        _all(without("math.max(ctl.fence + 1, NOW)", "7"), "acquire", "commit"),
        frozenset({"fenced"}),
    ),
    Broken(
        "a commit does not ask whether the run and its joins are alive",
        _all(without("dead(path, ctl) or not_holder(ctl)", "not_holder(ctl)"), "commit"),
        frozenset({"terminal", "joins"}),
    ),
    Broken(
        "a join fires one frame too early",
        _all(without("join.finished == join.n", "join.finished >= join.n - 1"), "commit"),
        frozenset({"joins", "sound"}),
    ),
    Broken(
        "a join stays open after it has fired",
        _all(without("    join.open = false\n    wake(parent)", "    wake(parent)"), "commit"),
        frozenset({"joins"}),
    ),
    Broken(
        "a frame counts twice",
        _all(
            without("join.finished = join.finished + 1", "join.finished = join.finished + 2"),
            "commit",
        ),
        frozenset({"joins", "ends", "sound"}),
    ),
    Broken(
        "a lost hint is not written again",
        _all(
            without("    hint(path)\n    return save(path, ctl)", "    return save(path, ctl)"),
            "tick",
        ),
        frozenset({"ends"}),
    ),
    Broken(
        "an ended lease is not taken back",
        _all(
            without(
                "  elseif expire(path, ctl) then\n",
                "  else return end\n  if false then\n",
            ),
            "tick",
        ),
        frozenset({"ends", "protocol"}),
    ),
    Broken(
        "a takeover counts as a retry",
        _all(
            without(
                "ctl.takeovers = ctl.takeovers + 1",
                "ctl.takeovers, ctl.try = ctl.takeovers + 1, ctl.try + 1",
            ),
            "tick",
        ),
        frozenset({"effect"}),
    ),
    Broken(
        "a retry is the same try again",
        _all(
            without(
                "ctl.try, ctl.retries = ctl.try + 1",
                "ctl.try, ctl.retries = ctl.try",
            ),
            "commit",
        ),
        frozenset({"effect", "one_commit"}),
    ),
    Broken(
        "closing touches what is finished",
        _all(without("if ctl and OPEN[ctl.status] then", "if ctl then"), "close"),
        frozenset({"terminal", "history"}),
    ),
    Broken(
        "a cancelled run counts as succeeded",
        _all(without("end_run('cancelled'", "end_run('succeeded'"), "cancel"),
        frozenset({"cancelled", "result", "terminal"}),
    ),
    Broken(
        "an event does not cover the one before",
        _all(
            without("redis.sha1hex(chain.digest .. '\\n' .. at", "redis.sha1hex('\\n' .. at"),
            "acquire",
        ),
        frozenset({"history"}),
    ),
    Broken(
        "a hint stays queued after it was followed",
        _all(without("redis.call('XDEL', QUEUE, REQ.hint)"), "acquire"),
        frozenset({"clean"}),
    ),
    Broken(
        "tokens are stored as they are",
        _all(_clear_tokens, "acquire", "commit", "renew", "release", "note", "recall", "settle"),
        frozenset({"secret"}),
    ),
    Broken(
        "variables are not handed on",
        _all(without("ARGV[3], ARGV[9])", "ARGV[3], '')"), "commit"),
        frozenset({"result"}),
    ),
    Broken(
        "a join tolerates one failure more than it may",
        _all(
            without("join.failed > join.fail_limit", "join.failed > join.fail_limit + 1"), "commit"
        ),
        frozenset({"joins"}),
    ),
    Broken(
        "an answer to an earlier try counts",
        _all(without("ctl.visit ~= REQ.visit or ctl.try ~= REQ.try", "false"), "signal"),
        frozenset({"result"}),
    ),
    Broken(
        "an answer is accepted and forgotten",
        _all(without("= REQ.event, REQ.call\n", "= nil, REQ.call\n"), "signal"),
        frozenset({"ends", "result", "protocol"}),
    ),
    Broken(
        "a rejection is taken up as an approval",
        _all(
            without(
                "redis.call('JSON.GET', state_key(path)),\n",
                "(string.gsub(redis.call('JSON.GET', state_key(path)), 'reject', 'approve')),\n",
            ),
            "acquire",
        ),
        frozenset({"approved"}),
    ),
    Broken(
        "calls before an approval are forgotten",
        _all(
            without(
                "['$.approval'] = ARGV[10]",
                "['$.approval'] = ARGV[10] and "
                """(string.gsub(ARGV[10], '"journal":.*$', '"journal":[]}'))""",
            ),
            "commit",
        ),
        frozenset({"approved"}),
    ),
    Broken(
        "a second answer to a question counts",
        _all(
            without(
                "if ctl.event or ctl.answered then return 'already_settled' end\n"
                "  if ctl.status ~= 'waiting' or ctl.wait ~= 'approval' then "
                "return 'not_waiting', ctl.status end",
                "",
            ),
            "signal",
        ),
        frozenset({"sound", "approved", "result"}),
    ),
    Broken(
        "an answer counts although its time has passed",
        _all(
            without("if ctl.wait_until and ctl.wait_until <= NOW then return 'expired' end", ""),
            "signal",
        ),
        frozenset({"sound"}),
        seeds=200,
    ),
    Broken(
        "nobody else is asked when an approver is silent",
        _all(without(" or ctl.wait == 'approval'"), "tick"),
        frozenset({"ends", "one_commit"}),
    ),
    Broken(
        "an approval counts for the next question too",
        _all(without(" or ctl.ask ~= REQ.ask", ""), "signal"),
        frozenset({"sound", "result", "approved"}),
    ),
    Broken(
        "no number of deaths is too many",
        _all(without("ctl.deaths >= limit", "false"), "tick", "release"),
        frozenset({"protocol"}),
    ),
    Broken(
        "a timeout starts anew at a takeover",
        _all(without("ctl.begun = ctl.begun or NOW", "ctl.begun = NOW"), "acquire"),
        frozenset({"protocol"}),
    ),
    Broken(
        "a deadline never fires",
        _all(without("ctl.deadline and ctl.deadline <= NOW", "false"), "tick"),
        frozenset({"protocol"}),
    ),
    Broken(
        "MaxConcurrency is ignored",
        _all(without(" and join.spawned - join.finished < join.window", ""), "commit"),
        frozenset({"protocol"}),
    ),
    Broken(
        "a commit that is said again is executed again",
        _all(without("said and said.commit_id == REQ.commit_id", "false"), "commit"),
        frozenset({"protocol"}),
    ),
    Broken(
        "a redrive begins no new try",
        _all(without("ctl.visit + 1, ctl.try + 1, 0", "ctl.visit + 1, ctl.try, 0"), "redrive"),
        frozenset({"protocol"}),
    ),
    Broken(
        "a redrive repeats what is done",
        _all(without(" or ctl.status == 'done'", ""), "redrive"),
        frozenset({"protocol"}),
    ),
    Broken(
        "steps are not counted",
        _all(without("chain.steps = chain.steps + 1\n"), "commit"),
        frozenset({"protocol"}),
    ),
    Broken(
        "what the work was given is not kept",
        _all(without("['$.effective_input'] = ARGV[8]", "['$.effective_input'] = ''"), "commit"),
        frozenset({"protocol"}),
    ),
    Broken(
        "a heartbeat of a callback has no effect",
        _all(without("  ctl.hb_due = NOW + ctl.hb_ms\n  save(path, ctl)\n"), "beat"),
        frozenset({"protocol"}),
    ),
    Broken(
        "a hint is written twice",
        _all(without("do hint(target) end", "do hint(target) hint(target) end"), "commit"),
        frozenset({"protocol"}),
    ),
)
