"""The pure interpreter as an executor."""

from __future__ import annotations

from random import Random

from dcf.asl import VirtualClock, interpret, parse
from dcf.asl.maps import MemoryObjects
from dcf.conformance.executor import Job, Outcome


class PureExecutor:
    """Runs jobs with ``interpret``."""

    def execute(self, job: Job) -> Outcome:
        """Run ``job``. Raises DefinitionError for a definition that is refused."""
        end = interpret(
            parse(job.definition),
            job.input,
            call_task=job.call_task,
            clock=VirtualClock(job.started_at),
            rng=Random(job.seed),
            context=job.context,
            aws_limits=job.aws_limits,
            objects=MemoryObjects(job.objects),
        )
        return Outcome(end.status, end.output, end.error, end.cause)

    def close(self) -> None:
        """Nothing is held."""
