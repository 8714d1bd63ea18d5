#include "lockstep/data/views.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/data/samples.hpp"
#include "lockstep/data/scaling.hpp"

namespace lockstep {
namespace {

// Ids are translated in small groups on the stack: gather is on the hot path and allocates nothing.
constexpr std::size_t kGroup = 256;

}  // namespace

SubsetDataset::SubsetDataset(std::shared_ptr<const Dataset> base, std::vector<std::int64_t> ids)
    : base_(std::move(base)), ids_(std::move(ids)) {
  check_ids(ids_, base_->size());
}

SubsetDataset::SubsetDataset(std::shared_ptr<const Dataset> base, std::int64_t first, std::int64_t count)
    : SubsetDataset(std::move(base), ids_from(first, count)) {}

template <class Use>
void SubsetDataset::translate(std::span<const std::int64_t> ids, const Use& use) const {
  check_ids(ids, size());
  std::array<std::int64_t, kGroup> group{};
  for (std::size_t first = 0; first < ids.size(); first += kGroup) {
    const std::size_t count = std::min(kGroup, ids.size() - first);
    for (std::size_t j = 0; j < count; ++j) group[j] = ids_[static_cast<std::size_t>(ids[first + j])];
    use(std::span<const std::int64_t>(group).first(count), first);
  }
}

void SubsetDataset::prefetch(std::span<const std::int64_t> ids) const {
  std::vector<std::int64_t> all;
  translate(ids, [&](auto group, std::size_t) { all.insert(all.end(), group.begin(), group.end()); });
  base_->prefetch(all);
}

void SubsetDataset::gather(std::span<const std::int64_t> ids, Matrix<float> x) const {
  translate(ids, [&](auto group, std::size_t first) {
    base_->gather(group, columns_from(x, static_cast<std::int64_t>(first)));
  });
}

void SubsetDataset::gather(std::span<const std::int64_t> ids, Matrix<double> x) const {
  translate(ids, [&](auto group, std::size_t first) {
    base_->gather(group, columns_from(x, static_cast<std::int64_t>(first)));
  });
}

void SubsetDataset::lengths(std::span<const std::int64_t> ids, std::span<std::int64_t> out) const {
  translate(ids, [&](auto group, std::size_t first) { base_->lengths(group, out.subspan(first)); });
}

void SubsetDataset::labels(std::span<const std::int64_t> ids, std::span<std::int32_t> out) const {
  translate(ids, [&](auto group, std::size_t first) { base_->labels(group, out.subspan(first)); });
}

void SubsetDataset::targets(std::span<const std::int64_t> ids, Matrix<float> t) const {
  translate(ids, [&](auto group, std::size_t first) {
    base_->targets(group, columns_from(t, static_cast<std::int64_t>(first)));
  });
}

void SubsetDataset::targets(std::span<const std::int64_t> ids, Matrix<double> t) const {
  translate(ids, [&](auto group, std::size_t first) {
    base_->targets(group, columns_from(t, static_cast<std::int64_t>(first)));
  });
}

void SubsetDataset::weights(std::span<const std::int64_t> ids, std::span<double> out) const {
  translate(ids, [&](auto group, std::size_t first) { base_->weights(group, out.subspan(first)); });
}

void SubsetDataset::hash_features(std::span<const std::int64_t> ids, Sha256& sha) const {
  translate(ids, [&](auto group, std::size_t) { base_->hash_features(group, sha); });
}

std::string SubsetDataset::describe() const { return fmt::format("{} of {}", size(), base_->describe()); }

OneHotDataset::OneHotDataset(std::shared_ptr<const Dataset> base) : base_(std::move(base)) {
  if (base_->classes() == 0) throw Error(ErrorCode::usage, "one_hot: the data set has no labels to turn into vectors");
}

template <class T>
void OneHotDataset::one_hot(std::span<const std::int64_t> ids, Matrix<T> t) const {
  std::array<std::int32_t, kGroup> labels{};
  for (std::size_t first = 0; first < ids.size(); first += kGroup) {
    const std::size_t count = std::min(kGroup, ids.size() - first);
    base_->labels(ids.subspan(first, count), std::span(labels).first(count));
    for (std::int64_t k = 0; k < classes(); ++k) {
      for (std::size_t j = 0; j < count; ++j) t(k, static_cast<std::int64_t>(first + j)) = labels[j] == k ? T{1} : T{0};
    }
  }
}

void OneHotDataset::labels(std::span<const std::int64_t> ids, std::span<std::int32_t> out) const {
  base_->labels(ids, out);
}
void OneHotDataset::targets(std::span<const std::int64_t> ids, Matrix<float> t) const { one_hot(ids, t); }
void OneHotDataset::targets(std::span<const std::int64_t> ids, Matrix<double> t) const { one_hot(ids, t); }

std::string OneHotDataset::describe() const { return base_->describe() + ", one-hot targets"; }

}  // namespace lockstep
