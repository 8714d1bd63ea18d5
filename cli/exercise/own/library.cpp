#include "cli/exercise/own/library.hpp"

#include <future>

#include <fmt/format.h>

#include "cli/exercise/check/build.hpp"
#include "cli/process/captured.hpp"
#include "cli/process/tools.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/file.hpp"
#include "lockstep/core/plugin.hpp"
#include "lockstep/core/words.hpp"

namespace lockstep::cli {

namespace fs = std::filesystem;

namespace {

using KernelFunction = void (*)(const void*);
using SetThreads = void (*)(int);

[[noreturn]] void refuse(const fs::path& file, const std::string& why) {
  throw Error(ErrorCode::usage, fmt::format("{}: {}", one_line(file.string()), one_line(why)));
}

/// The compiler's first line with an error, without the folder that it was built in.
std::string first_line(const std::string& said, const fs::path& folder) {
  std::size_t at = said.find("error: ");
  if (at == std::string::npos) return last_line(said);
  const std::size_t begin = said.rfind('\n', at) + 1;
  std::string line = said.substr(begin, said.find('\n', at) - begin);
  if (const std::size_t place = line.find(folder.string() + "/"); place != std::string::npos)
    line.erase(place, folder.string().size() + 1);
  return line;
}

}  // namespace

struct OwnLibrary::Built {
  struct Function {
    KernelFunction run = nullptr;
    SetThreads set_threads = nullptr;
  };
  TemporaryFolder folder{"own-exercise"};
  std::vector<Function> functions{};
};

OwnLibrary::OwnLibrary(std::string function, std::string header, std::vector<Source> sources)
    : function_(std::move(function)), header_(std::move(header)), sources_(std::move(sources)) {}

OwnLibrary::~OwnLibrary() = default;

void OwnLibrary::build() {
  auto built = std::make_unique<Built>();
  const std::string compiler = find_compiler("");
  const auto compile = [&](std::size_t number) {
    const Source& source = sources_[number];
    const fs::path folder = built->folder.path() / std::to_string(number);
    fs::create_directories(folder);
    write_file_atomically(folder / "lockstep_exercise.h", header_);
    const fs::path copy = folder / source.file.filename(), library = folder / "kernel.so";
    write_file_atomically(copy, read_text(source.file, kMostSource, ErrorCode::usage));
    std::vector<std::string> words = {compiler};
    words.insert(words.end(), common_flags().begin(), common_flags().end());
    if (source.optimised) words.emplace_back("-fopenmp");
    if (!source.optimised) words.emplace_back("-O2");
    for (const char* const each : {"-shared", "-fPIC", "-o"}) words.emplace_back(each);
    words.push_back(library.string());
    words.push_back(copy.string());
    const Captured said = run_captured(words, {.patience = std::chrono::minutes(1), .environment = {{"LC_ALL", "C"}}});
    if (!said.ok())
      refuse(source.file, said.timed_out ? "does not compile within a minute" : first_line(said.err, folder));
    const SharedLibrary opened = open_library(library.string());
    if (opened.handle == nullptr) refuse(source.file, opened.error);
    Built::Function function{.run = reinterpret_cast<KernelFunction>(opened.find(function_.c_str()))};
    if (function.run == nullptr)
      refuse(source.file, fmt::format("the function {} is missing, or not extern \"C\"", function_));
    if (source.optimised) function.set_threads = reinterpret_cast<SetThreads>(opened.find("omp_set_num_threads"));
    return function;
  };
  std::vector<std::future<Built::Function>> waiting;
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    if (i >= 2) built->functions.push_back(waiting[i - 2].get());  // two compilers at a time
    waiting.push_back(std::async(std::launch::async, compile, i));
  }
  for (std::size_t i = built->functions.size(); i < sources_.size(); ++i) built->functions.push_back(waiting[i].get());
  built_ = std::move(built);
}

void OwnLibrary::call(std::size_t source, const void* arguments, int threads) {
  if (built_ == nullptr) build();
  const Built::Function& function = built_->functions.at(source);
  if (function.set_threads != nullptr) function.set_threads(threads);
  function.run(arguments);
}

}  // namespace lockstep::cli
