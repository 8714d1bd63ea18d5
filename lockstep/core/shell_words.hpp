#pragma once
// Commands quoted for a shell, so that a reader of a report or a message can copy them.

#include <span>
#include <string>
#include <string_view>

namespace lockstep {

/// The word, between single quotes where a shell would make something else of it.
std::string shell_word(std::string_view word);

/// The words with a blank between two.
std::string shell_words(std::span<const std::string> words);

}  // namespace lockstep
