#pragma once
// A fault of the hardware that a test plants: LOCKSTEP_PLANT_FAULT = KIND@WHEN flips one bit.
//   KIND   activation, gradient, score (of a slot), weight, state (between two steps), save (a weight before a
//          checkpoint), message (from another rank)
//   WHEN   5: in step 5 (message: the 5th one), once; all: in every one; core:3: whenever core 3 computes

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace lockstep {

class PlantedFault {
 public:
  /// Error(usage) for a text that is none; no fault where the variable is not set.
  static PlantedFault from_environment();

  bool any() const { return !kind_.empty(); }
  /// Whether one of this kind is due now. `number` counts from 1.
  bool is_due(std::string_view kind, std::int64_t number) const;
  /// Whether the core that runs this thread computes this kind wrongly.
  bool is_on_this_core(std::string_view kind) const;

 private:
  std::string kind_{};
  std::int64_t number_ = 0;  // 0: all of them
  int core_ = -1;            // -1: any, when its number has come
};

/// The highest bit of the fraction: the value changes and stays a finite number.
template <class T>
void flip_bit(T& value) {
  unsigned char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  bytes[sizeof(T) - 2] ^= sizeof(T) == 4 ? 0x40 : 0x08;
  std::memcpy(&value, bytes, sizeof(T));
}

}  // namespace lockstep
