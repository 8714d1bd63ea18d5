"""watched.py FILE COMMAND...: runs the command, writes its peak memory in bytes to the file and ends with its code.
A process of its own, and a small one: what the kernel tells of a child's memory (ru_maxrss) begins with that of the
process which started it, and the one that compares holds data and arrays."""
import os
import sys

child = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ)
_, status, usage = os.wait4(child, 0)
with open(sys.argv[1], "w", encoding="ascii") as file:
    file.write(str(1024 * usage.ru_maxrss))
sys.exit(os.waitstatus_to_exitcode(status) % 256)
