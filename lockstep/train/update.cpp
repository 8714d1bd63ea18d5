#include "lockstep/train/update.hpp"

#include <algorithm>

#include "lockstep/kernels/device/device.hpp"
#include "lockstep/kernels/device/ranges.hpp"

namespace lockstep {

template <class T>
double SquareSum<T>::operator()(const T* x, std::int64_t count, const KernelTable<T>& kernels, KernelContext& context) {
  const std::int64_t blocks = (count + kSquareBlock - 1) / kSquareBlock;
  if (blocks == 0) return 0;
  if (partial_.size() < blocks) partial_ = AlignedBuffer<double>(blocks, context.memory());
  kernels.square_sums({.count = count, .x = x, .partial = partial_.data()}, context);
  if (&context.memory() == &host_memory())
    return block_tree(std::span<const double>(partial_.data(), static_cast<std::size_t>(blocks)));
  host_.resize(static_cast<std::size_t>(blocks));
  context.device().to_host(host_.data(), partial_.data(), blocks * 8);
  return block_tree(host_);
}

template <class T>
double l2_penalty(double l2, const Network& network, const T* parameters, SquareSum<T>& square_sum,
                  const KernelTable<T>& kernels, KernelContext& context) {
  if (l2 == 0) return 0;
  double sum = 0;
  for (const ParameterInfo& info : network.parameters())
    if (info.role == Role::weight) sum += square_sum(parameters + info.offset, info.elements(), kernels, context);
  return l2 / 2 * sum;
}

bool is_frozen(std::string_view parameter, const std::vector<std::string>& frozen) {
  return std::any_of(frozen.begin(), frozen.end(), [&](const std::string& layer) {
    return parameter.starts_with(layer) && parameter.substr(layer.size()).starts_with('.');
  });
}

template <class T>
Update<T>::Update(const OptimizerSpec& optimizer, const std::vector<ParameterInfo>& parameters,
                  const std::vector<std::string>& frozen, std::int64_t trainable, Memory& where)
    : optimizer_(optimizer) {
  for (const ParameterInfo& info : parameters)
    if (info.trainable()) (is_frozen(info.name, frozen) ? frozen_ : parameters_).push_back(info);
  if (state_vectors(optimizer) >= 1) first_ = AlignedBuffer<T>(trainable, where);
  if (state_vectors(optimizer) >= 2) second_ = AlignedBuffer<T>(trainable, where);
}

template <class T>
void Update<T>::clear_frozen(T* gradient, std::int64_t first, std::int64_t last, KernelContext& context) const {
  for (const ParameterInfo& info : frozen_) {
    const std::int64_t from = std::max(first, info.offset), to = std::min(last, info.offset + info.elements());
    if (from >= to) continue;
    if (&context.memory() == &host_memory())
      std::fill(gradient + from, gradient + to, T(0));
    else
      context.device().zero(gradient + from, (to - from) * static_cast<std::int64_t>(sizeof(T)));
  }
}

template <class T>
std::vector<std::int64_t> Update<T>::weights_between(std::int64_t first, std::int64_t last) const {
  std::vector<std::int64_t> ranges;
  for (const ParameterInfo& info : parameters_) {
    const std::int64_t from = std::max(first, info.offset), to = std::min(last, info.offset + info.elements());
    if (info.role != Role::weight || from >= to) continue;
    ranges.push_back(from);
    ranges.push_back(to);
  }
  return ranges;
}

template <class T>
void Update<T>::add_l2(double l2, const T* parameters, T* gradient, std::int64_t first, std::int64_t last,
                       const KernelTable<T>& kernels, KernelContext& context) const {
  if (l2 == 0) return;
  const std::vector<std::int64_t> ranges = weights_between(first, last);
  if (&context.memory() != &host_memory()) {
    device::add_l2_ranges<T>(context, T(l2), parameters, gradient, ranges);
    return;
  }
  for (std::size_t k = 0; k < ranges.size(); k += 2)
    kernels.add_l2(
        {.count = ranges[k + 1] - ranges[k], .l2 = T(l2), .w = parameters + ranges[k], .g = gradient + ranges[k]},
        context);
}

template <class T>
void Update<T>::step(double rate, std::int64_t step, T* parameters, const T* gradient, std::int64_t first,
                     std::int64_t last, const KernelTable<T>& kernels, KernelContext& context) {
  const auto run = [&](const auto& optimizer, bool decays, std::int64_t from, std::int64_t to) {
    if (from >= to) return;
    const auto at = [&](AlignedBuffer<T>& state) { return state.size() > 0 ? state.data() + from : nullptr; };
    optimizer.step(StepRange<T>{.rate = rate,
                                .step = step,
                                .decays = decays,
                                .count = to - from,
                                .g = gradient + from,
                                .w = parameters + from,
                                .first = at(first_),
                                .second = at(second_),
                                .kernels = kernels,
                                .context = context});
  };
  std::visit(
      [&](const auto& optimizer) {
        if constexpr (requires { optimizer.weight_decay; }) {
          if (&context.memory() != &host_memory()) {
            // A launch costs more than the weights once more: one lets all of them decay, one steps everything. The
            // step multiplies by a decay of 1 then, so the bits are the same.
            const T factor = T(1 - rate * optimizer.weight_decay);
            if (factor != T(1)) device::scale_ranges<T>(context, factor, parameters, weights_between(first, last));
            run(optimizer, false, first, last);
            return;
          }
          // Decay touches weights only, so tensors go one by one.
          for (const ParameterInfo& info : parameters_)
            run(optimizer, info.role == Role::weight, std::max(first, info.offset),
                std::min(last, info.offset + info.elements()));
        } else {
          run(optimizer, false, first, last);
        }
      },
      optimizer_);
}

template <class T>
RunningAverage<T>::RunningAverage(std::int64_t count, Memory& where)
    : values_(count, where), difference_(count, where) {}

template <class T>
void RunningAverage<T>::take(double share, const T* x, const KernelTable<T>& kernels, KernelContext& context) {
  const std::int64_t count = values_.size();
  if (count == 0) return;
  if (&context.memory() == &host_memory())
    std::fill_n(difference_.data(), count, T(0));
  else
    context.device().zero(difference_.data(), count * static_cast<std::int64_t>(sizeof(T)));
  // add_l2 is g = fma(l2, w, g): every backend has it, and the same bits.
  kernels.add_l2({.count = count, .l2 = T(1), .w = x, .g = difference_.data()}, context);
  kernels.add_l2({.count = count, .l2 = T(-1), .w = values_.data(), .g = difference_.data()}, context);
  kernels.add_l2({.count = count, .l2 = T(share), .w = difference_.data(), .g = values_.data()}, context);
}

template class RunningAverage<float>;
template class RunningAverage<double>;
template class Update<float>;
template class Update<double>;
template class SquareSum<float>;
template class SquareSum<double>;
template double l2_penalty(double, const Network&, const float*, SquareSum<float>&, const KernelTable<float>&,
                           KernelContext&);
template double l2_penalty(double, const Network&, const double*, SquareSum<double>&, const KernelTable<double>&,
                           KernelContext&);

}  // namespace lockstep
