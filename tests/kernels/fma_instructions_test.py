"""fma_instructions_test.py OBJDUMP FMA_OBJECT PORTABLE_OBJECT: a fair baseline multiplies and adds with the hardware's
fma instruction; a call of the C library's fma per product would be a false one. Reads the compiled naive kernels: the
fma build has the instruction and no such call; the portable build has the call, which shows that the search finds it."""
import pathlib
import re
import subprocess
import sys

SKIPPED = 77


def disassemble(objdump, path):
    return subprocess.run([objdump, "-dr", path], check=True, capture_output=True, text=True).stdout


def main():
    objdump, fma_object, portable_object = sys.argv[1:]
    if objdump.endswith("NOTFOUND") or not pathlib.Path(objdump).exists():
        print("skipped: objdump is not installed (Debian package binutils)")
        return SKIPPED
    instruction = re.compile(r"\tvfn?m(?:add|sub)\d+[sp][sd]\s")
    call = re.compile(r"R_X86_64_\S+\s+fmaf?\b")
    fma, portable = disassemble(objdump, fma_object), disassemble(objdump, portable_object)
    found = {
        "fma instructions in the fma build": len(instruction.findall(fma)),
        "calls of fma in the fma build": len(call.findall(fma)),
        "calls of fma in the portable build": len(call.findall(portable)),
    }
    for name, count in found.items():
        print(f"{name}: {count}")
    instructions, calls, portable_calls = found.values()
    return 0 if instructions > 50 and calls == 0 and portable_calls > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
