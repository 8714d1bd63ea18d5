#include "cli/command_line/options.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "lockstep/config/suggest.hpp"
#include "lockstep/core/environment.hpp"
#include "lockstep/core/error.hpp"

namespace lockstep::cli {

namespace {

/// From low to high. (CLI::Range accepts "nan", which is not smaller than low.)
CLI::Validator number_between(double low, double high) {
  return CLI::Validator(
      [low, high](std::string& text) {
        double number = 0;
        if (CLI::detail::lexical_cast(text, number) && number >= low && number <= high) return std::string();
        return fmt::format("{} is not a number from {} to {}", text, low, high);
      },
      "NUMBER");
}

template <class Value>
CLI::Option* add(CLI::App& command, const char* names, Value& value, const OptionHelp& help) {
  return command.add_option(names, value, help.line)->option_text(help.placeholder);
}

}  // namespace

Backend backend_named(const std::string& name) {
  const auto& names = backend_names();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end())
    throw Error(ErrorCode::usage, fmt::format("--backend {}: unknown name{}", name, suggestion(name, names)));
  return static_cast<Backend>(found - names.begin());
}

void Options::examples(const char* text) { command_.footer(text); }

void Options::argument(const char* name, std::string& value, const OptionHelp& help) {
  add(command_, name, value, help)->required();
}

void Options::optional_argument(const char* name, std::string& value, const OptionHelp& help) {
  add(command_, name, value, help);
}

void Options::arguments(const char* name, std::vector<std::string>& values, const OptionHelp& help, bool required) {
  add(command_, name, values, help)->required(required);
}

void Options::rest(std::vector<std::string>& words) {
  command_.prefix_command();
  conversions_.emplace_back([this, &words] { words = command_.remaining(); });
}

void Options::flag(const char* names, bool& value, const char* line) { command_.add_flag(names, value, line); }

void Options::text(const char* names, std::string& value, const OptionHelp& help) { add(command_, names, value, help); }

void Options::choice(const char* names, std::string& value, const std::vector<std::string>& choices,
                     const OptionHelp& help) {
  add(command_, names, value, help)->check(CLI::IsMember(choices));
}

void Options::texts(const char* names, std::vector<std::string>& values, const OptionHelp& help) {
  add(command_, names, values, help)->allow_extra_args(false);
}

void Options::list(const char* names, std::vector<std::string>& values, const OptionHelp& help) {
  add(command_, names, values, help)->delimiter(',')->allow_extra_args(false);
}

void Options::integer(const char* names, int& value, int low, int high, const OptionHelp& help, bool required) {
  add(command_, names, value, help)->required(required)->check(CLI::Range(low, high));
}

void Options::number(const char* names, double& value, double low, double high, const OptionHelp& help) {
  add(command_, names, value, help)->check(number_between(low, high));
}

void Options::hidden(const char* names, std::string& value) { command_.add_option(names, value)->group(""); }

void Options::hidden(const char* names, int& value, int low, int high) {
  command_.add_option(names, value)->group("")->check(CLI::Range(low, high));
}

void Options::set(std::vector<std::string>& changes) {
  texts("--set", changes, {"SECTION.KEY=VALUE", "Change a value of the configuration; may be repeated"});
}

void Options::backend(Backend& backend) {
  const auto name = std::make_shared<std::string>(backend_info(backend).name);
  text("--backend", *name,
       {"NAME", fmt::format("Which kernels compute: {}. opencl and cuda run on a device. The result does not depend on "
                            "it, save that libraries round otherwise",
                            fmt::join(backend_names(), ", "))});
  conversions_.emplace_back([name, &backend] { backend = backend_named(*name); });
}

void Options::threads(int& threads) {
  integer("--threads", threads, 1, kMaxThreads,
          {"N", "How many threads compute (not on a device); default: OMP_NUM_THREADS, else all cores"});
}

void Options::verbose(bool& verbose) {
  flag("--verbose", verbose, "Say on stderr which kernels compute and on which processors");
}

void Options::finish() const {
  for (const auto& convert : conversions_) convert();
}

}  // namespace lockstep::cli
