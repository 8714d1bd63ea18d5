// Layers behind one another: gradients of whole networks by central differences. Layers overwrite their inputs where
// nobody needs them any more, so every pair of neighbours is tried.
#include "lockstep/nn/sequence.hpp"

#include <bit>

#include "lockstep/core/error.hpp"
#include "lockstep/nn/network.hpp"
#include "tests/kernels/support.hpp"

namespace lockstep::test {
namespace {

constexpr double kStep = 0x1p-18;  // small: a piecewise linear layer must not turn its corner within it
constexpr double kTolerance = 1e-7;

/// A network over one chunk of seven samples in four slots, one of them empty.
class GradientRun {
 public:
  explicit GradientRun(Network& network, std::vector<std::int64_t> lengths = {})
      : network_(network),
        lengths_(std::move(lengths)),
        sequence_(network.plans()),
        x_(network.input().elements(), cut_.samples(), 1),
        dy_(network.output().elements(), cut_.samples(), 2),
        memory_(sequence_.make_memory(cut_.samples(), cut_.slots().count())),
        gradients_(std::size_t(network.parameter_count()), kNan<double>) {
    double* const values = network.data<double>();  // the biases too
    for (std::int64_t i = 0; i < network.trainable_count(); ++i) values[i] += 0.3 * random_value(3, i);
  }

  /// sum of dy * y
  double objective() {
    const ConstMatrix<double> y = sequence_.forward(pass(), padded_input(), memory_);
    double sum = 0;
    for (std::int64_t r = 0; r < y.rows; ++r)
      for (std::int64_t s = 0; s < y.cols; ++s) sum += dy_(r, s) * y(r, s);
    return sum;
  }

  /// The largest error of the gradient by any parameter and by any input.
  double worst_error() {
    objective();
    AlignedBuffer<double> given = padded_copy(dy_), dx(x_.rows() * padded(x_.cols()));
    std::fill_n(dx.data(), dx.size(), kNan<double>);
    const Matrix<double> dx_view = view(dx, x_.rows());
    sequence_.backward(pass(), padded_input(), memory_, view(given, dy_.rows()), dx_view);
    const std::vector<double> expected = gradients_;
    double worst = 0;
    const auto check = [&](double& variable, double gradient) {
      const double quotient = difference_quotient(
          variable, [&] { return objective(); }, kStep);
      const double error = std::abs(quotient - gradient) / std::max(1.0, std::abs(gradient));
      worst = std::isnan(error) ? std::numeric_limits<double>::infinity() : std::max(worst, error);
    };
    for (std::int64_t i = 0; i < network_.trainable_count(); ++i)
      check(network_.data<double>()[i], expected[std::size_t(i)]);
    for (std::int64_t r = 0; r < x_.rows(); ++r) check(x_(r, r % x_.cols()), dx_view(r, r % x_.cols()));
    return worst;
  }

 private:
  Pass<double> pass() {
    return {.kernels = kernels_,
            .context = context_,
            .parameters = network_.data<double>(),
            .gradients = gradients_.data(),
            .training = true,
            .slots = cut_.slots(),
            .sample_ids = ids_,
            .lengths = lengths_.empty() ? nullptr : lengths_.data(),
            .seed = 5,
            .epoch = 6};
  }
  static AlignedBuffer<double> padded_copy(const TestMatrix<double>& m) {
    AlignedBuffer<double> buffer(m.rows() * padded(m.cols()));
    std::fill_n(buffer.data(), buffer.size(), kNan<double>);
    for (std::int64_t r = 0; r < m.rows(); ++r)
      for (std::int64_t s = 0; s < m.cols(); ++s) buffer[r * padded(m.cols()) + s] = m(r, s);
    return buffer;
  }
  Matrix<double> view(AlignedBuffer<double>& buffer, std::int64_t rows) const {
    return {buffer.data(), rows, x_.cols(), padded(x_.cols())};
  }
  ConstMatrix<double> padded_input() {
    input_ = padded_copy(x_);
    return view(input_, x_.rows());
  }

  Network& network_;
  const std::vector<std::int64_t> lengths_;  // of the samples; empty: all have all steps
  Sequence<double> sequence_;
  const Cut cut_{2, 0, 3, 2};
  TestMatrix<double> x_, dy_;
  const std::vector<std::int64_t> ids_ = {4, 8, 15, 16, 23, 42, 7};
  const KernelTable<double> kernels_ = make_naive_table<double>();
  KernelContext context_;
  SequenceMemory<double> memory_;
  AlignedBuffer<double> input_;
  std::vector<double> gradients_;
};

/// Every kind of layer that can stand between two others.
std::vector<LayerSpec> middles() {
  return {Relu{},
          LeakyRelu{.slope = 0.2},
          Tanh{},
          AbsTanh{},
          Sigmoid{.lambda = 1.5},
          Gelu{},
          Softmax{},
          Dropout{.p = 0.3},
          BatchNorm{.eps = 0.1},
          BatchNorm{.eps = 0.1, .over = NormOver::batch},
          LayerNorm{.eps = 0.1},
          Flatten{},
          MaxPool2d{.window = 2, .stride = 1},
          AvgPool2d{.window = 2, .stride = 1},
          Conv2d{.out = 2, .kernel = 1},
          Linear{.out = 6},
          Residual{.body = {Tanh{}, Relu{}}},
          Residual{.body = {Relu{}}, .shortcut = {Linear{.out = 8}, Dropout{.p = 0.2}, Linear{.out = 18}}}};
}

// A ReLU before a max pool is computed behind it. The definition is the order in which the layers stand: with ties,
// zeros of both signs, windows without a positive element and windows that overlap.
TEST(Sequence, ReluBeforeMaxPoolHasTheBitsOfItsPlace) {
  Network network({2, 6, 5}, Precision::float64);
  network.add(Relu{}).add(MaxPool2d{.window = 3, .stride = 1, .pad = 1}).add(Relu{}).add(MaxPool2d{.window = 2});
  const KernelTable<double> kernels = make_naive_table<double>();
  KernelContext context;
  const std::int64_t samples = 16, rows[] = {60, 60, 60, 60, 12};  // of the input and of each layer's output
  const auto matrix = [&](std::int64_t count) { return AlignedBuffer<double>(count * samples); };
  const auto view = [&](AlignedBuffer<double>& b) {
    return Matrix<double>{b.data(), b.size() / samples, samples, samples};
  };
  std::vector<AlignedBuffer<double>> y, d;
  for (const std::int64_t count : rows) {
    y.push_back(matrix(count));
    d.push_back(matrix(count));
  }
  for (std::int64_t i = 0; i < y[0].size(); ++i) {
    const double coarse = std::round(3 * random_value(1, i));
    y[0][i] = coarse == 0 && i % 3 == 0 ? -0.0 : coarse;
  }
  for (std::int64_t i = 0; i < d[4].size(); ++i) d[4][i] = random_value(2, i);
  const AlignedBuffer<double> dy = d[4];

  const Pool2dGeometry pools[] = {pool2d_geometry({3, 3}, Extent{1, 1}, {1, 1}, network.plans()[1].in),
                                  pool2d_geometry({2, 2}, std::nullopt, {0, 0}, network.plans()[3].in)};
  for (std::size_t i = 0; i < 4; ++i) {
    if (i % 2 == 0)
      kernels.activation_forward({.kind = ActivationKind::relu, .slope = 0, .x = view(y[i]), .y = view(y[i + 1])},
                                 context);
    else
      kernels.max_pool2d_forward({.geometry = pools[i / 2], .x = view(y[i]), .y = view(y[i + 1])}, context);
  }
  for (std::size_t i = 4; i-- > 0;) {
    if (i % 2 == 0)
      kernels.activation_backward({.kind = ActivationKind::relu,
                                   .slope = 0,
                                   .x = view(y[i]),
                                   .y = view(y[i + 1]),
                                   .dy = view(d[i + 1]),
                                   .dx = view(d[i])},
                                  context);
    else
      kernels.max_pool2d_backward(
          {.geometry = pools[i / 2], .x = view(y[i]), .y = view(y[i + 1]), .dy = view(d[i + 1]), .dx = view(d[i])},
          context);
  }

  const Sequence<double> sequence(network.plans());
  SequenceMemory<double> memory = sequence.make_memory(samples, 1);
  const Cut cut{16};
  const std::vector<std::int64_t> ids(16, 1);
  const Pass<double> pass{.kernels = kernels,
                          .context = context,
                          .parameters = nullptr,
                          .training = true,
                          .slots = cut.slots(),
                          .sample_ids = ids};
  AlignedBuffer<double> given = dy, dx = matrix(60);
  const ConstMatrix<double> result = sequence.forward(pass, view(y[0]), memory);
  sequence.backward(pass, view(y[0]), memory, view(given), view(dx));
  for (std::int64_t i = 0; i < y[4].size(); ++i)
    ASSERT_EQ(std::bit_cast<std::uint64_t>(result(i / samples, i % samples)), std::bit_cast<std::uint64_t>(y[4][i]));
  for (std::int64_t i = 0; i < dx.size(); ++i)
    ASSERT_EQ(std::bit_cast<std::uint64_t>(dx[i]), std::bit_cast<std::uint64_t>(d[0][i])) << "element " << i;
}

TEST(Sequence, GradientsOfEveryPairOfNeighbours) {
  int tried = 0;
  for (const LayerSpec& first : middles())
    for (const LayerSpec& second : middles()) {
      Network net({1, 3, 3}, Precision::float64);
      net.add(Conv2d{.out = 2, .kernel = 3, .pad = 1});
      try {
        net.add(first).add(second).add(Linear{.out = 3});
      } catch (const Error&) {
        continue;  // an image layer behind a flat one
      }
      ++tried;
      EXPECT_LT(GradientRun(net).worst_error(), kTolerance) << layer_type(first) << ", " << layer_type(second);
    }
  EXPECT_GT(tried, 150);
}

TEST(Sequence, GradientsWithoutParametersAtAnEnd) {
  for (const LayerSpec& layer : middles()) {
    Network leading({2, 3, 3}, Precision::float64), trailing({2, 3, 3}, Precision::float64);
    trailing.add(Conv2d{.out = 2, .kernel = 3, .pad = 1});
    const auto* residual = std::get_if<Residual>(&layer.kind);
    if (residual != nullptr && !residual->shortcut.empty()) {  // it gives a flat sum
      leading.add(Flatten{});
      trailing.add(Flatten{});
    }
    leading.add(layer).add(Linear{.out = 3});
    trailing.add(layer);
    EXPECT_LT(GradientRun(leading).worst_error(), kTolerance) << layer_type(layer) << " first";
    EXPECT_LT(GradientRun(trailing).worst_error(), kTolerance) << layer_type(layer) << " last";
  }
}

TEST(Sequence, GradientsOfNestedResidualBlocks) {
  Network net({2, 4, 4}, Precision::float64);
  const Residual inner{.body = {Conv2d{.out = 2, .kernel = 3, .pad = 1}, BatchNorm{.eps = 0.1}, Relu{}}};
  net.add(Residual{.body = {inner, Tanh{}, MaxPool2d{.window = 2}},
                   .shortcut = {Conv2d{.out = 2, .kernel = 2, .stride = 2}}});
  net.add(Relu{}).add(
      Residual{.body = {Flatten{}, Linear{.out = 8}, Residual{.body = {Flatten{}}}}, .shortcut = {Linear{.out = 8}}});
  net.add(Linear{.out = 2});
  EXPECT_LT(GradientRun(net).worst_error(), kTolerance);
}

/// Every recurrent layer in every form.
std::vector<LayerSpec> recurrences() {
  std::vector<LayerSpec> all;
  for (const std::int64_t layers : {1, 2})
    for (const bool both : {false, true})
      for (const bool steps : {false, true}) {
        const bool bias = layers == 1 || !steps;
        all.emplace_back(Lstm{.hidden = 3, .layers = layers, .bidirectional = both, .all_steps = steps, .bias = bias});
        all.emplace_back(Gru{.hidden = 3, .layers = layers, .bidirectional = both, .all_steps = steps, .bias = bias});
        all.emplace_back(Rnn{.hidden = 3, .layers = layers, .bidirectional = both, .all_steps = steps, .bias = bias});
      }
  all.emplace_back(Rnn{.hidden = 4, .relu = true});
  return all;
}

TEST(Sequence, GradientsOfRecurrentLayers) {
  for (const LayerSpec& layer : recurrences())
    for (const std::int64_t steps : {1, 4}) {
      Network net({2, steps}, Precision::float64), inner({3, steps}, Precision::float64);
      net.add(layer);
      inner.add(Tanh{}).add(layer).add(Tanh{}).add(Linear{.out = 2});
      const std::string name = layer_type(layer) + ", " + layer_detail(layer) + ", " + std::to_string(steps);
      EXPECT_LT(GradientRun(net).worst_error(), kTolerance) << name;
      EXPECT_LT(GradientRun(inner).worst_error(), kTolerance) << name;
    }
}

TEST(Sequence, GradientsOfSequencesThatEndEarly) {
  for (const LayerSpec& layer : recurrences()) {
    Network net({2, 4}, Precision::float64);
    net.add(layer).add(Linear{.out = 2});
    EXPECT_LT(GradientRun(net, {4, 1, 2, 3, 4, 1, 3}).worst_error(), kTolerance)
        << layer_type(layer) << ", " << layer_detail(layer);
  }
}

/// Layers that treat every step alike, and attention.
std::vector<LayerSpec> layers_of_steps() {
  return {Linear{.out = 5, .per_step = true},
          Linear{.out = 3, .bias = false, .per_step = true},
          LayerNorm{.eps = 0.1, .per_step = true},
          Positions{},
          Attention{.heads = 2},
          Attention{.heads = 4, .causal = true},
          Attention{.heads = 1, .causal = true, .bias = false},
          Residual{.body = {LayerNorm{.eps = 0.1, .per_step = true}, Attention{.heads = 2, .causal = true}}}};
}

TEST(Sequence, GradientsOfLayersOfSteps) {
  for (const LayerSpec& layer : layers_of_steps())
    for (const std::int64_t steps : {1, 5}) {
      Network net({4, steps}, Precision::float64), inner({4, steps}, Precision::float64);
      net.add(layer);
      inner.add(Tanh{}).add(layer).add(Tanh{}).add(Linear{.out = 2});
      const std::string name = layer_type(layer) + ", " + layer_detail(layer) + ", " + std::to_string(steps);
      EXPECT_LT(GradientRun(net).worst_error(), kTolerance) << name;
      EXPECT_LT(GradientRun(inner).worst_error(), kTolerance) << name;
    }
}

TEST(Sequence, GradientsOfAttentionThatEndsEarly) {
  for (const bool causal : {false, true}) {
    Network net({4, 4}, Precision::float64);
    net.add(Attention{.heads = 2, .causal = causal}).add(Linear{.out = 2});
    EXPECT_LT(GradientRun(net, {4, 1, 2, 3, 4, 1, 3}).worst_error(), kTolerance) << causal;
  }
}

}  // namespace
}  // namespace lockstep::test
