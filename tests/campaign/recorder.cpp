#include "tests/campaign/recorder.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace campaign {
namespace {

/// One change at a time: what stands in the record happened in its order.
std::mutex mutex;  // NOLINT(cert-err58-cpp)
int record = -1;
std::string* root = nullptr;

void put(const void* bytes, std::size_t count) {
  const char* at = static_cast<const char*>(bytes);
  while (count > 0) {
    const long done = ::syscall(SYS_write, record, at, count);  // not the functions that call this one
    if (done <= 0) ::abort();
    at += done;
    count -= static_cast<std::size_t>(done);
  }
}

void put(std::string_view text) {
  const std::uint64_t size = text.size();
  put(&size, sizeof size);
  put(text.data(), text.size());
}

void put_entry(char kind, std::int64_t number, std::string_view first, std::string_view second) {
  put(&kind, 1);
  put(&number, sizeof number);
  put(first);
  put(second);
}

/// The path, absolute; empty where it is not below the root.
std::string place_of(const char* path) {
  std::string absolute = path;
  if (path[0] != '/') {
    char folder[PATH_MAX];
    absolute = std::string(::getcwd(folder, sizeof folder) == nullptr ? "" : folder) + "/" + path;
  }
  while (absolute.size() > 1 && absolute.back() == '/') absolute.pop_back();
  return absolute.starts_with(*root) ? absolute : "";
}

std::string place_of(int file) {
  char path[PATH_MAX];
  const ssize_t size = ::readlink(("/proc/self/fd/" + std::to_string(file)).c_str(), path, sizeof path - 1);
  if (size <= 0) return "";
  path[size] = '\0';
  return place_of(path);
}

}  // namespace

void start_record(const char* file, const char* folder) {
  record = static_cast<int>(::syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  root = new std::string(folder == nullptr ? "/" : folder);  // NOLINT: lives as long as the process
}

int recorded_open(const char* path, int flags, const Call<int>& call) {
  if (record < 0 || (flags & (O_CREAT | O_TRUNC)) == 0) return call();
  const std::lock_guard lock(mutex);
  const bool exists = ::access(path, F_OK) == 0;
  const int file = call();
  const std::string place = file < 0 ? "" : place_of(path);
  if (!place.empty()) put_entry('o', file, place, !exists ? "c" : (flags & O_TRUNC) != 0 ? "t" : "");
  return file;
}

ssize_t recorded_write(int file, const void* bytes, const Call<ssize_t>& call) {
  const std::string place = record < 0 ? "" : place_of(file);
  if (place.empty()) return call();
  const std::lock_guard lock(mutex);
  const ssize_t done = call();
  if (done > 0)
    put_entry('w', ::lseek(file, 0, SEEK_CUR) - done, place,
              {static_cast<const char*>(bytes), static_cast<std::size_t>(done)});
  return done;
}

int recorded(int file, const char* what, off_t number, const Call<int>& call) {
  const std::string place = record < 0 ? "" : place_of(file);
  if (place.empty()) return call();
  const std::lock_guard lock(mutex);
  const int result = call();
  if (result == 0) put_entry(what[0] == 'f' ? 's' : 't', number, place, "");
  return result;
}

int recorded_names(const char* what, const char* from, const char* to, const Call<int>& call) {
  const std::string place = record < 0 ? "" : place_of(from);
  if (place.empty()) return call();
  const std::lock_guard lock(mutex);
  const int result = call();
  if (result == 0) put_entry(what[0], 0, place, *to == '\0' ? "" : place_of(to));
  return result;
}

}  // namespace campaign
