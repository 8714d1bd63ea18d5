#pragma once
// Names come from files and command lines: nothing in them may become markup, a control sequence of a terminal, or a
// character that turns the direction of the text.

#include <string>
#include <string_view>

namespace lockstep::report {

/// Valid UTF-8 without control characters: they, signs that turn the direction of the text, and bytes that are no UTF-8
/// become U+FFFD. A line break or tab becomes a space, or stays where keep_lines says so.
std::string clean(std::string_view text, bool keep_lines = false);

/// clean(), and the five characters with a meaning in HTML, in elements and in quoted attributes, written as entities.
std::string escape_html(std::string_view text, bool keep_lines = false);

/// escape_html() of running text: `code`, **strong** and addresses that begin with https:// are marked up.
std::string running_html(std::string_view text);
/// The same text for a terminal: clean, without the two stars.
std::string running_text(std::string_view text);

}  // namespace lockstep::report
