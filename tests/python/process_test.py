"""Threads, forks, signals and the end of the interpreter."""
import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import lockstep as ls
from conftest import mlp, rows


def train_once(threads=2):
    net = mlp()
    net.fit(*rows(), epochs=3, threads=threads, verbose=False)
    return net.weight_hash


def test_two_networks_at_once():
    expected = train_once()
    found = [[], []]

    def work(i):
        for _ in range(5):
            found[i].append(train_once(1 + i))

    workers = [threading.Thread(target=work, args=(i,)) for i in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert set(found[0] + found[1]) == {expected} and len(found[0]) == len(found[1]) == 5


def test_the_lock_is_free_while_it_trains():
    net, counted = mlp(), []
    x, y = rows(4000)
    done = threading.Event()

    def work():
        net.fit(x, y, epochs=40, threads=1)
        done.set()

    worker = threading.Thread(target=work)
    worker.start()
    while not done.is_set():
        counted.append(time.monotonic())
        time.sleep(0.001)
    worker.join()
    assert len(counted) > 5


def test_one_network_has_one_user():
    net = mlp()
    x, y = rows(2000)
    inside, errors = threading.Event(), []

    def slow(at):
        inside.set()
        time.sleep(0.02)
        return at["step"] > 5

    worker = threading.Thread(target=lambda: net.fit(x, y, on_step=slow))
    worker.start()
    inside.wait(30)
    for action in (lambda: net.fit(x, y), lambda: net.predict(x)):
        try:
            action()
        except ls.Error as error:
            errors.append(str(error))
    worker.join()
    assert len(errors) == 2 and all("another thread" in error for error in errors)


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_multiprocessing(method):
    expected = train_once(2)  # the parent has a team of threads when it forks
    context = multiprocessing.get_context(method)
    with context.Pool(2) as pool:
        assert set(pool.map(train_once, [1, 2, 2], chunksize=1)) == {expected}


def start(code, **options):
    return subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], text=True, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, **options)


LONG = """
    import sys, threading
    import numpy as np, lockstep as ls
    ls.quiet()
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(20000, 50)).astype(np.float32), rng.integers(0, 3, 20000)
    net = ls.Network(50, [ls.Linear(200), ls.Tanh(), ls.Linear(3)])
    """


def test_ctrl_c_keeps_the_state():
    child = start(LONG + """
    try:
        print("training", flush=True)
        net.fit(x, y, epochs=100000, threads=2)
    except KeyboardInterrupt:
        before = net.weight_hash
        run = net.fit(x, y, epochs=1, threads=2)
        print("kept", before != net.weight_hash, run.metrics[0]["step"] > 0, net.last_run is run)
    """)
    assert child.stdout.readline() == "training\n"
    time.sleep(1.5)
    began = time.monotonic()
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=60)
    assert out == "kept True True True\n" and child.returncode == 0, (out, err)
    assert time.monotonic() - began < 30


def test_exit_while_another_thread_trains():
    child = start(LONG + """
    threading.Thread(target=lambda: net.fit(x, y, epochs=100000, threads=2), daemon=True).start()
    import time
    time.sleep(1.0)
    print("leaving", flush=True)
    """)
    out, _ = child.communicate(timeout=60)
    assert out == "leaving\n"
    assert child.returncode is not None
    with pytest.raises(ProcessLookupError):
        os.kill(child.pid, 0)


def test_the_program_is_there(program):
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    assert ls.__version__ in done.stdout
    command = os.path.join(os.path.dirname(sys.executable), "lockstep")
    if os.path.exists(command):
        assert subprocess.run([command, "--version"], capture_output=True, text=True, check=True).stdout == done.stdout
    assert np.float32 is not None
