# Shared by the scripts of this folder; each sources it after changing into the root of the repository.
# shellcheck shell=bash

say() { printf 'lockstep: %s\n' "$*" >&2; }

die() {
  say "$*"
  exit 2
}

# Where everything a build leaves behind goes; ignored by git.
BUILD=build

# On a machine that checks changes, what would be a skip or a warning is a failure.
on_ci() { [ -n "${CI:-}" ] && [ "$CI" != false ] && [ "$CI" != 0 ]; }

# Debian splits venv from python3, and the first python3 of the PATH need not be Debian's.
python_with_venv() {
  local python
  for python in python3 /usr/bin/python3; do
    if "$python" -c 'import ensurepip, venv, sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
      echo "$python"
      return
    fi
  done
  return 1
}
