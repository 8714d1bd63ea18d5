#pragma once
// The options of one command, each bound to the variable that receives its value. CLI11, which takes seconds to
// compile, stays behind this interface.

#include <functional>
#include <string>
#include <vector>

#include "cli/output/console.hpp"
#include "lockstep/kernels/backend.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace lockstep::cli {

/// Runs a command with the values that its options received.
using RunCommand = std::function<void(Console&)>;

/// How an option stands in --help: its placeholder ("DIR") and one line.
struct OptionHelp {
  const char* placeholder;
  std::string line;
};

/// Error(usage) for an unknown name.
Backend backend_named(const std::string& name);

class Options {
 public:
  /// `typed` is the whole command line.
  Options(CLI::App& command, std::string typed) : command_(command), typed_(std::move(typed)) {}

  const std::string& typed() const { return typed_; }
  /// The text below the options in --help.
  void examples(const char* text);

  /// By position.
  void argument(const char* name, std::string& value, const OptionHelp& help);
  void optional_argument(const char* name, std::string& value, const OptionHelp& help);
  void arguments(const char* name, std::vector<std::string>& values, const OptionHelp& help, bool required);
  /// Everything that follows: the command line of another command.
  void rest(std::vector<std::string>& words);

  /// By name: "--out", or "-o,--out".
  void flag(const char* names, bool& value, const char* line);
  void text(const char* names, std::string& value, const OptionHelp& help);
  void choice(const char* names, std::string& value, const std::vector<std::string>& choices, const OptionHelp& help);
  /// May be repeated, with one value each.
  void texts(const char* names, std::vector<std::string>& values, const OptionHelp& help);
  /// Values with commas between them.
  void list(const char* names, std::vector<std::string>& values, const OptionHelp& help);
  void integer(const char* names, int& value, int low, int high, const OptionHelp& help, bool required = false);
  void number(const char* names, double& value, double low, double high, const OptionHelp& help);
  /// For processes that the program starts itself; not in --help.
  void hidden(const char* names, std::string& value);
  void hidden(const char* names, int& value, int low, int high);

  /// Options that several commands have.
  void set(std::vector<std::string>& changes);
  void backend(Backend& backend);
  void threads(int& threads);
  void verbose(bool& verbose);

  /// Converts what CLI11 has parsed into the bound variables; Error(usage) for an unknown name.
  void finish() const;

 private:
  CLI::App& command_;
  std::string typed_;
  std::vector<std::function<void()>> conversions_{};
};

}  // namespace lockstep::cli
