"""stub_cuda.py TORCH_LIB: PyTorch's wheel links the CUDA libraries even where nothing will ever call them. Instead of
downloading gigabytes, this puts a library of empty symbols (with the version names the loader asks for) into torch/lib
for each one that is missing. Computations on the CPU never touch them; anything on a GPU would fail."""
import collections
import pathlib
import re
import subprocess
import sys
import tempfile


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def read(folder):
    """The missing libraries, the version names wanted of each, and the symbols that nothing provides: name ->
    version."""
    missing, present, wanted, defined = set(), set(), {}, set()
    versions = collections.defaultdict(set)
    own = [library for library in folder.glob("*.so*") if library.is_file()]
    for library in own:
        listing = output("ldd", library)
        missing |= set(re.findall(r"(\S+) => not found", listing))
        present |= set(re.findall(r"=> (/\S+)", listing))
        for block in re.split(r"\n\s+\w+: Version: ", output("readelf", "-VW", library))[1:]:
            versions[re.match(r"\d+\s+File: (\S+)", block).group(1) if "File:" in block else ""] |= set(
                re.findall(r"Name: (\S+)", block))
        for name, _, version in re.findall(r" U (\w+)(@(\S+))?$", output("nm", "-D", library), re.M):
            wanted[name] = version
    for library in present | {str(library) for library in own}:
        defined |= set(re.findall(r" [A-TV-Za-tx-z] (\w+)", output("nm", "-D", "--defined-only", library)))
    return sorted(missing), versions, {n: v for n, v in wanted.items() if n not in defined}


def make_stub(folder, name, versions, symbols):
    """symbols: those of its versions, or all those without one: which library they belong to nobody says."""
    script = "".join(f"{v} {{ global: {' '.join(s + ';' for s in symbols if symbols[s] == v) or 'none_;'} }};\n"
                     for v in sorted(versions))
    code = "".join(f"char {symbol}[256];\n" for symbol in symbols)
    with tempfile.NamedTemporaryFile("w", suffix=".map") as versions_file:
        versions_file.write(script)
        versions_file.flush()
        command = ["gcc", "-shared", "-x", "c", "-", f"-Wl,-soname,{name}", "-o", folder / name]
        subprocess.run(command + ([f"-Wl,--version-script={versions_file.name}"] if script else []),
                       input=code, text=True, check=True)


folder = pathlib.Path(sys.argv[1])
missing, versions, symbols = read(folder)
plain = {s: v for s, v in symbols.items() if not v}
for library in missing:
    named = {s: v for s, v in symbols.items() if v and v in versions[library]}
    make_stub(folder, library, versions[library], named if versions[library] else plain)
print(f"{len(missing)} empty stand-ins for CUDA libraries: {' '.join(missing)}" if missing else "no stand-ins needed")
