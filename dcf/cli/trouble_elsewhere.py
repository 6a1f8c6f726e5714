"""From an exception of another room to what the user is told."""

from __future__ import annotations

from dcf.cli.exits import BAD_INPUT, ENVIRONMENT, FAILED
from dcf.cli.trouble import Trouble, list_troubles
from dcf.cli.wording import counted
from dcf.problem import Problem
from dcf_agents.installation import reinstall_command
from dcf_agents.shipped import NotShipped

# Errors of Redis that are the setting's: no server can answer to it.
_SETTING_CODES = frozenset({"setting_invalid", "server_url_invalid"})

# Errors of the memory that are of its file, or of a server, and those of what the command names.
_MEMORY_PLACE = frozenset(
    {"letta_denied", "letta_failed", "letta_missing", "letta_unreachable", "memory_busy"}
    | {"memory_cipher_missing", "memory_corrupt", "memory_database_locked", "memory_full"}
    | {"memory_in_use"}
    | {"memory_too_new", "memory_unusable"}
)
_MEMORY_INPUT = frozenset(
    {"letta_settings", "memory_ambiguous_observation", "memory_backup_exists"}
    | {"memory_context_setting", "memory_database_damaged", "memory_foreign", "memory_key"}
    | {
        "memory_no_claude_mem",
        "memory_no_such_block",
        "memory_observations_all",
        "memory_observations_ids",
        "memory_observation_same",
        "memory_playbook_exists",
    }
    | {"memory_unusable_key", "memory_unusable_value"}
)

# Errors of sessions that are of what the command said; others are of how things stand.
_SESSION_INPUT = frozenset(
    {"bad_value", "companion_exists", "delegation_cycle", "no_companion", "task_exists"}
    | {"too_large", "unknown_companion", "unknown_task"}
)


def explain_elsewhere(error: BaseException) -> Trouble | None:
    """None for what only a defect can raise."""
    return (
        _control_plane(error)
        or _workflow(error)
        or _agents(error)
        or _memory(error)
        or _knowledge(error)
        or _advisors(error)
        or _skills(error)
        or _tools(error)
        or _search(error)
        or _retrieval(error)
        or _planner(error)
        or _sessions(error)
        or _worker(error)
        or _system(error)
    )


def _control_plane(error: BaseException) -> Trouble | None:
    import control_plane as cp
    from control_plane.embedded import ServerUnusable

    if not isinstance(error, cp.ControlPlaneError):
        return None
    code, text = error.code, str(error)
    if isinstance(error, ServerUnusable):
        exit_code = BAD_INPUT if code in _SETTING_CODES else ENVIRONMENT
        return Trouble(exit_code, code, error.message, error.hint)
    if isinstance(error, cp.RefusedForNow | cp.RefusedForGood):
        return Trouble(ENVIRONMENT, code, text, str(error.fields["hint"]))
    if isinstance(error, cp.WrongType):
        message = f"a key of DCF's holds something else: {text}"
        return Trouble(ENVIRONMENT, code, message, str(error.fields["hint"]))
    if isinstance(error, cp.Disconnected):
        hint = "`dcf up` starts the embedded Redis; `dcf doctor` looks at DCF_REDIS_URL"
        return Trouble(ENVIRONMENT, code, text, hint)
    if isinstance(error, cp.ServerError):
        return Trouble(ENVIRONMENT, code, f"Redis refused a command: {text}", "see `dcf doctor`")
    if isinstance(error, cp.BrokenRun | cp.MissingBlob):
        return Trouble(FAILED, code, text, error.hint)
    if isinstance(error, cp.RunExists):
        hint = "choose another --id, or leave it out: a fresh one is made"
        return Trouble(BAD_INPUT, code, text, hint)
    if isinstance(error, cp.UnknownRun | cp.UnknownState):
        try:
            cp.check_workflow_id(str(error.fields["workflow_id"]))
        except cp.BadName as impossible:
            # There is none, and never will be.
            code, text = impossible.code, str(impossible)
        return Trouble(BAD_INPUT, code, text, "`dcf runs` lists the runs of this Redis")
    if isinstance(error, cp.BadRunFile):
        hint = "a file of `dcf runs export`, as it was written"
        return Trouble(BAD_INPUT, code, text, hint)
    if isinstance(error, cp.BadName | cp.BadPlace | cp.BadDocument | cp.UnknownSession):
        return Trouble(BAD_INPUT, code, text)
    return Trouble(FAILED, code, text)


def _agents(error: BaseException) -> Trouble | None:
    from dcf.agents.files import InvalidAgentFile
    from dcf.agents.loading import AgentApprovalError, SeveralPending
    from dcf.agents.templates import InvalidTemplate, UnknownTemplate

    if isinstance(error, InvalidAgentFile | InvalidTemplate):
        return list_troubles(error.problems)
    if isinstance(error, UnknownTemplate):
        return list_troubles([error.problem])
    if isinstance(error, SeveralPending):
        hint = f"name one, as in `dcf approve --agent ID {error.ids[0]}`"
        return Trouble(BAD_INPUT, error.code, str(error), hint)
    if isinstance(error, AgentApprovalError):
        return Trouble(FAILED, error.code, str(error), "`dcf approvals` lists what waits")
    return None


def _memory(error: BaseException) -> Trouble | None:
    from dcf.memory import InvalidEntry, MemoryProblem, RollbackRefused, SnapshotDamaged

    if not isinstance(error, MemoryProblem):
        return None
    if isinstance(error, InvalidEntry):
        return list_troubles(error.problems)
    if isinstance(error, RollbackRefused):
        found = tuple(Problem(error.code, one.reason) for one in error.conflicts)
        reasons = counted(len(found), "reason", "reasons")
        message = f"nothing was rolled back, for {reasons}"
        return Trouble(FAILED, error.code, message, error.hint, found)
    if isinstance(error, SnapshotDamaged):
        return Trouble(BAD_INPUT, error.code, str(error), error.hint, error.damage)
    exit_code = ENVIRONMENT if error.code in _MEMORY_PLACE else FAILED
    of_the_user = ("memory_unknown_", "memory_snapshot_")
    if error.code in _MEMORY_INPUT or error.code.startswith(of_the_user):
        exit_code = BAD_INPUT
    return Trouble(exit_code, error.code, str(error), error.hint)


def _knowledge(error: BaseException) -> Trouble | None:
    from dcf.knowledge import GraphAway, KnowledgeError, SettingUnusable
    from dcf.knowledge.asking import UnknownThing

    if not isinstance(error, KnowledgeError):
        return None
    exit_code = ENVIRONMENT if isinstance(error, GraphAway) else FAILED
    if isinstance(error, SettingUnusable | UnknownThing):
        exit_code = BAD_INPUT
    return Trouble(exit_code, error.code, error.message, error.hint)


def _workflow(error: BaseException) -> Trouble | None:
    from dcf.workflow import (
        EarlierRuns,
        InvalidWorkflow,
        NoApprovalPending,
        NoManualTask,
        NotAnApprover,
        NotRedrivable,
        SeveralPending,
        StillRunning,
        TaskExpired,
        TaskSettled,
        UnfitAnswer,
        UnknownTaskToken,
        WorkflowError,
    )

    if isinstance(error, InvalidWorkflow):
        return list_troubles(error.problems)
    if isinstance(error, NoApprovalPending):
        return Trouble(FAILED, error.code, str(error), "`dcf approvals` lists what waits")
    if isinstance(error, NoManualTask):
        return Trouble(FAILED, error.code, str(error), "`dcf tasks` lists what waits")
    if isinstance(error, UnfitAnswer):
        hint = "`dcf tasks show RUN STATE` says what can be answered"
        return Trouble(BAD_INPUT, error.code, str(error), hint)
    if isinstance(error, SeveralPending):
        hint = f"name the state, as in `dcf approve RUN {error.paths[0]}`"
        return Trouble(BAD_INPUT, error.code, str(error), hint)
    if isinstance(error, NotAnApprover):
        hint = f"decide with --as {error.people[0]}, if that is you" if error.people else ""
        return Trouble(FAILED, error.code, str(error), hint)
    if isinstance(error, UnknownTaskToken):
        hint = "pass the token whole, as the Task's work was given it, and the Redis of its run"
        return Trouble(BAD_INPUT, error.code, str(error), hint)
    if isinstance(error, TaskSettled | TaskExpired):
        hint = "a later try of the Task has a token of its own; `dcf explain ID` says how it stands"
        return Trouble(FAILED, error.code, str(error), hint)
    if isinstance(error, EarlierRuns):
        hint = "let workers of the version before finish them, or `dcf cancel` each and start anew"
        return Trouble(ENVIRONMENT, error.code, str(error), hint)
    if isinstance(error, NotRedrivable | StillRunning | WorkflowError):
        return Trouble(FAILED, error.code, str(error))
    return None


def _advisors(error: BaseException) -> Trouble | None:
    from dcf.advisors import AdvisorProblem
    from dcf.guidelines import InvalidGuidelines

    if isinstance(error, AdvisorProblem):
        return Trouble(FAILED, error.code, str(error), error.hint)
    if isinstance(error, InvalidGuidelines):
        message = "the guidelines in the planner's memory cannot be read"
        return Trouble(FAILED, "guidelines_unreadable", message, error.hint, error.problems)
    return None


def _skills(error: BaseException) -> Trouble | None:
    from dcf.skills import CatalogUnreadable, InvalidManifest, SkillError

    if isinstance(error, InvalidManifest):
        return list_troubles(error.problems)
    if isinstance(error, CatalogUnreadable):
        hint = "`dcf skills generate` writes the folder that DCF_GENERATED names"
        return Trouble(BAD_INPUT, error.code, str(error), hint)
    if isinstance(error, SkillError):
        problems = getattr(error, "problems", ())
        return list_troubles(problems) if problems else Trouble(BAD_INPUT, error.code, str(error))
    return None


def _search(error: BaseException) -> Trouble | None:
    from dcf.search import EmptyQuery, SearchError

    if not isinstance(error, SearchError):
        return None
    exit_code = BAD_INPUT if isinstance(error, EmptyQuery) else ENVIRONMENT
    return Trouble(exit_code, error.code, str(error), error.hint)


def _retrieval(error: BaseException) -> Trouble | None:
    from dcf.code import CodeProblem, InvalidSearch, RootMissing, UnshownFile
    from dcf.retrieval import FolderUnusable, InvalidItem, RetrievalProblem, StoreProblem

    if isinstance(error, InvalidItem | InvalidSearch):
        return list_troubles(error.problems)
    if isinstance(error, RetrievalProblem):
        return Trouble(BAD_INPUT, error.code, str(error), error.hint)
    if isinstance(error, FolderUnusable | StoreProblem):
        return Trouble(ENVIRONMENT, error.code, str(error), error.hint)
    if isinstance(error, CodeProblem):
        of_the_user = isinstance(error, RootMissing | UnshownFile)
        exit_code = BAD_INPUT if of_the_user else ENVIRONMENT
        return Trouble(exit_code, error.code, str(error), error.hint)
    return None


def _planner(error: BaseException) -> Trouble | None:
    from dcf.planner import InvalidAnswers, PlanningProblem, UnknownPlanning

    if not isinstance(error, PlanningProblem):
        return None
    if isinstance(error, InvalidAnswers):
        return list_troubles(error.problems)
    exit_code = BAD_INPUT if isinstance(error, UnknownPlanning) else FAILED
    return Trouble(exit_code, error.code, str(error), error.hint)


def _sessions(error: BaseException) -> Trouble | None:
    from dcf.advisors.strategist import InvalidStrategistGuidelines
    from dcf.sessions import SessionProblem
    from dcf.sessions.conductor import InvalidConductorRules

    if isinstance(error, InvalidStrategistGuidelines | InvalidConductorRules):
        return list_troubles(error.problems)
    if not isinstance(error, SessionProblem):
        return None
    exit_code = BAD_INPUT if error.code in _SESSION_INPUT else FAILED
    return Trouble(exit_code, error.code, str(error), error.hint)


def _tools(error: BaseException) -> Trouble | None:
    from dcf.tools import InvalidDocument, ToolsError, ToolUnavailable, UnknownServer

    if isinstance(error, InvalidDocument):
        return list_troubles(error.problems)
    if isinstance(error, UnknownServer):
        hint = "declare it in skills_src/registry.yaml and generate the skills again"
        return Trouble(BAD_INPUT, error.code, str(error), hint)
    if isinstance(error, ToolUnavailable):
        return Trouble(ENVIRONMENT, error.code, str(error), "see `dcf doctor`")
    if isinstance(error, ToolsError):
        return Trouble(FAILED, error.code, str(error))
    return None


def _worker(error: BaseException) -> Trouble | None:
    from dcf.worker import InvalidHandlers

    return list_troubles(error.problems) if isinstance(error, InvalidHandlers) else None


def _system(error: BaseException) -> Trouble | None:
    """What the operating system refused, where it says about which file; what is not installed."""
    if isinstance(error, NotShipped):
        return Trouble(ENVIRONMENT, "not_shipped", str(error), reinstall_command())
    if not isinstance(error, OSError) or error.filename is None:
        return None
    reason = f"{error.filename}: {error.strerror or type(error).__name__}"
    return Trouble(ENVIRONMENT, "system_error", reason, "check that it can be read and written")
