// oneDNN's batch normalisation against naive. Both formulas are evaluated with numbers that carry their rounding along;
// the results may differ by what both together allow.
#include "lockstep/kernels/batch_norm.hpp"

#include "tests/kernels/library/bounds.hpp"

namespace lockstep::test {
namespace {

struct Dims {
  std::int64_t channels, pixels;
};
constexpr Dims kDims[] = {{1, 1}, {3, 5}, {8, 1}, {9, 1}, {16, 3}, {32, 49}};
constexpr float kEps = 1e-5F;

/// The numbers of one channel in one slot, sample by sample.
std::vector<Rounded> numbers(const Matrix<float>& m, const Dims& d, std::int64_t channel, const Slots& slots,
                             std::int64_t slot) {
  std::vector<Rounded> result;
  for (std::int64_t row = channel * d.pixels; row < (channel + 1) * d.pixels; ++row)
    for (std::int64_t s = slots.begin(slot); s < slots.end(slot); ++s) result.push_back({m(row, s), 0});
  return result;
}

struct Statistics {
  Rounded mean, variance, inv_std;
};
Statistics statistics(const std::vector<Rounded>& x) {
  const Rounded share = Rounded{1, 0} / Rounded{double(x.size()), 0};
  Statistics result;
  result.mean = share * sum(x);
  std::vector<Rounded> squares;
  for (const Rounded& each : x) squares.push_back((each - result.mean) * (each - result.mean));
  result.variance = share * sum(squares);
  result.inv_std = Rounded{1, 0} / square_root(result.variance + Rounded{kEps, 0});
  return result;
}

class LibraryBatchNorm : public LibraryTest<float> {
 protected:
  template <class Check>
  static void for_each(const Check& check) {
    for (const Dims& d : kDims)
      for (const auto& sizes : kCuts) {
        const Cut cut(sizes);
        for (const Layout& layout : layouts(cut.samples())) {
          SCOPED_TRACE(::testing::Message() << d.channels << " channels of " << d.pixels << ", " << cut.samples()
                                            << " samples in " << sizes.size() << " slots, stride " << layout.stride);
          check(d, cut, layout);
        }
      }
  }
  KernelContext context_;
};

TEST_F(LibraryBatchNorm, Forward) {
  for_each([&](const Dims& d, const Cut& cut, const Layout& l) {
    const Slots slots = cut.slots();
    OddMatrix<float> x(d.channels * d.pixels, cut.samples(), l.stride, l.shift, 1);
    const auto gamma = random_vector<float>(d.channels, 2), beta = random_vector<float>(d.channels, 3);
    const auto run = [&](const KernelTable<float>& kernels) {
      OddMatrix<float> y(d.channels * d.pixels, cut.samples(), l.stride, l.shift);
      auto mean = nan_vector<float>(d.channels * slots.count()), inv_std = mean;
      auto sum_mean = nan_vector<float>(d.channels), sum_var = sum_mean;
      kernels.batch_norm_forward({.channels = d.channels,
                                  .pixels = d.pixels,
                                  .eps = kEps,
                                  .x = x.view(),
                                  .gamma = gamma.data(),
                                  .beta = beta.data(),
                                  .slots = slots,
                                  .y = y.view(),
                                  .mean = mean.data(),
                                  .inv_std = inv_std.data(),
                                  .sum_mean = sum_mean.data(),
                                  .sum_var = sum_var.data()},
                                 context_);
      std::vector<float> all;
      collect(all, y);
      for (const auto* values : {&mean, &inv_std, &sum_mean, &sum_var}) collect(all, *values);
      return all;
    };
    TestMatrix<double> y(d.channels * d.pixels, cut.samples());
    std::vector<double> mean(static_cast<std::size_t>(d.channels * slots.count())), inv_std = mean, sum_mean, sum_var;
    for (std::int64_t c = 0; c < d.channels; ++c) {
      std::vector<Rounded> means, variances;
      for (std::int64_t slot = 0; slot < slots.count(); ++slot) {
        const std::vector<Rounded> all = numbers(x.view(), d, c, slots, slot);
        if (all.empty()) continue;
        const Statistics of = statistics(all);
        const std::size_t place = static_cast<std::size_t>(slot * d.channels + c);
        mean[place] = apart(of.mean, of.mean);
        inv_std[place] = apart(of.inv_std, of.inv_std);
        const Rounded n{double(all.size()), 0};
        means.push_back(n * of.mean);
        if (all.size() > 1) variances.push_back(n * (of.variance * (n / Rounded{n.value - 1, 0})));
        const Rounded scale = Rounded{gamma[static_cast<std::size_t>(c)], 0} * of.inv_std;
        for (std::int64_t row = c * d.pixels; row < (c + 1) * d.pixels; ++row)
          for (std::int64_t s = slots.begin(slot); s < slots.end(slot); ++s) {
            const Rounded result =
                (Rounded{x.view()(row, s), 0} - of.mean) * scale + Rounded{beta[static_cast<std::size_t>(c)], 0};
            y(row, s) = apart(result, result);
          }
      }
      sum_mean.push_back(apart(sum(means), sum(means)));
      sum_var.push_back(apart(sum(variances), sum(variances)));
    }
    std::vector<double> bounds = elements(y);
    for (const auto* values : {&mean, &inv_std, &sum_mean, &sum_var}) collect(bounds, *values);
    EXPECT_TRUE(within(run(table), run(naive), bounds));
  });
}

/// dgamma, dbeta and, for each number, dx; of one channel in one slot.
struct Gradients {
  Rounded dgamma, dbeta;
  std::vector<Rounded> dx;
};

/// As naive computes them.
Gradients our_gradients(const std::vector<Rounded>& x, const std::vector<Rounded>& dy, Rounded gamma, Rounded mean,
                        Rounded inv_std) {
  std::vector<Rounded> products;
  for (std::size_t i = 0; i < x.size(); ++i) products.push_back(dy[i] * (x[i] - mean));
  const Rounded share = Rounded{1, 0} / Rounded{double(x.size()), 0}, p = sum(dy), q = inv_std * sum(products);
  const Rounded scale = gamma * inv_std, slope = scale * inv_std * (q * share), shift = scale * (p * share);
  Gradients result{q, p, {}};
  for (std::size_t i = 0; i < x.size(); ++i) result.dx.push_back(scale * dy[i] - (slope * (x[i] - mean) + shift));
  return result;
}

/// As the library does, from the variance it is given.
Gradients its_gradients(const std::vector<Rounded>& x, const std::vector<Rounded>& dy, Rounded gamma, Rounded mean,
                        Rounded given) {
  const Rounded inv_std = Rounded{1, 0} / square_root(Rounded{1, 0} / (given * given));
  std::vector<Rounded> products;
  for (std::size_t i = 0; i < x.size(); ++i) products.push_back((x[i] - mean) * dy[i]);
  const Rounded n{double(x.size()), 0}, p = sum(dy), q = sum(products) * inv_std;
  Gradients result{q, p, {}};
  for (std::size_t i = 0; i < x.size(); ++i)
    result.dx.push_back((dy[i] - (p / n + (x[i] - mean) * q * inv_std / n)) * (gamma * inv_std));
  return result;
}

TEST_F(LibraryBatchNorm, Backward) {
  for_each([&](const Dims& d, const Cut& cut, const Layout& l) {
    const Slots slots = cut.slots();
    const std::int64_t rows = d.channels * d.pixels, samples = cut.samples();
    OddMatrix<float> x(rows, samples, l.stride, l.shift, 1), dy(rows, samples, l.stride, l.shift, 2);
    const auto gamma = random_vector<float>(d.channels, 3), mean = random_vector<float>(d.channels * slots.count(), 4),
               inv_std = random_vector<float>(d.channels * slots.count(), 5, 0.5, 2);
    const auto run = [&](const KernelTable<float>& kernels, bool with_data) {
      OddMatrix<float> dx(rows, samples, samples + 1, 2);
      auto dgamma = nan_vector<float>(d.channels), dbeta = dgamma;
      kernels.batch_norm_backward({.channels = d.channels,
                                   .pixels = d.pixels,
                                   .x = x.view(),
                                   .dy = dy.view(),
                                   .gamma = gamma.data(),
                                   .mean = mean.data(),
                                   .inv_std = inv_std.data(),
                                   .slots = slots,
                                   .dx = with_data ? dx.view() : Matrix<float>{},
                                   .dgamma = dgamma.data(),
                                   .dbeta = dbeta.data()},
                                  context_);
      std::vector<float> all = dgamma;
      collect(all, dbeta);
      if (with_data) collect(all, dx);
      return all;
    };
    std::vector<double> bounds, dbeta;
    TestMatrix<double> dx(rows, samples);
    for (std::int64_t c = 0; c < d.channels; ++c) {
      std::vector<Rounded> our_dgamma, its_dgamma, our_dbeta;
      for (std::int64_t slot = 0; slot < slots.count(); ++slot) {
        const auto place = static_cast<std::size_t>(slot * d.channels + c);
        const auto xs = numbers(x.view(), d, c, slots, slot), dys = numbers(dy.view(), d, c, slots, slot);
        if (xs.empty()) continue;
        const Rounded g{gamma[static_cast<std::size_t>(c)], 0}, m{mean[place], 0}, i{inv_std[place], 0};
        const Gradients ours = our_gradients(xs, dys, g, m, i), its = its_gradients(xs, dys, g, m, i);
        our_dgamma.push_back(ours.dgamma);
        its_dgamma.push_back(its.dgamma);
        our_dbeta.push_back(ours.dbeta);
        std::size_t number = 0;
        for (std::int64_t row = c * d.pixels; row < (c + 1) * d.pixels; ++row)
          for (std::int64_t s = slots.begin(slot); s < slots.end(slot); ++s, ++number)
            dx(row, s) = apart(ours.dx[number], its.dx[number]);
      }
      bounds.push_back(apart(sum(our_dgamma), sum(its_dgamma)));
      dbeta.push_back(apart(sum(our_dbeta), sum(our_dbeta)));
    }
    collect(bounds, dbeta);
    EXPECT_TRUE(within(run(table, false), run(naive, false), bounds));
    collect(bounds, elements(dx));
    EXPECT_TRUE(within(run(table, true), run(naive, true), bounds));
  });
}

TEST_F(LibraryBatchNorm, Inference) {
  for_each([&](const Dims& d, const Cut& cut, const Layout& l) {
    const std::int64_t rows = d.channels * d.pixels, samples = cut.samples();
    OddMatrix<float> x(rows, samples, l.stride, l.shift, 1);
    const auto gamma = random_vector<float>(d.channels, 2), beta = random_vector<float>(d.channels, 3),
               mean = random_vector<float>(d.channels, 4), var = random_vector<float>(d.channels, 5, 0, 2);
    const auto run = [&](const KernelTable<float>& kernels, bool in_place) {
      OddMatrix<float> from = x, y(rows, samples, l.stride, l.shift);
      kernels.batch_norm_inference({.channels = d.channels,
                                    .pixels = d.pixels,
                                    .eps = kEps,
                                    .x = from.view(),
                                    .gamma = gamma.data(),
                                    .beta = beta.data(),
                                    .running_mean = mean.data(),
                                    .running_var = var.data(),
                                    .y = in_place ? from.view() : y.view()},
                                   context_);
      return in_place ? from.elements() : y.elements();
    };
    TestMatrix<double> y(rows, samples);
    for (std::int64_t row = 0; row < rows; ++row) {
      const auto c = static_cast<std::size_t>(row / d.pixels);
      const Rounded root = square_root(Rounded{var[c], 0} + Rounded{kEps, 0}), scale = Rounded{gamma[c], 0} / root,
                    inverse = Rounded{gamma[c], 0} * (Rounded{1, 0} / root);
      for (std::int64_t s = 0; s < samples; ++s) {
        const Rounded centred = Rounded{x.view()(row, s), 0} - Rounded{mean[c], 0}, shift{beta[c], 0};
        y(row, s) = apart(centred * scale + shift, centred * inverse + shift);
      }
    }
    EXPECT_TRUE(within(run(table, false), run(naive, false), elements(y)));
    EXPECT_TRUE(within(run(table, true), run(naive, true), elements(y)));
  });
}

}  // namespace
}  // namespace lockstep::test
