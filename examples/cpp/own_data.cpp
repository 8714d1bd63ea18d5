// Data of your own, in two ways: numbers that are in memory already, and a class that makes samples when they are asked
// for. Both train the same network, and end with the same weights.

#include <cstdio>
#include <vector>

#include <lockstep/lockstep.hpp>

using namespace lockstep;

namespace {

constexpr std::int64_t kSamples = 300;

// Sample i: two numbers, and whether their product is positive.
float number(std::int64_t sample, std::int64_t feature) {
  return static_cast<float>((sample * (feature == 0 ? 37 : 61)) % 101 - 50) / 50;
}
int label(std::int64_t sample) { return number(sample, 0) * number(sample, 1) > 0 ? 1 : 0; }

// Samples that stand nowhere. Every member may be called from several threads at once.
class Products final : public Dataset {
 public:
  std::int64_t size() const override { return kSamples; }
  Shape sample_shape() const override { return {2}; }
  std::int64_t classes() const override { return 2; }
  std::int64_t target_size() const override { return 0; }
  void gather(std::span<const std::int64_t> ids, Matrix<float> x) const override { fill(ids, x); }
  void gather(std::span<const std::int64_t> ids, Matrix<double> x) const override { fill(ids, x); }
  void labels(std::span<const std::int64_t> ids, std::span<std::int32_t> out) const override {
    for (std::size_t j = 0; j < ids.size(); ++j) out[j] = label(ids[j]);
  }
  void targets(std::span<const std::int64_t>, Matrix<float>) const override {}   // there are labels
  void targets(std::span<const std::int64_t>, Matrix<double>) const override {}  // the same
  bool has_weights() const override { return false; }
  std::string describe() const override { return "products of two numbers"; }

 private:
  // One row per feature, one column per sample.
  template <class T>
  void fill(std::span<const std::int64_t> ids, Matrix<T> x) const {
    for (std::int64_t f = 0; f < x.rows; ++f)
      for (std::size_t j = 0; j < ids.size(); ++j) x(f, static_cast<std::int64_t>(j)) = T(number(ids[j], f));
  }
};

std::string trained_on(const Dataset& data) {
  Network net({2});
  net.add(Linear{.out = 12}).add(Relu{}).add(Linear{.out = 2});
  Trainer trainer(net, {.optimizer = Adam{.lr = 0.02}, .batch = 30});
  trainer.fit(data, {.epochs = 15});
  std::printf("%s: right on %.1f %%\n", data.describe().c_str(), 100 * *trainer.evaluate(data).accuracy());
  return weight_hash(net.values());
}

}  // namespace

int main() {
  try {
    std::vector<float> x;
    std::vector<int> y;
    for (std::int64_t i = 0; i < kSamples; ++i) {
      x.insert(x.end(), {number(i, 0), number(i, 1)});
      y.push_back(label(i));
    }
    const bool same = trained_on(MemoryDataset(x, {2}, y)) == trained_on(Products());
    std::printf("the weights are %s\n", same ? "the same, bit for bit" : "different");
    return same ? 0 : 1;
  } catch (const Error& error) {
    std::fprintf(stderr, "own_data: %s\n", error.what());
    return static_cast<int>(error.code());
  }
}
