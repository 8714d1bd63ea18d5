// Where a training begins: initial weights from a generator without a state, and batches with a remainder.

#include "cli/exercise/exercises/list.hpp"
#include "cli/exercise/exercises/rows.hpp"
#include "cli/exercise/fields.hpp"
#include "lockstep/core/philox.hpp"
#include "lockstep/core/random.hpp"

#include <algorithm>

namespace lockstep::cli {

namespace data_parts {

using Index = std::int64_t;

struct WeightsArgs {
  Index n, seed;
  float bound;
  float* w;
};

std::array<std::uint32_t, 4> block_of(const WeightsArgs& a, Index block, std::uint64_t seed) {
  (void)a;
  return philox4x32_10(
      {static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(std::uint64_t(block) >> 32), 0, 0},
      {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
}

template <class Word, class Number>
void fill(const WeightsArgs& a, Index first, Index count, const Word& word, const Number& number) {
  for (Index i = first; i < first + count; ++i) a.w[i] = number(word(i));
}

std::uint32_t right_word(const WeightsArgs& a, Index i) {
  return block_of(a, i / 4, std::uint64_t(a.seed))[std::size_t(i % 4)];
}
float right_number(const WeightsArgs& a, std::uint32_t word) { return (2 * uniform_float(word) - 1) * a.bound; }

struct BatchArgs {
  Index features, samples, batch, number;
  const float* x;
  const std::int64_t* order;
  float* y;

  Index first() const { return number * batch; }
  Index size() const { return std::clamp<Index>(samples - first(), 0, batch); }
};

/// y(f, j) = x(f, from(j)).
template <class From>
void gather(const BatchArgs& a, Index first, Index count, const From& from) {
  for (Index f = first; f < first + count; ++f)
    for (Index j = 0; j < a.size(); ++j) a.y[f * a.size() + j] = a.x[f * a.samples + from(j)];
}

constexpr const char* kWeightsTask =
    R"(Initial weights, uniform in [-bound, bound), from a generator that keeps no state: Philox4x32-10. Four weights come from
a block, w[4b], ..., w[4b + 3] from block b, whoever computes it:

    counter c = {low 32 bits of b, high 32 bits of b, 0, 0}     key k = {low 32 bits of seed, high 32 bits of seed}
    ten rounds:  p = 0xD2511F53 * c[0], q = 0xCD9E8D57 * c[2]   (64 bits each)
                 c = {high(q) ^ c[1] ^ k[0], low(q), high(p) ^ c[3] ^ k[1], low(p)}
                 k = {k[0] + 0x9E3779B9, k[1] + 0xBB67AE85}     (32 bits, behind each round)
    u = (c[i] >> 8) * 2^-24                                     w = (2 u - 1) * bound

n need not be a multiple of 4. Every operation up to the last product is exact.)";

constexpr const char* kBatchTask =
    R"(Batch `number` of a shuffled data set: the samples order[number * batch], order[number * batch + 1], ... beside each other.

    y[f, j] = x[f, order[number * batch + j]]        x: [features, samples]   y: [features, size]
    size = batch, or what is left of the samples in the last batch (samples - number * batch); never below 0

The order says which sample comes when; it is given. The last batch is smaller where batch does not divide samples.)";

}  // namespace data_parts

Exercise initial_weights_exercise() {
  using namespace data_parts;
  ExerciseOf<WeightsArgs> e("initial-weights", "initial_weights");
  e.record.title = "Initial weights";
  e.record.teaches = "Random numbers that do not depend on who computes them, or when; whole blocks and a remainder.";
  e.record.needs = {"max"};
  e.record.tracks = {"cpp", "simd", "openmp", "opencl", "cuda", "python"};
  e.record.task = kWeightsTask;
  e.size("n", &WeightsArgs::n, "weights");
  e.size("seed", &WeightsArgs::seed, "of the generator, below 2^63");
  e.scalar("bound", &WeightsArgs::bound, "the largest magnitude");
  e.output(
      "w", &WeightsArgs::w, [](const WeightsArgs& a) { return Dims{a.n}; }, "[n]");
  for (const CaseShape& shape : awkward_shapes({1000})) e.record.shapes.push_back({shape[0], 1 + 7 * shape[0]});
  e.record.shapes.push_back({1009, std::int64_t{0x123456789ABCDEF}});
  e.record.timed = {1 << 18, 42};
  e.oracle([](const WeightsArgs& a) {
    fill(
        a, 0, a.n, [&](Index i) { return right_word(a, i); }, [&](std::uint32_t w) { return right_number(a, w); });
  });
  e.fast([](const WeightsArgs& a, int threads) {
    share_rows((a.n + 3) / 4, threads, [&](Index first, Index count, KernelContext&) {
      for (Index b = first; b < first + count; ++b) {
        const auto words = block_of(a, b, std::uint64_t(a.seed));
        for (Index i = 0; i < 4 && 4 * b + i < a.n; ++i) a.w[4 * b + i] = right_number(a, words[std::size_t(i)]);
      }
    });
  });
  e.cost([](const WeightsArgs& a) { return Cost{.flops = 30 * double(a.n), .bytes = 4 * double(a.n)}; });
  e.mistake("positive-only", "The weights lie in [0, bound): 2 u - 1 is missing.", [](const WeightsArgs& a) {
    fill(
        a, 0, a.n, [&](Index i) { return right_word(a, i); },
        [&](std::uint32_t w) { return uniform_float(w) * a.bound; });
  });
  e.mistake("low-bits", "You take the low 24 bits of a word; the contract takes the high ones: word >> 8.",
            [](const WeightsArgs& a) {
              fill(
                  a, 0, a.n, [&](Index i) { return right_word(a, i); },
                  [&](std::uint32_t w) { return right_number(a, w << 8); });
            });
  e.mistake("one-word-per-block", "You use the first word of a block for every weight; a block has four.",
            [](const WeightsArgs& a) {
              fill(
                  a, 0, a.n, [&](Index i) { return block_of(a, i, std::uint64_t(a.seed))[0]; },
                  [&](std::uint32_t w) { return right_number(a, w); });
            });
  e.mistake("same-in-block", "All four weights of a block are the same: the place in the block is ignored.",
            [](const WeightsArgs& a) {
              fill(
                  a, 0, a.n, [&](Index i) { return block_of(a, i / 4, std::uint64_t(a.seed))[0]; },
                  [&](std::uint32_t w) { return right_number(a, w); });
            });
  e.mistake("seed-32", "The upper half of the seed is lost: it has 64 bits.", [](const WeightsArgs& a) {
    fill(
        a, 0, a.n, [&](Index i) { return block_of(a, i / 4, std::uint32_t(a.seed))[std::size_t(i % 4)]; },
        [&](std::uint32_t w) { return right_number(a, w); });
  });
  e.mistake("reversed-words", "The words of a block are taken from the last to the first.", [](const WeightsArgs& a) {
    fill(
        a, 0, a.n, [&](Index i) { return block_of(a, i / 4, std::uint64_t(a.seed))[std::size_t(3 - i % 4)]; },
        [&](std::uint32_t w) { return right_number(a, w); });
  });
  return std::move(e.record);
}

Exercise batches_exercise() {
  using namespace data_parts;
  ExerciseOf<BatchArgs> e("batches", "take_batch");
  e.record.title = "Batches with a remainder";
  e.record.teaches = "Indirect reads, the last batch that is smaller, bounds.";
  e.record.needs = {"max"};
  e.record.tracks = {"cpp", "simd", "openmp", "opencl", "cuda", "python"};
  e.record.task = kBatchTask;
  e.size("features", &BatchArgs::features, "of a sample");
  e.size("samples", &BatchArgs::samples, "of the data set");
  e.size("batch", &BatchArgs::batch, "samples of a whole batch");
  e.size("number", &BatchArgs::number, "which batch, from 0");
  e.input(
      "x", &BatchArgs::x,
      [](const BatchArgs& a) {
        return Dims{a.features, a.samples};
      },
      "[features, samples]");
  e.input(
      "order", &BatchArgs::order, [](const BatchArgs& a) { return Dims{a.samples}; }, "[samples]: a permutation");
  e.output(
      "y", &BatchArgs::y,
      [](const BatchArgs& a) {
        return Dims{a.features, a.size()};
      },
      "[features, size]");
  e.prepare([](BatchArgs& a, CaseRandom& random) {
    auto* const order = const_cast<std::int64_t*>(a.order);
    for (Index i = 0; i < a.samples; ++i) order[i] = i;
    for (Index i = a.samples - 1; i > 0; --i) std::swap(order[i], order[random.below(i + 1)]);
  });
  e.record.legal = [](const CaseShape& s) { return s[2] >= 1; };
  e.record.shapes = {{1, 1, 1, 0},    {3, 10, 4, 0}, {3, 10, 4, 1},  {3, 10, 4, 2},    {5, 17, 16, 1}, {5, 17, 16, 0},
                     {2, 33, 8, 4},   {7, 15, 5, 2}, {4, 64, 16, 3}, {13, 31, 7, 4},   {0, 9, 4, 1},   {3, 9, 4, 3},
                     {9, 101, 33, 3}, {1, 2, 1, 1},  {6, 65, 64, 1}, {17, 100, 100, 0}};
  e.record.timed = {784, 4000, 1024, 2};
  e.oracle([](const BatchArgs& a) { gather(a, 0, a.features, [&](Index j) { return a.order[a.first() + j]; }); });
  e.fast([](const BatchArgs& a, int threads) {
    share_rows(a.features, threads, [&](Index first, Index count, KernelContext&) {
      gather(a, first, count, [&](Index j) { return a.order[a.first() + j]; });
    });
  });
  e.cost([](const BatchArgs& a) { return Cost{.flops = 0, .bytes = 8.0 * double(a.features * a.size())}; });
  e.mistake("no-order", "The samples come in the order of the data set: `order` is ignored.",
            [](const BatchArgs& a) { gather(a, 0, a.features, [&](Index j) { return a.first() + j; }); });
  e.mistake("first-batch", "Every batch is the first one: `number` is ignored.",
            [](const BatchArgs& a) { gather(a, 0, a.features, [&](Index j) { return a.order[j]; }); });
  e.mistake("wide-rows", "Rows of y are `batch` apart; in the last batch they are `size` apart.",
            [](const BatchArgs& a) {
              for (Index f = 0; f < a.features; ++f)
                for (Index j = 0; j < a.size(); ++j)
                  if (f * a.batch + j < a.features * a.size())
                    a.y[f * a.batch + j] = a.x[f * a.samples + a.order[a.first() + j]];
            });
  e.mistake("whole-batches", "Only whole batches are filled: the last, smaller one is not written.",
            [](const BatchArgs& a) {
              if (a.size() == a.batch) gather(a, 0, a.features, [&](Index j) { return a.order[a.first() + j]; });
            });
  e.mistake("inverse-order", "You look for the sample's place in the order; order[j] is the sample at place j.",
            [](const BatchArgs& a) {
              gather(a, 0, a.features,
                     [&](Index j) { return Index(std::find(a.order, a.order + a.samples, a.first() + j) - a.order); });
            });
  return std::move(e.record);
}

}  // namespace lockstep::cli
