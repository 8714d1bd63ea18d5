#pragma once
// Writes down what a program does with the files below a folder, in the order in which it was done, for crash_states.
// The record is a list of entries: the kind, one character; a number, 8 bytes; two texts, each its length in 8 bytes
// and its bytes.
//   o path       opened: number = descriptor, first = path, second = "c" where it was made, "t" where it was cut to 0
//   w bytes      written at the offset `number`: first = path, second = bytes
//   s path       fsync of a file or folder
//   t path       cut, or extended, to `number` bytes
//   r from to    renamed;   u path   removed;   m path   folder made

#include <sys/types.h>

namespace campaign {

/// A call that is done later, where it stands: nothing is allocated, for allocations are made to fail.
template <class Result>
class Call {
 public:
  template <class Function>
  Call(const Function& function)  // NOLINT(google-explicit-constructor): a lambda is given
      : function_(&function), call_([](const void* f) { return (*static_cast<const Function*>(f))(); }) {}
  Result operator()() const { return call_(function_); }

 private:
  const void* function_;
  Result (*call_)(const void*);
};

/// From now on; `root` is an absolute path.
void start_record(const char* file, const char* root);

// Each does the call, and writes it down where it succeeds and concerns a file below the root.
int recorded_open(const char* path, int flags, const Call<int>& call);
ssize_t recorded_write(int file, const void* bytes, const Call<ssize_t>& call);
int recorded(int file, const char* what, off_t number, const Call<int>& call);
int recorded_names(const char* what, const char* from, const char* to, const Call<int>& call);

}  // namespace campaign
