# Lockstep: `make demo` and `make test` need nothing else to be typed first; they install what is missing.
# Everything they make goes to build/. The work is done by scripts/ and by the presets of CMakePresets.json.

# What `make demo` trains.
DEMO_CONFIG ?= examples/lenet5-fashion.toml

# Seconds that `make fuzz` spends on each target.
SECONDS ?= 60

# Hours that `make campaign` takes.
HOURS ?= 1

JOBS ?= $(shell nproc)
export JOBS

.DEFAULT_GOAL := help
.PHONY: help docs demo test test-slurm test-bare build wheel fuzz campaign coverage peers data sanitize format tidy install clean
.NOTPARALLEL:

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 19

demo: ## climb the ladder with LeNet-5 on Fashion-MNIST: every rung measured, one hash, a report (build/demo)
	@scripts/demo $(DEMO_CONFIG)

# The packages from PyPI come over the network while the processors build the fuzz targets, which need no Python.
test: ## build and run every test
	@scripts/bootstrap test
	@scripts/venv & venv=$$!; scripts/build fuzz; built=$$?; wait $$venv && exit $$built
	@scripts/build release
	@scripts/run_tests.py release -j$(JOBS)

test-slurm: ## run the program under srun and sbatch, on a Slurm cluster of three nodes on this machine (root)
	@scripts/test_slurm

test-bare: ## run both commands of the README in a Debian where nothing is installed (root; BARE=demo or BARE=test for one)
	@scripts/test_bare $(BARE)

build: ## build the program build/lockstep
	@scripts/bootstrap build
	@scripts/build release lockstep_program

wheel: ## build the Python package build/wheel/*.whl (pip install it anywhere with this or a later glibc)
	@scripts/bootstrap build wheel
	@scripts/wheel

fuzz: ## run every fuzz target for SECONDS=60 each
	@scripts/bootstrap fuzz
	@scripts/build fuzz
	@scripts/fuzz $(SECONDS)

campaign: ## draw trainings, kills, damages, failing calls and power cuts at random for HOURS=1; the counts go to docs/reliability.md
	@scripts/bootstrap test fuzz
	@scripts/build fuzz
	@scripts/build release lockstep_program campaign_records campaign_crash campaign_faults
	@scripts/campaign $(HOURS)

coverage: ## measure which lines and branches of lockstep/ the tests in C++ run; the table goes to docs/reliability.md
	@scripts/bootstrap test
	@scripts/coverage

peers: ## compare with PyTorch and JAX on the same work (PEERS="--quick" to try it; build/peers/report.html)
	@scripts/bootstrap peers
	@scripts/venv_peers
	@scripts/build release lockstep_cli image_forward render_page
	@build/venv-peers/bin/python3 -B bench/peers/run.py $(PEERS)

data: ## fetch MNIST, JapaneseVowels and plays of Shakespeare into build/data
	@scripts/bootstrap data
	@scripts/fetch_data.py build/data

sanitize: ## run the tests under the address, undefined-behaviour and thread sanitizers
	@scripts/bootstrap test
	@scripts/venv
	@scripts/build asan-ubsan
	@scripts/run_tests.py asan-ubsan -j$(JOBS)
	@scripts/build tsan
	@scripts/run_tests.py tsan -j$(JOBS)

format: ## format every C++ file
	@scripts/bootstrap lint
	@find lockstep cli python tests bench examples -name '*.[ch]pp' -exec clang-format -i {} +

tidy: ## run clang-tidy over the program, the library and the tests
	@scripts/bootstrap test lint
	@scripts/venv
	@scripts/tidy

docs: ## the book as HTML, and a page of the C++ interface: build/docs/index.html
	@scripts/docs.py

install: ## install the library, its headers and the program under PREFIX=/usr/local
	@scripts/bootstrap build
	@scripts/build release lockstep lockstep_program
	@cmake --install build/release --prefix $(or $(PREFIX),/usr/local)

clean: ## remove everything the other targets made
	@rm -rf build
