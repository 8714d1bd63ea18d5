#include <algorithm>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/nn/sequence.hpp"
#include "lockstep/train/trainer.hpp"

namespace lockstep {

namespace {

constexpr std::int64_t kChunk = 64;

template <class T>
std::vector<double> run(const Network& network, const Dataset& data, std::span<const std::int64_t> ids,
                        Backend backend) {
  const Sequence<T> layers(network.plans());
  const KernelTable<T> kernels = make_table<T>(backend);
  const std::int64_t outputs = network.output().elements(), inputs = network.input().elements();
  const auto count = static_cast<std::int64_t>(ids.size());
  SequenceMemory<T> memory = layers.make_memory(std::min(kChunk, count), 1);
  AlignedBuffer<T> input(inputs * padded(std::min(kChunk, count)));
  KernelContext context;
  std::vector<double> result(static_cast<std::size_t>(count * outputs));
  for (std::int64_t first = 0; first < count; first += kChunk) {
    const std::int64_t samples = std::min(kChunk, count - first);
    const Matrix<T> x{input.data(), inputs, samples, padded(samples)};
    data.gather(ids.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(samples)), x);
    const Pass<T> pass{.kernels = kernels, .context = context, .parameters = network.data<T>()};
    const ConstMatrix<T> y = layers.forward(pass, x, memory);
    for (std::int64_t s = 0; s < samples; ++s)
      for (std::int64_t k = 0; k < outputs; ++k)
        result[static_cast<std::size_t>((first + s) * outputs + k)] = static_cast<double>(y(k, s));
  }
  return result;
}

}  // namespace

std::vector<double> predict(const Network& network, const Dataset& data, std::span<const std::int64_t> ids,
                            Backend backend) {
  if (data.features() != network.input().elements())
    throw Error(ExitCode::usage, fmt::format("the data has samples {} but the model input is {}",
                                             data.sample_shape().str(), network.input().str()));
  return network.precision() == Precision::float32 ? run<float>(network, data, ids, backend)
                                                   : run<double>(network, data, ids, backend);
}

}  // namespace lockstep
