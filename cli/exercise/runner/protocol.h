#pragma once
/* What the checker and the process with the student's code say to each other. Both map one shared file: this block,
   then the arrays. A command is one byte on the runner's standard input, an answer is the command's number on a pipe.
 */

#include <stdint.h>

enum { kMostArrays = 24, kMostArguments = 512, kHeaderBytes = 65536 };

enum RunnerOp { kMapArrays = 1, kCallKernel = 2 };

struct SharedArray {
  uint64_t file_offset; /* of its first page */
  uint64_t bytes;       /* of the array itself */
  uint32_t argument;    /* place of its pointer in the struct of arguments */
  uint32_t writable;
  uint32_t
      at_end; /* the array ends where its last page ends: the byte behind it is guarded. Otherwise the one before */
  uint32_t unused;
};

struct SharedBlock {
  uint32_t op, number; /* number: of the command, which the answer repeats */
  uint32_t arrays, argument_bytes;
  struct SharedArray array[kMostArrays];
  unsigned char arguments[kMostArguments];
  /* How the process was ended, where it can say so itself. */
  int32_t signal, signal_code, array_hit; /* array_hit: -1 none, else which array's guard or read-only page */
  int32_t system_call;                    /* that is not allowed */
  int64_t byte_hit;                       /* relative to the array's first byte */
  int32_t in_kernel, allowed;             /* allowed: the limits of this process stand */
};
