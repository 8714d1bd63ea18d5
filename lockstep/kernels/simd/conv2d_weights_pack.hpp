#pragma once
// Activations as the convolution's weight gradient reads them: a slot cut into units of one vector of samples, and one
// vector per pixel. Rows of more samples would crowd into few sets of the cache, so their units are copied together.

#include "lockstep/kernels/simd/kernels.hpp"
#include "lockstep/kernels/simd/lanes.hpp"
#include "lockstep/kernels/simd/mask.hpp"
#include "lockstep/tensor/view.hpp"

namespace lockstep::LOCKSTEP_SIMD {

/// Samples [column, column + samples) of a chunk, at most one vector of them, in the virtual lanes from `lane` on of
/// their slot. `samples` may be 0 or less: these lanes have none.
struct Unit {
  std::int64_t number, column, samples, lane;
  bool first;  // the slot's first samples in these lanes
};

/// The units of slot k are [begin(k), end(k)): at least one for every lane.
struct Units {
  const Unit* all;
  const std::int64_t* first;  // by slot, and the end
  std::int64_t slots;

  LOCKSTEP_INLINE const Unit* begin(std::int64_t slot) const { return all + first[slot]; }
  LOCKSTEP_INLINE const Unit* end(std::int64_t slot) const { return all + first[slot + 1]; }
};

template <class T>
LOCKSTEP_INLINE std::int64_t count_units(const Slots& slots) {
  std::int64_t blocks = 0;
  for (std::int64_t slot = 0; slot < slots.count(); ++slot) blocks += most(1, (slots.size(slot) + kLanes - 1) / kLanes);
  return blocks * kLaneVecs<T>;
}

template <class T>
LOCKSTEP_INLINE Units make_units(const Slots& slots, Unit* units, std::int64_t* first) {
  std::int64_t count = 0;
  for (std::int64_t slot = 0; slot < slots.count(); ++slot) {
    const std::int64_t begin = slots.begin(slot), end = slots.end(slot);
    first[slot] = count;
    std::int64_t column = begin;
    do {
      for (std::int64_t lane = 0; lane < kLanes; lane += Vec<T>::kWidth, ++count)
        units[count] = {count, column + lane, least(Vec<T>::kWidth, end - column - lane), lane, column == begin};
      column += kLanes;
    } while (column < end);
  }
  first[slots.count()] = count;
  return {units, first, slots.count()};
}

/// Where the pixels of a unit lie.
template <class T>
struct Pixels {
  const T* data;
  std::int64_t unit;  // from unit to unit; 0: the activation itself, not copied
  std::int64_t channel, pixel;

  LOCKSTEP_INLINE const T* at(const Unit& of) const { return data + (unit == 0 ? of.column : of.number * unit); }
};

/// How much memory the copy of an activation takes; 0: its pixels are read where they are.
struct Packing {
  std::int64_t elements, unit, channels, pixels;
};

/// `stride`: that of an activation whose pixels need not be copied, where all lanes are in use.
template <class T>
LOCKSTEP_INLINE Packing packing_of(const ConstMatrix<T>& from, const Slots& slots, std::int64_t channels,
                                   std::int64_t pixels, std::int64_t stride) {
  bool in_place = from.stride == stride;
  for (std::int64_t slot = 0; slot < slots.count(); ++slot) in_place = in_place && slots.size(slot) % kLanes == 0;
  // An odd number of vectors from channel to channel: channels do not share their sets of the cache.
  const std::int64_t unit = channels * (pixels | 1) * Vec<T>::kWidth;
  return {in_place ? 0 : count_units<T>(slots) * unit, in_place ? 0 : unit, channels, pixels};
}

/// Where a lane has no sample, it gets `nothing`: -0 in dy and +0 in x, whose product changes no sum.
template <class T>
LOCKSTEP_INLINE Pixels<T> pack(const ConstMatrix<T>& from, const Packing& packing, const Units& units, T nothing,
                               T* to) {
  constexpr std::int64_t kWidth = Vec<T>::kWidth;
  if (packing.unit == 0) return {from.data, 0, packing.pixels * from.stride, from.stride};
  const std::int64_t channel = (packing.pixels | 1) * kWidth;
  for (std::int64_t c = 0; c < packing.channels; ++c)
    for (std::int64_t p = 0; p < packing.pixels; ++p) {
      const T* row = from.row(c * packing.pixels + p);
      T* vector = to + c * channel + p * kWidth;
      for (const Unit* unit = units.all; unit != units.end(units.slots - 1); ++unit, vector += packing.unit)
        if (unit->samples >= kWidth) {
          store(vector, load(row + unit->column));
        } else if (unit->samples > 0) {
          const Tail<T> tail = tail_of<T>(unit->samples);
          store(vector, select(tail.mask, load(row + unit->column, tail), broadcast(nothing)));
        }
    }
  return {to, packing.unit, channel, kWidth};
}

}  // namespace lockstep::LOCKSTEP_SIMD
