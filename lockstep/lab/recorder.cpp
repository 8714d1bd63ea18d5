#include "lockstep/lab/recorder.hpp"

#include <algorithm>
#include <numeric>

namespace lockstep {

std::vector<SectionName> section_names(const std::vector<std::string>& layers) {
  std::vector<SectionName> names;
  for (const char* name :
       {"load", "loss", "reduce", "update", "wait", "validation", "shuffle", "report", "exchange", "bubble", "gather"})
    names.push_back({name, name});
  for (const std::string& layer : layers) {
    names.push_back({layer, "forward"});
    names.push_back({layer, "backward"});
  }
  return names;
}

Recorder::Recorder(std::size_t sections, std::size_t capacity, Clock::time_point zero, SectionCharge* charge)
    : zero_(zero), sums_(sections), ring_(capacity), charge_(charge) {
  start();
}

std::vector<Span> Recorder::spans() const {
  const std::size_t held = static_cast<std::size_t>(count_ - dropped());
  const std::size_t first = held < ring_.size() ? 0 : next_;
  std::vector<Span> ordered;
  ordered.reserve(held);
  for (std::size_t i = 0; i < held; ++i) ordered.push_back(ring_[(first + i) % ring_.size()]);
  return ordered;
}

std::int64_t Recorder::dropped() const {
  return std::max<std::int64_t>(count_ - static_cast<std::int64_t>(ring_.size()), 0);
}

std::int64_t Recorder::total_ns() const {
  return std::accumulate(sums_.begin(), sums_.end(), std::int64_t{0},
                         [](std::int64_t sum, const SectionSum& section) { return sum + section.ns; });
}

}  // namespace lockstep
