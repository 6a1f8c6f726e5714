"""Worker processes for a benchmark: the production worker with in-process handlers."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from benchmarks.machines import HANDLERS
from dcf.memory import Source
from dcf.worker import WorkerConfig
from dcf.worker.process import Post, serve


@asynccontextmanager
async def worker_processes(
    url: str,
    count: int,
    *,
    concurrency: int = 8,
    generated: Path | None = None,
    stub: str = "",
    memory: Path | None = None,
) -> AsyncIterator[list[int]]:
    """``count`` workers that are ready for work, whose agents remember in ``memory``; their process
    ids."""
    command = [sys.executable, "-m", "benchmarks.workers", url, str(concurrency)]
    if generated is not None:
        command += [str(generated), stub, str(memory or "")]
    async with processes([*command, f"bench-{number}"] for number in range(count)) as pids:
        yield pids


@asynccontextmanager
async def processes(commands: Iterable[Sequence[str]]) -> AsyncIterator[list[int]]:
    """Processes that have said on a line of their own that they are ready; their ids. They are
    terminated at the end."""
    started = [
        await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
        for command in commands
    ]
    try:
        for process in started:
            if process.stdout is None or not await process.stdout.readline():
                raise RuntimeError("a process did not start; its message is above")
        yield [process.pid for process in started]
    finally:
        for process in started:
            if process.returncode is None:
                process.terminate()
        for process in started:
            await process.wait()


def main() -> None:
    """The worker process itself: ``URL CONCURRENCY [GENERATED STUB_URL MEMORY] NAME``."""
    url, concurrency, *skills, name = sys.argv[1:]
    post = Post(
        redis_url=url,
        name=name,
        config=WorkerConfig(concurrency=int(concurrency)),
        handlers=HANDLERS,
        generated=Path(skills[0]) if skills else None,
        env={"DCF_STUB_URL": skills[1]} if skills else {},
        memory=Source(Path(skills[2])) if skills and skills[2] else None,
    )
    asyncio.run(serve(post, on_ready=lambda: print("ready", flush=True)))


if __name__ == "__main__":
    main()
