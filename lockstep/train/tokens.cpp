#include "lockstep/train/tokens.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "lockstep/core/aligned.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"

namespace lockstep {

namespace {

constexpr std::size_t kTokenGroup = 256;  // samples looked at together

}  // namespace

void check_tokens(const Network& network, const Dataset& data, std::span<const std::int64_t> ids) {
  if (network.layers().empty()) return;
  const auto* embedding = std::get_if<Embedding>(&network.layers().front().kind);
  if (embedding == nullptr || (data.step_classes() > 0 && data.step_classes() <= embedding->vocabulary)) return;
  const auto fail = [&](const std::string& what) {
    throw Error(ErrorCode::usage, fmt::format("layer 0 (embedding): {}, and its vocabulary has {}", what,
                                              count_of(embedding->vocabulary, "token")));
  };
  if (data.step_classes() > 0) fail(fmt::format("the text has {} tokens", data.step_classes()));
  AlignedBuffer<double> block(data.features() * static_cast<std::int64_t>(std::min(kTokenGroup, ids.size())));
  for (std::size_t first = 0; first < ids.size(); first += kTokenGroup) {
    const auto group = ids.subspan(first, std::min(kTokenGroup, ids.size() - first));
    const Matrix<double> x = dense_matrix(block.data(), data.features(), std::ssize(group));
    data.gather(group, x);
    for (std::int64_t j = 0; j < x.cols; ++j)
      for (std::int64_t t = 0; t < x.rows; ++t)
        if (!(x(t, j) >= 0 && x(t, j) < double(embedding->vocabulary)) || x(t, j) != std::floor(x(t, j)))
          fail(fmt::format("step {} of sample {} is {}", t, group[static_cast<std::size_t>(j)], x(t, j)));
  }
}

}  // namespace lockstep
