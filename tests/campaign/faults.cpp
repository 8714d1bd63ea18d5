// LD_PRELOAD=libcampaign_faults.so: makes a call fail, or writes down what a program does with its files. From the
// beginning of main() on; the environment says what:
//   CAMPAIGN_CALL=write CAMPAIGN_NUMBER=7   the 7th call of write() fails, of all threads together
//   CAMPAIGN_ERROR=28                       with this errno (default EIO; allocations: no memory)
//   CAMPAIGN_ALWAYS=1                       and every later one, too
//   CAMPAIGN_FIRED=FILE                     made when the call has failed
//   CAMPAIGN_COUNTS=FILE                    where the number of calls of each kind is written at the end
//   CAMPAIGN_RECORD=FILE CAMPAIGN_ROOT=DIR  writes down every change of files below DIR (recorder.hpp)
// "alloc" stands for malloc, calloc, realloc and the aligned ones, and so for operator new.

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/campaign/recorder.hpp"

namespace campaign {
namespace {

constexpr std::array kCalls{"alloc",  "open",   "read",      "pread",  "write",  "fsync",  "fdatasync",
                            "rename", "unlink", "ftruncate", "fchmod", "mkdir",  "close",  "fstat",
                            "flock",  "mmap",   "socket",    "bind",   "listen", "accept", "connect",
                            "send",   "recv",   "poll",      "eventfd"};
std::array<std::atomic<long>, kCalls.size()> counts;
std::atomic<bool> started = false;
long number = 0;
int failing = -1, error = EIO;
bool always = false;
const char *fired = nullptr, *counted = nullptr;

constexpr std::size_t index_of(const char* name) {
  for (std::size_t i = 0; i < kCalls.size(); ++i)
    if (std::char_traits<char>::compare(kCalls[i], name, std::char_traits<char>::length(name) + 1) == 0) return i;
  return kCalls.size();
}

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

/// Whether this call fails; errno is set then.
bool fails(std::size_t call) {
  if (!started.load(std::memory_order_relaxed)) return false;
  const long now = ++counts[call];
  if (static_cast<int>(call) != failing || now < number || (now > number && !always)) return false;
  if (now == number && fired != nullptr) {
    // Not through the functions below.
    static const auto open_file = next<int(const char*, int, ...)>("open");
    static const auto close_file = next<int(int)>("close");
    const int file = open_file(fired, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (file >= 0) close_file(file);
  }
  errno = error;
  return true;
}

void write_counts() {
  started = false;
  if (counted == nullptr) return;
  if (std::FILE* file = std::fopen(counted, "w")) {
    for (std::size_t i = 0; i < kCalls.size(); ++i) std::fprintf(file, "%s %ld\n", kCalls[i], counts[i].load());
    std::fclose(file);
  }
}

void begin() {
  const auto text = [](const char* name) -> const char* {
    const char* value = std::getenv(name);
    return value != nullptr && *value != '\0' ? value : nullptr;
  };
  if (const char* call = text("CAMPAIGN_CALL")) failing = static_cast<int>(index_of(call));
  if (const char* value = text("CAMPAIGN_NUMBER")) number = std::atol(value);
  if (const char* value = text("CAMPAIGN_ERROR")) error = std::atoi(value);
  if (failing == 0) error = ENOMEM;
  always = text("CAMPAIGN_ALWAYS") != nullptr;
  fired = text("CAMPAIGN_FIRED");
  counted = text("CAMPAIGN_COUNTS");
  if (const char* record = text("CAMPAIGN_RECORD")) start_record(record, text("CAMPAIGN_ROOT"));
  if (counted != nullptr) std::atexit(write_counts);
  started = true;
}

int (*program_main)(int, char**, char**) = nullptr;
int main_of_campaign(int count, char** arguments, char** environment) {
  begin();
  return program_main(count, arguments, environment);
}

}  // namespace
}  // namespace campaign

// NOLINTBEGIN(readability-identifier-naming, bugprone-reserved-identifier): the names of the C library
using namespace campaign;

#define CAMPAIGN_FAIL(name, result)               \
  do {                                            \
    constexpr std::size_t kCall = index_of(name); \
    static_assert(kCall < kCalls.size());         \
    if (fails(kCall)) return result;              \
  } while (false)

extern "C" {

int __libc_start_main(int (*main)(int, char**, char**), int count, char** arguments, void (*init)(), void (*fini)(),
                      void (*loader)(), void* stack) {
  program_main = main;
  return next<decltype(__libc_start_main)>("__libc_start_main")(main_of_campaign, count, arguments, init, fini, loader,
                                                                stack);
}

// The allocator of glibc under its other names: dlsym itself allocates.
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

void* malloc(std::size_t size) {
  CAMPAIGN_FAIL("alloc", nullptr);
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  CAMPAIGN_FAIL("alloc", nullptr);
  return __libc_calloc(count, size);
}
void* realloc(void* old, std::size_t size) {
  CAMPAIGN_FAIL("alloc", nullptr);
  return __libc_realloc(old, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  CAMPAIGN_FAIL("alloc", nullptr);
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** result, std::size_t alignment, std::size_t size) {
  CAMPAIGN_FAIL("alloc", ENOMEM);
  *result = __libc_memalign(alignment, size);
  return *result == nullptr ? ENOMEM : 0;
}

int open(const char* path, int flags, ...) {
  CAMPAIGN_FAIL("open", -1);
  va_list more;
  va_start(more, flags);
  const int mode = (flags & O_CREAT) != 0 ? va_arg(more, int) : 0;
  va_end(more);
  static const auto call = next<int(const char*, int, ...)>("open");
  return recorded_open(path, flags, [&] { return call(path, flags, mode); });
}
int open64(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const int mode = (flags & O_CREAT) != 0 ? va_arg(more, int) : 0;
  va_end(more);
  return open(path, flags, mode);
}
int openat(int folder, const char* path, int flags, ...) {
  CAMPAIGN_FAIL("open", -1);
  va_list more;
  va_start(more, flags);
  const int mode = (flags & O_CREAT) != 0 ? va_arg(more, int) : 0;
  va_end(more);
  static const auto call = next<int(int, const char*, int, ...)>("openat");
  return call(folder, path, flags, mode);
}
ssize_t read(int file, void* bytes, std::size_t count) {
  CAMPAIGN_FAIL("read", -1);
  static const auto call = next<ssize_t(int, void*, std::size_t)>("read");
  return call(file, bytes, count);
}
ssize_t pread(int file, void* bytes, std::size_t count, off_t at) {
  CAMPAIGN_FAIL("pread", -1);
  static const auto call = next<ssize_t(int, void*, std::size_t, off_t)>("pread");
  return call(file, bytes, count, at);
}
ssize_t pread64(int file, void* bytes, std::size_t count, off_t at) { return pread(file, bytes, count, at); }
ssize_t write(int file, const void* bytes, std::size_t count) {
  CAMPAIGN_FAIL("write", -1);
  static const auto call = next<ssize_t(int, const void*, std::size_t)>("write");
  return recorded_write(file, bytes, [&] { return call(file, bytes, count); });
}
int fsync(int file) {
  CAMPAIGN_FAIL("fsync", -1);
  static const auto call = next<int(int)>("fsync");
  return recorded(file, "fsync", 0, [&] { return call(file); });
}
int fdatasync(int file) {
  CAMPAIGN_FAIL("fdatasync", -1);
  static const auto call = next<int(int)>("fdatasync");
  return recorded(file, "fsync", 0, [&] { return call(file); });
}
int ftruncate(int file, off_t size) noexcept {
  CAMPAIGN_FAIL("ftruncate", -1);
  static const auto call = next<int(int, off_t)>("ftruncate");
  return recorded(file, "truncate", size, [&] { return call(file, size); });
}
int ftruncate64(int file, off64_t size) noexcept { return ftruncate(file, size); }
int rename(const char* from, const char* to) noexcept {
  CAMPAIGN_FAIL("rename", -1);
  static const auto call = next<int(const char*, const char*)>("rename");
  return recorded_names("rename", from, to, [&] { return call(from, to); });
}
int unlink(const char* path) noexcept {
  CAMPAIGN_FAIL("unlink", -1);
  static const auto call = next<int(const char*)>("unlink");
  return recorded_names("unlink", path, "", [&] { return call(path); });
}
int remove(const char* path) noexcept {
  CAMPAIGN_FAIL("unlink", -1);
  static const auto call = next<int(const char*)>("remove");
  return recorded_names("unlink", path, "", [&] { return call(path); });
}
int mkdir(const char* path, mode_t mode) noexcept {
  CAMPAIGN_FAIL("mkdir", -1);
  static const auto call = next<int(const char*, mode_t)>("mkdir");
  return recorded_names("mkdir", path, "", [&] { return call(path, mode); });
}
int fchmod(int file, mode_t mode) noexcept {
  CAMPAIGN_FAIL("fchmod", -1);
  static const auto call = next<int(int, mode_t)>("fchmod");
  return call(file, mode);
}
int fstat(int file, struct stat* status) noexcept {
  CAMPAIGN_FAIL("fstat", -1);
  static const auto call = next<int(int, struct stat*)>("fstat");
  return call(file, status);
}
int flock(int file, int operation) noexcept {
  CAMPAIGN_FAIL("flock", -1);
  static const auto call = next<int(int, int)>("flock");
  return call(file, operation);
}
int close(int file) {
  static const auto call = next<int(int)>("close");
  const int result = call(file);  // a descriptor is gone also where close() fails
  CAMPAIGN_FAIL("close", -1);
  return result;
}
void* mmap(void* at, std::size_t size, int protection, int flags, int file, off_t offset) noexcept {
  CAMPAIGN_FAIL("mmap", MAP_FAILED);
  static const auto call = next<void*(void*, std::size_t, int, int, int, off_t)>("mmap");
  return call(at, size, protection, flags, file, offset);
}
int socket(int domain, int type, int protocol) noexcept {
  CAMPAIGN_FAIL("socket", -1);
  static const auto call = next<int(int, int, int)>("socket");
  return call(domain, type, protocol);
}
int bind(int file, const struct sockaddr* address, socklen_t size) noexcept {
  CAMPAIGN_FAIL("bind", -1);
  static const auto call = next<int(int, const struct sockaddr*, socklen_t)>("bind");
  return call(file, address, size);
}
int listen(int file, int length) noexcept {
  CAMPAIGN_FAIL("listen", -1);
  static const auto call = next<int(int, int)>("listen");
  return call(file, length);
}
int accept4(int file, struct sockaddr* address, socklen_t* size, int flags) {
  CAMPAIGN_FAIL("accept", -1);
  static const auto call = next<int(int, struct sockaddr*, socklen_t*, int)>("accept4");
  return call(file, address, size, flags);
}
int connect(int file, const struct sockaddr* address, socklen_t size) {
  CAMPAIGN_FAIL("connect", -1);
  static const auto call = next<int(int, const struct sockaddr*, socklen_t)>("connect");
  return call(file, address, size);
}
ssize_t send(int file, const void* bytes, std::size_t count, int flags) {
  CAMPAIGN_FAIL("send", -1);
  static const auto call = next<ssize_t(int, const void*, std::size_t, int)>("send");
  return call(file, bytes, count, flags);
}
ssize_t recv(int file, void* bytes, std::size_t count, int flags) {
  CAMPAIGN_FAIL("recv", -1);
  static const auto call = next<ssize_t(int, void*, std::size_t, int)>("recv");
  return call(file, bytes, count, flags);
}
int poll(struct pollfd* events, nfds_t count, int milliseconds) {
  CAMPAIGN_FAIL("poll", -1);
  static const auto call = next<int(struct pollfd*, nfds_t, int)>("poll");
  return call(events, count, milliseconds);
}
int eventfd(unsigned initial, int flags) noexcept {
  CAMPAIGN_FAIL("eventfd", -1);
  static const auto call = next<int(unsigned, int)>("eventfd");
  return call(initial, flags);
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming, bugprone-reserved-identifier)
