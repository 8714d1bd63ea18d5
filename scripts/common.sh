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
