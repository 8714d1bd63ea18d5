#include "lockstep/core/sha256.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace lockstep {

#if defined(__x86_64__)
namespace {

bool has_sha_instructions() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (b & (1U << 29)) == 0) return false;
  return __builtin_cpu_supports("sse4.1");
}

// The instructions want the state as the halves (a, b, e, f) and (c, d, g, h), highest element first.
__attribute__((target("sha,sse4.1"))) void blocks_with_instructions(Sha256State& state, const std::byte* bytes,
                                                                    std::size_t blocks) {
  auto* const halves = reinterpret_cast<__m128i*>(state.data());
  const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  const __m128i badc = _mm_shuffle_epi32(_mm_loadu_si128(halves), 0xB1);
  const __m128i hgfe = _mm_shuffle_epi32(_mm_loadu_si128(halves + 1), 0x1B);
  __m128i abef = _mm_alignr_epi8(badc, hgfe, 8);
  __m128i cdgh = _mm_blend_epi16(hgfe, badc, 0xF0);
  for (; blocks > 0; --blocks, bytes += 64) {
    const __m128i abef_before = abef, cdgh_before = cdgh;
    __m128i w[4];
    for (int i = 0; i < 4; ++i)
      w[i] = _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes) + i), big_endian);
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) {  // four rounds each
      const __m128i constants = _mm_loadu_si128(reinterpret_cast<const __m128i*>(kSha256Rounds.data()) + i);
      const __m128i sum = _mm_add_epi32(w[i % 4], constants);
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0E));
      if (i >= 12) continue;
      const __m128i older = _mm_sha256msg1_epu32(w[i % 4], w[(i + 1) % 4]);
      const __m128i middle = _mm_alignr_epi8(w[(i + 3) % 4], w[(i + 2) % 4], 4);
      w[i % 4] = _mm_sha256msg2_epu32(_mm_add_epi32(older, middle), w[(i + 3) % 4]);
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  const __m128i feba = _mm_shuffle_epi32(abef, 0x1B);
  const __m128i dchg = _mm_shuffle_epi32(cdgh, 0xB1);
  _mm_storeu_si128(halves, _mm_blend_epi16(feba, dchg, 0xF0));
  _mm_storeu_si128(halves + 1, _mm_alignr_epi8(dchg, feba, 8));
}

}  // namespace

Sha256Blocks sha256_blocks_hardware() { return has_sha_instructions() ? blocks_with_instructions : nullptr; }
#else
Sha256Blocks sha256_blocks_hardware() { return nullptr; }
#endif

}  // namespace lockstep
