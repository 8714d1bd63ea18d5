#pragma once
// The terminal: results go to stdout, everything else to stderr.

#include <string>
#include <string_view>

namespace lockstep::cli {

/// Ends the program with this exit code and without a message: another process has reported.
struct SilentEnd {
  int exit_code = 0;
};

struct ConsoleOptions {
  bool json = false;   // results are one JSON document
  bool quiet = false;  // no notes, no progress; errors only
};

class Console {
 public:
  explicit Console(ConsoleOptions options = {});

  bool json() const { return options_.json; }
  /// True when stderr is a terminal that can redraw a line, and notes are wanted.
  bool animated() const { return animated_; }
  /// False where NO_COLOR is set or stderr is no terminal.
  bool coloured() const { return coloured_; }
  /// Columns of the terminal; 80 where it does not say.
  int width() const;

  /// Writes a result to stdout at once. A reader that went away (a closed pipe) is no error: the text is dropped.
  /// Error(resources) when it cannot be written for another reason, as a full disk.
  void print(std::string_view text);
  /// Writes a line to stderr unless quiet. Clears the progress bar first.
  void note(std::string_view line);
  /// Writes a line to stderr, quiet or not: the reason of a failure.
  void fail(std::string_view line);
  /// Draws the line under the cursor anew; only where animated(). An empty text removes it.
  void draw(std::string_view line);

 private:
  ConsoleOptions options_;
  bool animated_ = false, coloured_ = false, drawn_ = false;
};

/// Makes sure that descriptors 0, 1, 2 are open (on /dev/null where they are not), so that no file of ours ever gets
/// their numbers, and ignores SIGPIPE and SIGXFSZ, so that a closed pipe or a limit on file sizes is an error code of
/// a write and not the end.
void prepare_standard_streams();

}  // namespace lockstep::cli
