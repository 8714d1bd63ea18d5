#include "lockstep/run/verbose.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "lockstep/parallel/team.hpp"

namespace lockstep {

namespace {

using Named = std::pair<std::string_view, std::string_view>;  // operation, kernel

template <class T>
std::vector<Named> kernels_of(const KernelTable<T>& t) {
  std::vector<Named> all = {
      {"linear_forward", t.linear_forward.name},
      {"linear_backward_data", t.linear_backward_data.name},
      {"linear_backward_weights", t.linear_backward_weights.name},
      {"conv2d_forward", t.conv2d_forward.name},
      {"conv2d_backward_data", t.conv2d_backward_data.name},
      {"conv2d_backward_weights", t.conv2d_backward_weights.name},
      {"max_pool2d_forward", t.max_pool2d_forward.name},
      {"max_pool2d_backward", t.max_pool2d_backward.name},
      {"avg_pool2d_forward", t.avg_pool2d_forward.name},
      {"avg_pool2d_backward", t.avg_pool2d_backward.name},
      {"activation_forward", t.activation_forward.name},
      {"activation_backward", t.activation_backward.name},
      {"softmax_forward", t.softmax_forward.name},
      {"softmax_backward", t.softmax_backward.name},
      {"batch_norm_forward", t.batch_norm_forward.name},
      {"batch_norm_backward", t.batch_norm_backward.name},
      {"batch_norm_inference", t.batch_norm_inference.name},
      {"dropout_apply", t.dropout_apply.name},
      {"add", t.add.name},
      {"loss_gradient", t.loss_gradient.name},
      {"add_l2", t.add_l2.name},
      {"scale_gradient", t.scale_gradient.name},
      {"sgd_step", t.sgd_step.name},
      {"adam_step", t.adam_step.name},
      {"rmsprop_step", t.rmsprop_step.name},
      {"square_sums", t.square_sums.name},
      {"running_update", t.running_update.name},
      {"score_slots", t.score_slots.name},
  };
  static_assert(sizeof(KernelTable<T>) == sizeof(std::string_view) + 28 * sizeof(t.add),
                "the table has grown: name the new kernel above");
  return all;
}

std::vector<Named> kernels_of(Backend backend, Precision precision) {
  return precision == Precision::float32 ? kernels_of(make_table<float>(backend))
                                         : kernels_of(make_table<double>(backend));
}

}  // namespace

std::vector<std::string> kernel_lines(Backend backend, Precision precision) {
  const std::vector<Named> kernels = kernels_of(backend, precision);
  std::vector<std::string_view> names;
  for (const auto& [operation, name] : kernels)
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  if (names.size() == 1) return {fmt::format("kernels {}: all operations", names.front())};
  std::vector<std::string> lines;
  for (const std::string_view name : names) {
    std::vector<std::string_view> served;
    for (const auto& [operation, kernel] : kernels)
      if (kernel == name) served.push_back(operation);
    lines.push_back(fmt::format("kernels {}: {}", name, fmt::join(served, ", ")));
  }
  return lines;
}

std::optional<std::string> promise_note(Backend backend) {
  if (keeps_the_promise(backend)) return std::nullopt;
  return fmt::format("backend {}: agrees with the others within rounding, not bit for bit",
                     backend_names()[static_cast<std::size_t>(backend)]);
}

std::vector<std::string> verbose_lines(Backend backend, Precision precision, int threads) {
  std::vector<std::string> lines = kernel_lines(backend, precision);
  for (std::string& line : thread_map(threads)) lines.push_back(std::move(line));
  return lines;
}

}  // namespace lockstep
