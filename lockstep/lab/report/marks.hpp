#pragma once
// The words and symbols of marks and tones, the same in every writer.

#include <string_view>

#include "lockstep/lab/report/document.hpp"

namespace lockstep::report {

/// "same", "differs", ...; empty for none.
std::string_view mark_name(Mark mark);
/// "✓", "≠", "★", "!", ...; empty where the mark has none.
std::string_view mark_symbol(Mark mark);
/// "naive", "simd", ...: the class of the page's style.
std::string_view tone_name(Tone tone);
/// Tones that were left automatic, in the order of their appearance.
Tone automatic_tone(std::size_t index);
std::string_view rule_state_name(Rule::State state);
/// Its own word, or the name of its state.
std::string_view rule_word(const Rule& rule);

}  // namespace lockstep::report
