// Dropout: Philox with one counter per lane. A counter gives the words of four rows of one sample, so a vector of
// samples takes ten rounds for four rows. Limit: those rounds, about five vector operations per word.
//
// Each 32-bit word of the generator sits in the low half of a 64-bit lane, whose high half holds anything: the
// multiplication of 32 x 32 to 64 bits reads only low halves, and shifts and xors keep the halves apart.

#include "lockstep/kernels/dropout.hpp"

#include "lockstep/kernels/simd/ops.hpp"

namespace lockstep::LOCKSTEP_SIMD {

namespace {

using Wide __attribute__((vector_size(kVectorBytes))) = std::uint64_t;
constexpr int kWideLanes = kVectorBytes / 8;

LOCKSTEP_INLINE Wide wide(std::uint64_t value) {
  return detail::splat<Wide>(value, std::make_integer_sequence<int, kWideLanes>{});
}

/// The 64-bit products of the low halves.
LOCKSTEP_INLINE Wide multiply_low_halves(Wide a, Wide b) {
#if defined(__AVX512F__) && LOCKSTEP_SIMD_BYTES == 64
  return (Wide)_mm512_maskz_mul_epu32(static_cast<__mmask8>(-1), (__m512i)a, (__m512i)b);  // see sqrt in vec.hpp
#elif defined(__AVX2__) && LOCKSTEP_SIMD_BYTES == 32
  return (Wide)_mm256_mul_epu32((__m256i)a, (__m256i)b);
#elif defined(__SSE2__) && LOCKSTEP_SIMD_BYTES == 16
  return (Wide)_mm_mul_epu32((__m128i)a, (__m128i)b);
#elif defined(__aarch64__) && LOCKSTEP_SIMD_BYTES == 16
  return (Wide)vmull_u32(vmovn_u64((uint64x2_t)a), vmovn_u64((uint64x2_t)b));
#else
  const Wide low = wide(0xFFFFFFFFU);
  return (a & low) * (b & low);
#endif
}

/// The counters of the samples in one vector of T: one Wide where T has 64 bits; where it has 32, one for the even
/// lanes and one for the odd.
template <class T>
inline constexpr int kHalves = 8 / static_cast<int>(sizeof(T));

template <class T>
struct Counters {
  Wide word[kHalves<T>][4];
};

constexpr int kRounds = 10;

/// The keys of the rounds in every lane: the same for all counters, so they wait in memory.
struct RoundKeys {
  Wide word[kRounds][2];

  LOCKSTEP_INLINE explicit RoundKeys(std::uint64_t seed) {
    std::uint32_t key0 = static_cast<std::uint32_t>(seed), key1 = static_cast<std::uint32_t>(seed >> 32);
    for (int round = 0; round < kRounds; ++round, key0 += 0x9E3779B9U, key1 += 0xBB67AE85U) {
      word[round][0] = wide(key0);
      word[round][1] = wide(key1);
    }
  }
};

template <class T>
LOCKSTEP_INLINE void philox(Counters<T>& counters, const RoundKeys& keys) {
  const Wide factor0 = wide(0xD2511F53U), factor1 = wide(0xCD9E8D57U);
#pragma GCC unroll 10
  for (int round = 0; round < kRounds; ++round)  // NOLINT(modernize-loop-convert): unrolled by its counter
#pragma GCC unroll 2
    for (int h = 0; h < kHalves<T>; ++h) {
      Wide(&word)[4] = counters.word[h];
      const Wide product0 = multiply_low_halves(factor0, word[0]), product1 = multiply_low_halves(factor1, word[2]);
      word[0] = (product1 >> 32) ^ word[1] ^ keys.word[round][0];
      word[2] = (product0 >> 32) ^ word[3] ^ keys.word[round][1];
      word[1] = product1;
      word[3] = product0;
    }
}

/// Word `row` of every sample, in the lanes of T.
template <class T>
LOCKSTEP_INLINE typename Vec<T>::Bits words_of(const Counters<T>& counters, int row) {
  const Wide low = counters.word[0][row] & wide(0xFFFFFFFFU);
  if constexpr (kHalves<T> == 2)
    return (typename Vec<T>::Bits)(low | (counters.word[1][row] << 32));
  else
    return (typename Vec<T>::Bits)low;
}

/// The samples in one vector as Philox wants them: see random_block in lockstep/core/philox.hpp.
template <class T>
struct Samples {
  Wide low[kHalves<T>], high[kHalves<T>];

  LOCKSTEP_INLINE Samples(const std::int64_t* ids, std::int64_t count, std::uint32_t epoch) {
    std::uint64_t id[kHalves<T>][kWideLanes] = {};
    for (std::int64_t i = 0; i < count; ++i) id[i % kHalves<T>][i / kHalves<T>] = static_cast<std::uint64_t>(ids[i]);
    for (int h = 0; h < kHalves<T>; ++h) {
      __builtin_memcpy(&low[h], id[h], sizeof(Wide));
      high[h] = wide(epoch << 8) | ((low[h] >> 32) & wide(0xFFU));
    }
  }
};

template <class T>
LOCKSTEP_INLINE Counters<T> counters_of(const RandomKey& key, const Samples<T>& samples, std::uint64_t block) {
  const std::uint32_t last = (static_cast<std::uint32_t>(key.purpose) << 24) | ((key.layer & 0xFFFFU) << 8) |
                             (static_cast<std::uint32_t>(block >> 32) & 0xFFU);
  Counters<T> counters;
  for (int h = 0; h < kHalves<T>; ++h) {
    counters.word[h][0] = wide(block);
    counters.word[h][1] = samples.low[h];
    counters.word[h][2] = samples.high[h];
    counters.word[h][3] = wide(last);
  }
  return counters;
}

}  // namespace

template <class T>
void dropout_apply(const DropoutApply<T>& a, KernelContext&) {
  using Bits = typename Vec<T>::Bits;
  const auto threshold = static_cast<std::uint32_t>(a.p * 4294967296.0);
  const Bits least_kept = math::Ops<Vec<T>>::set_bits(threshold);
  const Vec<T> scale = broadcast(T(1 / (1 - a.p)));
  const RoundKeys keys(a.key.seed);
  const ConstMatrix<T> x = a.x;
  const Matrix<T> y = a.y;
  for_vectors<T>(0, y.cols, [&](std::int64_t c, const auto& end) LOCKSTEP_INLINE_LAMBDA {
    const Samples<T> samples(a.sample_ids.data() + c, least(Vec<T>::kWidth, y.cols - c), a.key.epoch);
    for (std::int64_t row = 0; row < y.rows; row += kDropoutRows) {
      Counters<T> counters =
          counters_of<T>(a.key, samples, static_cast<std::uint64_t>((a.first_row + row) / kDropoutRows));
      philox(counters, keys);
      const auto apply = [&](int r) LOCKSTEP_INLINE_LAMBDA {
        const Mask<T> kept = at_least<T>(words_of(counters, r), least_kept);
        store(y.row(row + r) + c, keep(kept, load(x.row(row + r) + c, end) * scale), end);
      };
      apply(0);
      if (row + 1 < y.rows) apply(1);
      if (row + 2 < y.rows) apply(2);
      if (row + 3 < y.rows) apply(3);
    }
  });
}

LOCKSTEP_SIMD_INSTANTIATE(dropout_apply, DropoutApply)

}  // namespace lockstep::LOCKSTEP_SIMD
