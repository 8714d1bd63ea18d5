"""ddp.py [--workloads mlp,lenet5] [--repeats 3]: two processes of one thread each share every batch, here by PyTorch's
DistributedDataParallel over gloo, there by Lockstep under mpirun: the same network, weights, data and batches, turn
about. Prints the times of an epoch, their ratio and the losses. Build first what `make peers` builds; needs Open
MPI."""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

import workloads

RANKS = 2
PROGRAM = pathlib.Path("build/lockstep").resolve()


def worker(name):
    """One of the processes of PyTorch: every rank has its half of each batch, and gradients are averaged."""
    import torch
    from torch import distributed, nn
    from torch_peer import build

    torch.set_num_threads(1)
    distributed.init_process_group("gloo")
    rank, size = distributed.get_rank(), distributed.get_world_size()
    workload = workloads.by_name(name)
    x, labels = (torch.from_numpy(a) for a in workloads.load(workload))
    x = x.reshape(len(x), *workload.input)
    net = build(workload)
    net.load_state_dict({k: torch.from_numpy(v) for k, v in workloads.initial_weights(workload).items()}, strict=False)
    shared = nn.parallel.DistributedDataParallel(net)
    kind, lr, *momentum = workload.optimizer
    optimizer = (torch.optim.Adam(net.parameters(), lr, fused=True) if kind == "adam"
                 else torch.optim.SGD(net.parameters(), lr, momentum[0], fused=True))
    loss_of = nn.CrossEntropyLoss()
    distributed.barrier()
    start, total = time.perf_counter(), 0.0
    for first in range(0, len(x), workload.batch):
        batch = slice(first + rank, min(first + workload.batch, len(x)), size)
        optimizer.zero_grad(set_to_none=True)
        loss = loss_of(shared(x[batch]), labels[batch])
        loss.backward()
        optimizer.step()
        total += loss.detach()
    distributed.barrier()
    if rank == 0:
        print(json.dumps({"seconds": time.perf_counter() - start, "loss": float(total) / workload.steps_per_epoch}))
    distributed.destroy_process_group()


def run_torch(name, port):
    places = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": str(RANKS), "OMP_NUM_THREADS": "1"}
    processes = [subprocess.Popen([sys.executable, "-B", __file__, "--worker", name], stdout=subprocess.PIPE, text=True,
                                  env={**os.environ, **places, "RANK": str(rank)}) for rank in range(RANKS)]
    answers = [process.communicate(timeout=600)[0] for process in processes]
    if any(process.returncode for process in processes):
        sys.exit("ddp: a process of PyTorch failed")
    return json.loads(answers[0].strip().splitlines()[-1])


def lockstep(name):
    from lockstep_peer import Lockstep

    contender = Lockstep(PROGRAM, workloads.by_name(name), "simd", 1, pathlib.Path("build/peers") / f"ddp-{name}")
    launcher = ["mpirun.openmpi", "--allow-run-as-root", "--bind-to", "none", "-n", str(RANKS)]
    contender.command = launcher + contender.command
    return contender


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--workloads", default="mlp,lenet5")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--worker")
    arguments = parser.parse_args()
    if arguments.worker:
        return worker(arguments.worker)
    if shutil.which("mpirun.openmpi") is None:
        sys.exit("ddp: no mpirun.openmpi; install the Debian package openmpi-bin")
    print(f"{RANKS} processes x 1 thread, one epoch; median of {arguments.repeats}")
    for name in arguments.workloads.split(","):
        ours, theirs, mine = lockstep(name), [], []
        for repeat in range(arguments.repeats):
            theirs.append(run_torch(name, 29500 + os.getpid() % 1000 + repeat))
            mine.append(ours.run())
        torch_time, time_of_ours = (statistics.median(run["seconds"] for run in runs) for runs in (theirs, mine))
        print(f"{name:8} PyTorch DDP over gloo {torch_time:.3f} s (loss {theirs[-1]['loss']:.4f}), "
              f"Lockstep {time_of_ours:.3f} s (loss {mine[-1]['loss']:.4f}): "
              f"{torch_time / time_of_ours:.1f} times as fast", flush=True)
    return None


if __name__ == "__main__":
    main()
