"""ranks_test.py PROGRAM PLUGINS LIBRARY: the training runs of PROGRAM under an MPI launcher, on several numbers of ranks and
threads; the hashes must be those of one process. LIBRARY is openmpi or mpich; skipped, saying so, where it is missing."""
import os
import pathlib
import shutil
import subprocess
import sys

# ranks, threads of each, stages of the pipeline, members of each stage
COUNTS = [(2, 1, 1, 1), (3, 2, 1, 1), (4, 1, 1, 1), (5, 1, 1, 1), (8, 1, 1, 1), (2, 2, 2, 1), (4, 1, 2, 1), (8, 1, 2, 1), (3, 1, 3, 1),
          (2, 2, 1, 2), (3, 1, 1, 3), (4, 1, 1, 2), (8, 1, 1, 2), (4, 1, 2, 2), (8, 1, 2, 2)]
NETWORKS = 9  # of ranks_hash.cpp
SKIPPED = 77


def command(library, ranks):
    if library == "openmpi":
        return ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-n", str(ranks)]
    return ["mpirun.mpich", "-n", str(ranks)]


def main(program, plugins, library):
    launcher = command(library, 1)[0]
    if shutil.which(launcher) is None or not (pathlib.Path(plugins) / f"lockstep_{library}.so").exists():
        print(f"{library} is not installed: {launcher} or the plugin for it is missing")
        return SKIPPED
    contents = pathlib.Path(program).read_bytes()
    if b"libasan.so" in contents or b"libtsan.so" in contents:
        print("a sanitizer finds fault with the MPI libraries themselves")
        return SKIPPED
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("OMPI_", "PMI", "SLURM_"))}
    environment |= {"LOCKSTEP_MPI_DIR": plugins, "LOCKSTEP_PEER_TIMEOUT": "120"}
    hashes = set()
    for ranks, threads, stages, members in COUNTS:
        name = f"{ranks} ranks x {threads} threads, {stages} stages x {members} members"
        done = subprocess.run([*command(library, ranks), program, str(threads), str(stages), str(members)], env=environment,
                              capture_output=True, text=True, timeout=300, check=False)
        lines = [line.split() for line in done.stdout.splitlines()]
        print(f"{name}: {done.stdout.strip()}", flush=True)
        if done.returncode != 0 or len(lines) != 1 + NETWORKS or f"{ranks} ranks" not in done.stdout:
            sys.exit(f"{name}: exit {done.returncode}: {done.stdout}{done.stderr}")
        if different := [line[0] for line in lines[1:] if line[1] != "same"]:
            sys.exit(f"{name}: other weights for {', '.join(different)}")
        hashes.add(tuple(line[2] for line in lines[1:]))
    return 0 if len(hashes) == 1 else sys.exit("the hashes depend on the number of ranks")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
