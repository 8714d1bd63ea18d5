"""package_test.py wheel|core|rest SOURCE BUILD CPP_HASH: the Python package as users get it.

wheel   packs the wheel from the compiled parts of BUILD through pip and scikit-build-core, and looks at it
core    installs it into a virtual environment that has NumPy and pytest only, and runs the tests there
rest    the same beside everything else that the test environment has: scikit-learn, pandas, mypy; examples and docs
"""
import importlib.metadata
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import zipfile

MOST_BYTES = 8_000_000
CORE = ["interface_test.py", "weights_test.py", "hash_test.py", "process_test.py"]
REST = ["interface_test.py", "comm_test.py", "sklearn_test.py", "docs_test.py"]


def run(command, **options):
    print("+", *command, flush=True)
    subprocess.run([str(part) for part in command], check=True, **options)


def pack(source, build, folder):
    shutil.rmtree(folder, ignore_errors=True)
    run([sys.executable, "-m", "pip", "wheel", source, "--no-build-isolation", "--no-deps", "--no-input",
         "--disable-pip-version-check", "-w", folder, f"--config-settings=build-dir={folder / 'build'}",
         f"--config-settings=cmake.define.LOCKSTEP_PREBUILT={build}"])
    wheel = next(folder.glob("lockstep_nn-*.whl"))
    with zipfile.ZipFile(wheel) as packed:
        names = packed.namelist()
    for part in ("__init__.py", "py.typed", "__init__.pyi", "sklearn.py", "bin/lockstep"):
        assert f"lockstep/{part}" in names, (part, names)
    assert any(name.startswith("lockstep/_core.") and name.endswith(".so") for name in names), names
    assert not [name for name in names if name.endswith((".hpp", ".a"))], names
    size = wheel.stat().st_size
    print(f"{wheel.name}: {size / 1e6:.2f} MB, {len(names)} files")
    assert size <= MOST_BYTES, size


def link_distribution(name, site):
    """A distribution of this environment in another one; files are hard links where the disk allows it."""
    for file in importlib.metadata.distribution(name).files or []:
        origin = pathlib.Path(file.locate())
        if ".." in file.parts or not origin.is_file() or origin.suffix == ".pyc":
            continue
        target = site / file
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(origin, target)
        except OSError:
            shutil.copy2(origin, target)


def environment(folder, wheel, everything):
    shutil.rmtree(folder, ignore_errors=True)
    run([sys.executable, "-m", "venv", "--without-pip", folder])
    python = folder / "bin" / "python3"
    site = pathlib.Path(subprocess.check_output(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('platlib'))"], text=True).strip())
    if everything:
        (site / "tests.pth").write_text(sysconfig.get_path("platlib") + "\n")
    else:
        for name in ("numpy", "pytest", "iniconfig", "pluggy", "packaging", "pygments"):
            link_distribution(name, site)
    run([sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", "--no-input", "-q",
         "--disable-pip-version-check", wheel])
    return python


def without_compilers(folder):
    """A folder for the head of the PATH in which every compiler is a program that fails."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("cc", "c++", "gcc", "g++", "clang", "clang++", "cmake", "ninja", "make", "ld"):
        (folder / name).write_text("#!/bin/sh\necho no compiler here >&2\nexit 127\n")
        (folder / name).chmod(0o755)
    return folder


def main():
    what, source, build = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    folder = build / "python" / "wheel"
    if what == "wheel":
        return pack(source, build, folder)
    wheel = next(folder.glob("lockstep_nn-*.whl"))
    python = environment(build / "python" / f"venv-{what}", wheel, what == "rest")
    # Not from the sources: what is imported must be what was installed. No compiler is needed: those there are fail.
    path = os.pathsep.join([str(without_compilers(build / "python" / "no-compilers")), os.environ["PATH"]])
    variables = {**os.environ, "PATH": path, "CXX": "/nonexistent", "PYTHONDONTWRITEBYTECODE": "1",
                 "LOCKSTEP_SOURCE": str(source), "LOCKSTEP_CPP_HASH": sys.argv[4]}
    tests = [pathlib.Path(__file__).parent / name for name in (CORE if what == "core" else REST)]
    run([python, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--durations=5", *tests],
        cwd=build / "python", env=variables)


if __name__ == "__main__":
    main()
