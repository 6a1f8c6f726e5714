"""The names a Task or a run can fail with, and when. A test finds the names that are missing."""

from __future__ import annotations

from typing import Final

TASK_ERRORS: Final = {
    "DCF.ToolError": "a tool reported a failure without a name of its own",
    "DCF.ToolTimeout": "a tool did not answer before the limit of the call",
    "DCF.ToolUnavailable": "a tool server could not be reached, or went away before it answered",
    "DCF.ToolResultTooLarge": "a tool answered with more than can be taken; it would do so again",
    "DCF.PermissionDenied": "the gate refused the call of a tool; the cause says which rule",
    "DCF.ApprovalRequired": (
        "a call waits for a person; code that calls tools sees it, no Task ever fails with it"
    ),
    "DCF.ApprovalRejected": "a person or a rule rejected a call, or nobody answered in time",
    "DCF.CommandInterrupted": "a command was begun by a worker that went away; it is not run again "
    "unasked",
    "DCF.ManualTaskFailed": "the person who was to do a manual task said that it could not be done",
    "DCF.BudgetExhausted": "a budget of the run, the try or the agent has nothing left",
    "DCF.ModelUnavailable": (
        "a model could not be reached, or was too busy, for as long as was tried"
    ),
    "DCF.ModelTimeout": "a model did not answer in time, for as long as was tried",
    "DCF.ModelRefused": "a model's provider refused: the key, the model's name, the request itself",
    "DCF.ModelNotConfigured": "the named model cannot be asked; the cause says what it needs",
    "DCF.PriceUnknown": "a budget limits money, and nobody knows what the model costs",
    "DCF.TranscriptMismatch": "a request is not in the transcript; the cause shows what differs",
    "DCF.ContextOverflow": "what an agent has to see does not fit into its window, even summarised",
    "DCF.MalformedCall": "a model called a tool with arguments that are no JSON, or do not fit",
    "DCF.UnknownTool": "a model called a tool that it was not offered",
    "DCF.Interrupted": "a turn was stopped half way; the cause says by what, and a call that was "
    "under way may or may not have been done",
    "DCF.ReplyTimeout": "an agent that was asked did not answer in time",
    "DCF.Undelivered": "a message to an agent was taken three times by processes that went away",
    "DCF.AgentUnavailable": "the agent that the binding names is not there, is busy, or does not "
    "fit the run",
    "DCF.SkillUnavailable": (
        "a skill of the binding is not in the catalog, or has changed since the run was submitted"
    ),
    "DCF.UnboundArgument": "the Task's input has no value for a required argument of a tool",
    "DCF.NoHandler": "this worker has no handler for the Resource, and the state no AgentBinding",
    "DCF.LimitExceeded": "the run used up its steps or events, or a turn its calls",
    "DCF.ModelError": "the model failed, or gave no answer that can be used",
    "DCF.Cancelled": "the run was cancelled; the cause is the reason that was given",
    "DCF.WorkerLost": "as many worker processes as its limit allows died or vanished with this "
    "state",
    "States.ALL": "only in ErrorEquals: stands for every error but States.Runtime and "
    "States.DataLimitExceeded",
    "States.BranchFailed": "a branch of a Parallel failed and nothing caught it",
    "States.DataLimitExceeded": "a result cannot be stored: it has more than 16 MiB",
    "States.ExceedToleratedFailureThreshold": "more items of a Map failed than are tolerated; of a "
    "failed batch, all of its items",
    "States.HeartbeatTimeout": "the Task showed no progress within HeartbeatSeconds",
    "States.IntrinsicFailure": "an intrinsic function was called with arguments it cannot take",
    "States.ItemReaderFailed": "the items of a Map could not be read",
    "States.NoChoiceMatched": "a name of the language that nothing gives: a Choice without a rule "
    "that holds and without a Default fails with States.Runtime, as in Step Functions",
    "States.ParameterPathFailure": "a path in Parameters or ItemSelector finds nothing",
    "States.Permissions": "the Task lacks a permission",
    "States.QueryEvaluationError": "a JSONata expression fails, finds nothing, or gives another "
    "type than its field takes",
    "States.ResultPathMatchFailure": "ResultPath cannot be applied to the input",
    "States.ResultWriterFailed": "the results of a Map could not be written",
    "States.Runtime": "a path or expression cannot be evaluated, a result is no JSON or nests "
    "deeper than 100 levels, or Redis lost data that the state needs; ends the run, nothing "
    "catches it",
    "States.TaskFailed": "a handler raised an exception; in ErrorEquals: most errors of a Task",
    "States.Timeout": "the Task did not finish within TimeoutSeconds, or the run within its own",
}
