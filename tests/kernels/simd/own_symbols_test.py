"""own_symbols_test.py NM OBJECT...: what an instruction set's objects define is theirs alone.

A function that several objects define is kept once by the linker, perhaps in a version with instructions that this
machine lacks. So every function of these objects must live in the namespace of its instruction set.
"""
import pathlib
import re
import subprocess
import sys

# Text and weak symbols; not the data, read-only data and undefined ones. `nm` shows local symbols in lower case.
SHARED = set("TWVu")


def foreign(lines):
    """The symbols of `nm -C` that another object may define as well."""
    for line in lines:
        match = re.match(r"[0-9a-f]* +(\w) (.+)", line)
        if match and match[1] in SHARED and not re.search(r"lockstep::simd_\w+::", match[2]):
            yield match[2]


def self_test():
    lines = ["0000000000000000 W std::span<long const>::operator[](unsigned long) const",
             "0000000000000010 T void lockstep::simd_avx2::add<float>(lockstep::Add<float> const&)",
             "0000000000000020 W float lockstep::lane_tree<float>(float (&) [16])",
             "                 U fmaf",
             "0000000000000030 t _GLOBAL__sub_I_x"]
    assert list(foreign(lines)) == ["std::span<long const>::operator[](unsigned long) const",
                                    "float lockstep::lane_tree<float>(float (&) [16])"]


def main():
    self_test()
    nm, objects = sys.argv[1], [path for argument in sys.argv[2:] for path in argument.split(";")]  # lists of CMake
    if not objects:
        print("no objects given")
        return 1
    found = 0
    for path in objects:
        lines = subprocess.run([nm, "-C", "--defined-only", path], capture_output=True, text=True, check=True).stdout
        for name in foreign(lines.splitlines()):
            print(f"{pathlib.Path(path).name} ({pathlib.Path(path).parent.name}) defines {name}")
            found += 1
    print(f"{len(objects)} objects, {found} symbols that are not theirs alone")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
