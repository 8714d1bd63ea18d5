#pragma once
// A sum over bytes that finds flipped bits at the speed of memory: for messages between ranks and for what lies in
// memory between two steps. No protection against somebody who changes bytes on purpose.

#include <cstddef>
#include <cstdint>
#include <span>

namespace lockstep {

/// The bytes as 64-bit words, dealt out to 32 lanes; each lane has the sum of its words and the sum of these sums
/// (Fletcher), modulo 2^64; the lanes are folded into one number in a fixed order, with the length. Any change within
/// one word gives another sum; an exchange of words of a lane nearly always does. The same on every processor.
std::uint64_t checksum(std::span<const std::byte> bytes);

}  // namespace lockstep
