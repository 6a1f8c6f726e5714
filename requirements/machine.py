"""What this machine lacks for `make demo` and `make test`, in one line each, before anything is
installed. Ends with 1 where the Python is not usable. Runs on any Python 3 and imports nothing
of the project: it speaks before an environment exists.
"""

import ctypes
import importlib.util
import platform
import shutil
import sys

OLDEST, NEWEST_TESTED, NEWEST = (3, 11), (3, 13), (3, 14)
# What the module of the graph server is linked with, by the package of Debian that has it.
LIBRARIES = {"libgomp.so.1": "libgomp1", "libssl.so.3": "libssl3"}


def main():
    version = sys.version_info[:2]
    if platform.system() == "Windows":
        return "DCF does not run on Windows itself: run it in WSL (wsl --install), as on Linux."
    if not OLDEST <= version <= NEWEST:
        return (
            "DCF needs Python 3.11 to 3.14, and this is {}.{}. Name another one: "
            "make PYTHON=python3.12 ...".format(*version)
        )
    if importlib.util.find_spec("ensurepip") is None:
        return (
            "This Python cannot make environments (module ensurepip): on Debian and Ubuntu, "
            "apt-get install python{}.{}-venv".format(*version)
        )
    for line in remarks(version):
        print("Note: " + line, file=sys.stderr)
    return None


def remarks(version):
    if version > NEWEST_TESTED:
        yield (
            "Python {}.{} is not tested; all tests run on 3.11, those of installation and start on "
            "3.12 and 3.13 too.".format(*version)
        )
    if not has_servers(version):
        yield (
            "there is no embedded Redis for {} {} and Python {}.{}: run Redis 8 or newer, or "
            "another server with a JSON module, and set "
            "DCF_REDIS_URL=redis://127.0.0.1:6379/0".format(
                platform.system(), platform.machine(), *version
            )
        )
    if not has_embedder(version) and not any(map(shutil.which, ("cc", "gcc", "clang"))):
        yield (
            "wordllama has no wheel for this machine and is compiled, which needs a C compiler: on "
            "Debian and Ubuntu, apt-get install gcc python3-dev"
        )
    missing = [name for library, name in LIBRARIES.items() if not loads(library)]
    if has_servers(version) and missing:
        yield "the graph server lacks system libraries: apt-get install " + " ".join(missing)


def has_servers(version):
    """Where PyPI has wheels of both servers; see docs/decisions/0002."""
    here = platform.system(), platform.machine()
    if here == ("Linux", "x86_64"):
        return platform.libc_ver()[0] == "glibc" and version < (3, 14)
    return here == ("Darwin", "arm64") and version < (3, 12)


def has_embedder(version):
    """Where PyPI has a wheel of wordllama; elsewhere it is built from its source."""
    if version > (3, 13):
        return False
    if platform.system() == "Linux":
        return platform.machine() == "x86_64" and platform.libc_ver()[0] == "glibc"
    return platform.system() == "Darwin"


def loads(library):
    if platform.system() != "Linux":
        return True
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
