"""``python -m dcf.tools.stub --config generated/stub/stub_config.json --port 8765``."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import sys
from pathlib import Path

from dcf.tools.errors import InvalidDocument
from dcf.tools.stub.serve import CannotServe, serve


def main(arguments: list[str] | None = None) -> int:
    """Run the stub; 0 after a clean end, 2 when it cannot start."""
    parser = argparse.ArgumentParser(prog="dcf.tools.stub", description=__doc__)
    parser.add_argument("--config", type=Path, default=Path("generated/stub/stub_config.json"))
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8765, help="0 takes a free port")
    parser.add_argument("--seed", type=int, default=None, help="instead of the configuration's")
    options = parser.parse_args(arguments)
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    logging.getLogger("dcf").setLevel(logging.INFO)
    try:
        asyncio.run(
            serve(
                options.config,
                host=options.host,
                port=options.port,
                seed=options.seed,
                token=os.environ.get("DCF_TOKEN"),
            )
        )
    except (CannotServe, InvalidDocument) as error:
        print(f"the stub cannot start: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
