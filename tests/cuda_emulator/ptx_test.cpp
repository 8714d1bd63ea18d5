// The rules of PTX that a processor does not share by itself, each as a kernel of a few lines; and that the reader
// refuses what it does not know. The numbers are those of NVIDIA's "PTX ISA".
#include "ptx.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <string>

#include "counters.hpp"
#include "cuda_runtime.h"
#include "grid.hpp"

namespace cuda_emulator {
namespace {

/// A kernel of one parameter, an address in %rd9, where the body leaves its result.
std::string text_of(const std::string& body, const std::string& declarations = "") {
  return ".version 9.0\n.target sm_75\n.address_size 64\n\n.visible .entry k(\n\t.param .u64 k_param_0\n)\n{\n" +
         declarations + "\n\tld.param.u64 \t%rd9, [k_param_0];\n" + body + "\n\tret;\n}\n";
}

/// What the first thread's kernel leaves; `threads` of a block run.
std::uint64_t result_of(const std::string& body, unsigned threads = 1, const std::string& declarations = "") {
  void* out = nullptr;
  EXPECT_EQ(cudaMalloc(&out, 1024), cudaSuccess);
  EXPECT_EQ(cudaMemsetAsync(out, 0, 1024, nullptr), cudaSuccess);
  const auto module = ptx::read_module(text_of(body, declarations));
  const ptx::Kernel& kernel = module.at("k");
  const std::uint64_t words[] = {word_of(inside_kernel(out, 1))};
  cudaDeviceSynchronize();
  run_grid({"k", dim3(1), dim3(threads), kernel.shared_bytes, {}, [&] { ptx::run_thread(kernel, words); }});
  std::uint64_t result = 0;
  EXPECT_EQ(cudaMemcpy(&result, out, sizeof result, cudaMemcpyDeviceToHost), cudaSuccess);
  cudaFree(out);
  return result;
}
std::string hex(float value) {
  char text[16];
  std::snprintf(text, sizeof text, "0f%08X", std::bit_cast<unsigned>(value));
  return text;
}
/// The predicate of setp.<comparison>.f32 a, b.
bool compares(const std::string& comparison, float a, float b) {
  return result_of("mov.f32 %f1, " + hex(a) + ";\nmov.f32 %f2, " + hex(b) + ";\nsetp." + comparison +
                   ".f32 %p1, %f1, %f2;\nselp.u64 %rd1, 1, 0, %p1;\nst.global.u64 [%rd9], %rd1;") == 1;
}
float computes(const std::string& form, float a, float b) {
  return std::bit_cast<float>(static_cast<unsigned>(
      result_of("mov.f32 %f1, " + hex(a) + ";\n" + form + " %f3, %f1, " + hex(b) + ";\nst.global.f32 [%rd9], %f3;")));
}
constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInfinity = std::numeric_limits<float>::infinity();

TEST(Ptx, OrderedComparisonsAreFalseWithNan) {
  for (const char* ordered : {"eq", "ne", "lt", "le", "gt", "ge", "num"})
    EXPECT_FALSE(compares(ordered, kNan, 1)) << ordered;
  EXPECT_TRUE(compares("ne", 1, 2));
  EXPECT_TRUE(compares("le", 1, 1));
  EXPECT_FALSE(compares("lt", 1, 1));
  EXPECT_TRUE(compares("eq", 0.0F, -0.0F));
}

TEST(Ptx, UnorderedComparisonsAreTrueWithNan) {
  for (const char* unordered : {"equ", "neu", "ltu", "leu", "gtu", "geu", "nan"})
    EXPECT_TRUE(compares(unordered, 1, kNan)) << unordered;
  EXPECT_FALSE(compares("leu", 2, 1));
  EXPECT_TRUE(compares("leu", 1, 1));
  EXPECT_FALSE(compares("gtu", 1, 1));
  EXPECT_FALSE(compares("equ", 1, 2));
}

TEST(Ptx, ShiftsClampTheirAmount) {
  const auto shifted = [](const std::string& form, const char* value, const char* by) {
    const bool wide = form.ends_with("64");
    const std::string to = wide ? "%rd1" : "%r1", from = wide ? "%rd2" : "%r2", type = wide ? "u64" : "u32";
    return result_of("mov." + type + " " + from + ", " + value + ";\nmov.u32 %r3, " + by + ";\n" + form + " " + to +
                     ", " + from + ", %r3;\nst.global." + type + " [%rd9], " + to + ";");
  };
  EXPECT_EQ(shifted("shl.b32", "5", "31"), 0x80000000u);
  EXPECT_EQ(shifted("shl.b32", "5", "32"), 0u);
  EXPECT_EQ(shifted("shl.b64", "5", "64"), 0u);
  EXPECT_EQ(shifted("shr.u32", "0x80000000", "33"), 0u);
  EXPECT_EQ(shifted("shr.s32", "-8", "40"), 0xffffffffu);
  EXPECT_EQ(shifted("shr.s64", "-8", "100"), ~std::uint64_t{0});
  EXPECT_EQ(shifted("shr.s32", "-8", "1"), 0xfffffffcu);
}

TEST(Ptx, MinimumAndMaximumPreferNumbers) {
  EXPECT_EQ(computes("max.f32", kNan, 2), 2);
  EXPECT_EQ(computes("max.f32", 2, kNan), 2);
  EXPECT_EQ(computes("min.f32", kNan, -2), -2);
  EXPECT_TRUE(std::signbit(computes("min.f32", 0.0F, -0.0F)));
  EXPECT_FALSE(std::signbit(computes("max.f32", -0.0F, 0.0F)));
  EXPECT_EQ(std::bit_cast<unsigned>(computes("max.f32", kNan, kNan)), 0x7fffffffu);
}

TEST(Ptx, ArithmeticRoundsToNearestEven) {
  EXPECT_EQ(computes("add.rn.f32", 16777216, 1), 16777216);  // 2^24 + 1: the tie goes to the even one
  EXPECT_EQ(computes("add.rn.f32", 16777218, 1), 16777220);
  EXPECT_EQ(computes("mul.rn.f32", std::numeric_limits<float>::min(), 0.5F), std::numeric_limits<float>::min() / 2);
  EXPECT_EQ(computes("div.rn.f32", 1, 3), 1.0F / 3);
  EXPECT_EQ(computes("div.rn.f32", 1, 0), kInfinity);
  EXPECT_EQ(std::bit_cast<unsigned>(computes("div.rn.f32", 0, 0)), 0x7fffffffu);  // one NaN for all
}

TEST(Ptx, FmaRoundsOnce) {
  const float third = 1.0F / 3;  // third * 3 - 1 is lost when the product is rounded first
  const std::string body = "mov.f32 %f1, " + hex(third) + ";\nmov.f32 %f2, " + hex(-1) + ";\nfma.rn.f32 %f3, %f1, " +
                           hex(3) + ", %f2;\nst.global.f32 [%rd9], %f3;";
  EXPECT_EQ(std::bit_cast<float>(static_cast<unsigned>(result_of(body))), std::fma(third, 3.0F, -1.0F));
  EXPECT_NE(std::fma(third, 3.0F, -1.0F), third * 3.0F - 1.0F);
}

TEST(Ptx, ConversionsAndWideProducts) {
  EXPECT_EQ(result_of("mov.u32 %r1, -1;\ncvt.s64.s32 %rd1, %r1;\nst.global.u64 [%rd9], %rd1;"), ~std::uint64_t{0});
  EXPECT_EQ(result_of("mov.u32 %r1, -1;\ncvt.u64.u32 %rd1, %r1;\nst.global.u64 [%rd9], %rd1;"), 0xffffffffu);
  EXPECT_EQ(result_of("mov.u32 %r1, -1;\nmul.wide.s32 %rd1, %r1, 2;\nst.global.u64 [%rd9], %rd1;"), ~std::uint64_t{1});
  EXPECT_EQ(result_of("mov.u32 %r1, -1;\nmul.wide.u32 %rd1, %r1, 2;\nst.global.u64 [%rd9], %rd1;"), 0x1fffffffeu);
  EXPECT_EQ(result_of("mov.u64 %rd1, 16777217;\ncvt.rn.f32.s64 %f1, %rd1;\nst.global.f32 [%rd9], %f1;"),
            std::bit_cast<unsigned>(16777216.0F));
}

TEST(Ptx, PredicatesGuardInstructions) {
  EXPECT_EQ(result_of("mov.u64 %rd1, 1;\nsetp.eq.s64 %p1, %rd1, 1;\n@!%p1 bra $L__BB0_2;\nmov.u64 %rd1, 7;\n"
                      "$L__BB0_2:\n@%p1 st.global.u64 [%rd9], %rd1;"),
            7u);
}

/// Threads write to shared memory and read their neighbour's number: right only behind the barrier.
std::string neighbours(const std::string& barrier) {
  return "mov.u32 %r1, %tid.x;\nmov.u32 %r2, tile;\nshl.b32 %r3, %r1, 2;\nadd.s32 %r4, %r2, %r3;\n"
         "st.shared.u32 [%r4], %r1;\n" +
         barrier +
         "xor.b32 %r5, %r3, 4;\nadd.s32 %r6, %r2, %r5;\nld.shared.u32 %r7, [%r6];\nmul.wide.u32 %rd1, %r1, 4;\n"
         "add.s64 %rd2, %rd9, %rd1;\nst.global.u32 [%rd2], %r7;";
}

TEST(Ptx, BarriersHoldAndMissingOnesShow) {
  const std::string tile = "\t.shared .align 4 .b8 tile[256];\n";
  EXPECT_EQ(result_of(neighbours("bar.sync 0;\n"), 64, tile),
            0x0000000000000001u);  // thread 0 reads 1, thread 1 reads 0
  EXPECT_NE(result_of(neighbours(""), 64, tile), 0x0000000000000001u);
}

TEST(Ptx, CountsSectorsAndPasses) {
  count(true);
  counters() = {};
  result_of(neighbours("bar.sync 0;\n"), 64, "\t.shared .align 4 .b8 tile[256];\n");
  const KernelCounters near = counters().kernels[""];
  EXPECT_EQ(near.global_accesses, 2u);  // of warps
  EXPECT_EQ(near.sectors, 8u);
  EXPECT_EQ(near.least_sectors, 8u);
  EXPECT_EQ(near.shared_accesses, 4u);
  EXPECT_EQ(near.passes, near.least_passes);
  counters() = {};
  // Every 16th word of global memory; every second word of shared memory.
  result_of(
      "mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd1, %r1, 32;\nadd.s64 %rd2, %rd9, %rd1;\nst.global.u32 [%rd2], %r1;\n"
      "mov.u32 %r2, tile;\nshl.b32 %r3, %r1, 3;\nadd.s32 %r4, %r2, %r3;\nst.shared.u32 [%r4], %r1;",
      32, "\t.shared .align 4 .b8 tile[256];\n");
  const KernelCounters far = counters().kernels[""];
  EXPECT_EQ(far.sectors, 32u);
  EXPECT_EQ(far.least_sectors, 4u);
  EXPECT_EQ(far.passes, 2u);
  count(false);
}

TEST(PtxDeathTest, RefusesWhatItDoesNotKnow) {
  EXPECT_DEATH(ptx::read_module(text_of("div.approx.f32 %f1, %f2, %f3;")), "the form div.approx.f32 is not known");
  EXPECT_DEATH(ptx::read_module(text_of("add.f32 %f1, %f2, %f3;")), "the form add.f32 is not known");
  EXPECT_DEATH(ptx::read_module(text_of("bra $L__BB0_9;")), "no label");
  EXPECT_DEATH(ptx::read_module(text_of("add.s32 %r1, %r2, elsewhere;")), "no operand: elsewhere");
}

TEST(PtxDeathTest, FindsAccessesOutOfBounds) {
  EXPECT_DEATH(result_of("st.global.u32 [%rd9+1024], 0;"), "past the end of an allocation");
  EXPECT_DEATH(result_of("st.global.u32 [%rd9+2], 0;"), "not aligned");
  EXPECT_DEATH(result_of("mov.u32 %r1, tile;\nst.shared.u32 [%r1+256], 0;", 1, "\t.shared .align 4 .b8 tile[256];\n"),
               "out of bounds of shared memory");
}

}  // namespace
}  // namespace cuda_emulator
