#include "lockstep/lab/peak.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "lockstep/core/error.hpp"
#include "lockstep/lab/peak/kernel.hpp"

namespace lockstep {
namespace {

// How fast the machine is, is its own affair: only that something plausible comes out.

TEST(Peak, EveryInstructionSetRuns) {
  ASSERT_FALSE(peak_isas().empty());
  for (const std::string& isa : peak_isas())
    for (const Scalar scalar : {Scalar::float32, Scalar::float64}) {
      const double rate = measure_fma_peak(scalar, 1, isa, 0.001);
      EXPECT_GT(rate, 0) << isa;
      EXPECT_TRUE(std::isfinite(rate)) << isa;
    }
  EXPECT_GT(measure_fma_peak(Scalar::float32, 2, "", 0.001), 0);
  EXPECT_THROW(measure_fma_peak(Scalar::float32, 1, "mmx"), Error);
}

TEST(Peak, TheLoopComputesWhatItSays) {
  const PeakKernel kernel = peak_baseline::peak_kernel();
  // Chain c starts at c and tends to 1 by halves; the result is the sum of 12 chains.
  EXPECT_EQ(kernel.run_double(0), 66);
  EXPECT_EQ(kernel.run_double(1), (66 - 12) / 2.0 + 12);
  EXPECT_EQ(kernel.run_float(2), (66 - 12) / 4.0F + 12);
  EXPECT_EQ(kernel.run_float(1000), 12);
  EXPECT_EQ(kernel.float_flops, 2 * kernel.double_flops);
}

TEST(Peak, MemoryBandwidth) { EXPECT_GT(measure_memory_bandwidth(1, 0.001), 0); }

TEST(Peak, OpenBlas) {
  const std::optional<double> rate = measure_openblas(Scalar::float64, 1, 64, 0.001);
  if (!rate) {
    EXPECT_EQ(openblas_description(), "");
    GTEST_SKIP() << "libopenblas.so.0 is not installed (libopenblas0)";
  }
  EXPECT_GT(*rate, 0);
  EXPECT_NE(openblas_description(), "");
  EXPECT_GT(measure_openblas(Scalar::float32, 2, 64, 0.001).value(), 0);
}

}  // namespace
}  // namespace lockstep
