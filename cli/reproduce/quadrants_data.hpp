#pragma once
// The points and first weights of the published program, number by number: it draws them without a seed, so every run
// of it, and this one, has the same.

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lockstep/data/dataset.hpp"
#include "lockstep/kernels/backend.hpp"
#include "lockstep/nn/network.hpp"
#include "lockstep/train/trainer.hpp"

namespace lockstep::cli {

/// rand() of the GNU C library after srand(1), which is also its state before any call of srand. Written out here so
/// that no other code can take numbers from it, and for other C libraries.
class GlibcRand {
 public:
  GlibcRand();
  std::int32_t operator()();  // 0 to 2^31 - 1

 private:
  static constexpr int kLong = 31, kShort = 3;
  std::array<std::uint32_t, kLong> last_{};  // a ring of the last numbers
  int next_ = kShort;                        // glibc begins there, with the partner at 0
};

inline constexpr std::int64_t kQuadrantBatch = 1024;

/// Batches of points uniform in [-1,1]^2 by (float(rand()) / RAND_MAX - 0.5) * 2, x then y; label 0 where both are >= 0
/// or both < 0.
struct QuadrantData {
  std::shared_ptr<const Dataset> train, test;  // all batches but the last, and that
};
QuadrantData published_quadrants(std::int64_t batches, std::int64_t batch);

/// linear 2-20, relu, linear 20-1, sigmoid. Each layer's weights are 0.01 * N(0,1) by std::normal_distribution<float>
/// from a std::default_random_engine of its own with the default seed (as libstdc++ draws them); biases 0.
Network published_quadrant_network();

struct QuadrantSeries {
  Network network;
  std::vector<double> loss{}, accuracy{};  // on the test batch, after each epoch
  std::string hash{};                      // of the last weights
};

TrainOptions quadrant_options(Backend backend, int threads);

/// The published training from the published start.
QuadrantSeries train_published_quadrants(const QuadrantData& data, Backend backend, std::int64_t epochs);

}  // namespace lockstep::cli
