"""run_python_test.py --needs=module,module SCRIPT [ARG...]: runs a test script, or skips it (exit code 77, with the
reason) where a module it needs is missing. Where CI is set nothing may be skipped: a missing module fails the test."""
import importlib.util
import os
import pathlib
import runpy
import sys

SKIPPED = 77


def main():
    needs, script = sys.argv[1].removeprefix("--needs="), sys.argv[2]
    missing = [name for name in needs.split(",") if name and importlib.util.find_spec(name) is None]
    if missing:
        print(f"{pathlib.Path(script).name} needs the Python modules {', '.join(missing)}: "
              "`make test` installs them from PyPI (scripts/requirements-test.txt)")
        return 1 if os.environ.get("CI") else SKIPPED
    sys.argv = sys.argv[2:]
    sys.path.insert(0, str(pathlib.Path(script).parent))
    runpy.run_path(script, run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main())
