#include "lockstep/lab/report/marks.hpp"

namespace lockstep::report {

std::string_view mark_name(Mark mark) {
  switch (mark) {
    case Mark::none:
      return "";
    case Mark::same:
      return "same";
    case Mark::differs:
      return "differs";
    case Mark::best:
      return "best";
    case Mark::baseline:
      return "baseline";
    case Mark::warning:
      return "warning";
    case Mark::published:
      return "published";
    case Mark::simulated:
      return "simulated";
    case Mark::muted:
      return "muted";
  }
  return "";
}

std::string_view mark_symbol(Mark mark) {
  switch (mark) {
    case Mark::same:
      return "✓";
    case Mark::differs:
      return "≠";
    case Mark::best:
      return "★";
    case Mark::warning:
      return "!";
    default:
      return "";
  }
}

std::string_view tone_name(Tone tone) {
  switch (tone) {
    case Tone::automatic:
      return "simd";
    case Tone::neutral:
      return "neutral";
    case Tone::naive:
      return "naive";
    case Tone::library:
      return "library";
    case Tone::simd:
      return "simd";
    case Tone::threads:
      return "threads";
    case Tone::ranks:
      return "ranks";
    case Tone::hybrid:
      return "hybrid";
    case Tone::device:
      return "device";
    case Tone::peer:
      return "peer";
    case Tone::published:
      return "published";
    case Tone::simulated:
      return "simulated";
  }
  return "neutral";
}

Tone automatic_tone(std::size_t index) {
  constexpr Tone kOrder[] = {Tone::simd, Tone::ranks,     Tone::threads, Tone::device, Tone::library,
                             Tone::peer, Tone::simulated, Tone::hybrid,  Tone::naive};
  return kOrder[index % std::size(kOrder)];
}

std::string_view rule_state_name(Rule::State state) {
  switch (state) {
    case Rule::State::kept:
      return "kept";
    case Rule::State::partly:
      return "partly kept";
    case Rule::State::broken:
      return "not kept";
    case Rule::State::not_applicable:
      return "does not apply";
  }
  return "";
}

std::string_view rule_word(const Rule& rule) { return rule.word.empty() ? rule_state_name(rule.state) : rule.word; }

}  // namespace lockstep::report
