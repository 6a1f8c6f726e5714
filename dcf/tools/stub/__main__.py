"""``python -m dcf.tools.stub``: the stub without the command line of DCF, as `dcf up` starts it."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import sys
from pathlib import Path

from dcf.tools.errors import InvalidDocument
from dcf.tools.serving import CannotServe
from dcf.tools.stub.place import Place, place_from
from dcf.tools.stub.serve import serve

_CONFIG = Path("generated/stub/stub_config.json")


def main(arguments: list[str] | None = None) -> int:
    """Run the stub; 0 after a clean end, 2 when it cannot start."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    logging.getLogger("dcf").setLevel(logging.INFO)
    try:
        options = _options(place_from(os.environ, _CONFIG), arguments)
        place = Place(options.config, options.host, options.port, options.path)
        asyncio.run(serve(place, seed=options.seed, token=os.environ.get("DCF_TOKEN")))
    except (CannotServe, InvalidDocument) as error:
        hint = getattr(error, "hint", "")
        print("\n".join(filter(None, (f"the stub cannot start: {error}", hint))), file=sys.stderr)
        return 2
    return 0


def _options(place: Place, arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="dcf.tools.stub", description=__doc__)
    parser.add_argument("--config", type=Path, default=place.config)
    parser.add_argument("--host", default=place.host)
    parser.add_argument("--port", type=int, default=place.port, help="0 takes a free port")
    parser.add_argument("--path", default=place.path, help="where all servers together are")
    parser.add_argument("--seed", type=int, default=None, help="instead of the configuration's")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
