"""Communicators of mpi4py: the ranks of one train together, with the hash of one process."""
import subprocess
import sys
import textwrap

import pytest

import lockstep as ls
from conftest import launcher, mlp, rows

pytest.importorskip("mpi4py")


def train(tmp_path, ranks, code):
    """What rank r printed as `r: ...`, and stderr."""
    mpirun = launcher()
    if mpirun is None:
        pytest.skip("no mpirun")
    script = tmp_path / "train.py"
    script.write_text(textwrap.dedent(f"""
        import sys
        sys.path.insert(0, {str(__file__.rsplit('/', 1)[0])!r})
        from mpi4py import MPI
        import lockstep as ls
        from conftest import mlp, rows
        ls.quiet(False)
        world, net = MPI.COMM_WORLD, mlp()
        def fit(net, **options):
            return net.fit(*rows(), batch=32, seed=5, threads=1, **options)
        """) + textwrap.dedent(code) + "\nprint(f'{world.Get_rank()}: {net.weight_hash}\\n', end='', flush=True)\n")
    done = subprocess.run([*mpirun, "-n", str(ranks), sys.executable, str(script)], capture_output=True, text=True,
                          timeout=120)
    assert done.returncode == 0, done.stderr
    return sorted(line for line in done.stdout.splitlines() if line[:1].isdigit()), done.stderr


def alone(epochs=3):
    net = mlp()
    net.fit(*rows(), batch=32, seed=5, epochs=epochs)
    return net.weight_hash


@pytest.mark.parametrize("ranks", [2, 3])
def test_world(tmp_path, ranks):
    lines, said = train(tmp_path, ranks, "fit(net, epochs=3, comm=world)")
    assert lines == [f"{r}: {alone()}" for r in range(ranks)]
    assert said.count("epoch 3") == 1  # rank 0 alone prints


def test_halves_and_all(tmp_path):
    """Two halves train apart, in the reverse order of their ranks, then all together; messages of mpi4py in between."""
    lines, said = train(tmp_path, 4, """
        half = world.Split(world.Get_rank() % 2, -world.Get_rank())
        fit(net, epochs=2, comm=half)
        assert world.allreduce(1) == 4
        fit(net, epochs=1, comm=half.Dup())
        for options in ({"comm": world}, {}):  # with and without a communicator
            other = mlp()
            fit(other, epochs=3, verbose=False, **options)
            assert other.weight_hash == net.weight_hash
        try:
            fit(net, epochs=1, comm=world)
            raise SystemExit("continued by other ranks")
        except ls.Error as error:
            assert "resume=False" in str(error)
        """)
    assert lines == [f"{r}: {alone()}" for r in range(4)]
    assert said.count("epoch 3") == 1


def test_every_rank_on_its_own(tmp_path):
    lines, _ = train(tmp_path, 2, "fit(net, epochs=1 + 2 * world.Get_rank(), comm=MPI.COMM_SELF)")
    assert lines == [f"0: {alone(1)}", f"1: {alone(3)}"]


def test_what_is_no_communicator(tmp_path):
    train(tmp_path, 2, """
        for wrong, words in ((MPI.COMM_NULL, "COMM_NULL"), (3, "mpi4py")):
            try:
                fit(net, comm=wrong)
                raise SystemExit("not refused")
            except ls.Error as error:
                assert words in str(error)
        """)
