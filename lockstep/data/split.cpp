
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lockstep/core/error.hpp"
#include "lockstep/core/random.hpp"
#include "lockstep/data/opened_source.hpp"
#include "lockstep/data/text_source.hpp"

namespace lockstep {
namespace {

using Ids = std::vector<std::int64_t>;

constexpr std::int64_t kRare = 5;        // fewer samples to learn a class from are worth a word
constexpr std::size_t kMostClasses = 5;  // named in one line
constexpr double kRounding = 1e-9;       // 0.7 + 0.2 + 0.1 is 1

constexpr std::array<const char*, 3> kParts = {"train", "validation", "test"};
using Sizes = std::array<std::int64_t, 3>;

/// The samples of a part, and what its fraction leaves over.
struct Share {
  std::int64_t size = 0;
  double rest = -1;  // -1: not a fraction
};

Share share_of(const DataConfig& config, double wanted, std::int64_t samples, const char* part) {
  require_setting(wanted >= 0 && (wanted < 1 || std::floor(wanted) == wanted), config, "split",
                  fmt::format("split.{} = {}, expected a count or a fraction below 1", part, wanted));
  if (wanted == 0) return {};
  if (wanted >= 1) {
    require_setting(wanted <= static_cast<double>(samples), config, "split",
                    fmt::format("split.{} = {}, but there are {} samples", part, wanted, samples));
    return {static_cast<std::int64_t>(wanted), -1};
  }
  const double exact = wanted * static_cast<double>(samples);
  const double whole = std::floor(exact + kRounding);
  return {static_cast<std::int64_t>(whole), std::max(0.0, exact - whole)};
}

/// Fractions that add up to 1 use every sample: what rounding down left over goes to the largest rests, of equal ones
/// to the last.
void use_all(const std::array<double, 3>& wanted, std::array<Share, 3>& shares, std::int64_t samples) {
  double sum = 0;
  for (const double part : wanted) sum += part;
  const bool fractions = std::all_of(wanted.begin(), wanted.end(), [](double part) { return part < 1; });
  if (!fractions || std::abs(sum - 1) > kRounding) return;
  std::int64_t left = samples;
  for (const Share& share : shares) left -= share.size;
  for (; left > 0; --left) {
    auto* most = &shares[0];
    for (Share& share : shares)
      if (share.rest >= most->rest) most = &share;
    ++most->size;
    most->rest = 0;
  }
}

Sizes sizes_of(const DataConfig& config, std::int64_t samples) {
  const std::array<double, 3> wanted = {config.split.train, config.split.validation, config.split.test};
  std::array<Share, 3> shares;
  for (std::size_t i = 3; i-- > 0;) shares[i] = share_of(config, wanted[i], samples, kParts[i]);
  use_all(wanted, shares, samples);
  if (wanted[0] == 0) shares[0].size = samples - shares[1].size - shares[2].size;
  for (std::size_t i = 0; i < 3; ++i)
    require_setting(wanted[i] == 0 || shares[i].size > 0, config, "split",
                    fmt::format("split.{} = {} of {} samples is not one sample", kParts[i], wanted[i], samples));
  const Sizes sizes = {shares[0].size, shares[1].size, shares[2].size};
  require_setting(sizes[0] > 0 && sizes[0] + sizes[1] + sizes[2] <= samples, config, "split",
                  fmt::format("split of {} samples into train {}, validation {}, test {} is impossible", samples,
                              sizes[0], sizes[1], sizes[2]));
  return sizes;
}

std::vector<std::int32_t> labels_of(const Dataset& data, const Ids& ids) {
  std::vector<std::int32_t> labels(ids.size());
  data.labels(ids, labels);
  return labels;
}

Ids counts_of(const std::vector<std::int32_t>& labels, std::int64_t classes) {
  Ids counts(static_cast<std::size_t>(classes), 0);
  for (const std::int32_t label : labels) ++counts[static_cast<std::size_t>(label)];
  return counts;
}

/// The order in which every stretch has its share of every class: positions of `labels`.
Ids stratified(const std::vector<std::int32_t>& labels, std::int64_t classes) {
  const Ids counts = counts_of(labels, classes);
  Ids seen(counts.size(), 0), rank(labels.size()), order = ids_from(0, std::ssize(labels));
  for (std::size_t i = 0; i < labels.size(); ++i) rank[i] = seen[static_cast<std::size_t>(labels[i])]++;
  const auto before = [&](std::int64_t a, std::int64_t b) {
    const auto at = static_cast<std::size_t>(a), bt = static_cast<std::size_t>(b);
    // (2 r + 1) / (2 n) as fractions: exact, and the same on every machine.
    const std::int64_t left = (2 * rank[at] + 1) * counts[static_cast<std::size_t>(labels[bt])];
    const std::int64_t right = (2 * rank[bt] + 1) * counts[static_cast<std::size_t>(labels[at])];
    return left != right ? left < right : a < b;
  };
  std::sort(order.begin(), order.end(), before);
  return order;
}

std::string class_list(const Ids& classes) {
  const auto shown = std::span(classes).first(std::min(kMostClasses, classes.size()));
  const std::string more =
      classes.size() > kMostClasses ? fmt::format(" and {} more", classes.size() - kMostClasses) : "";
  return fmt::format("{} {}{}", classes.size() == 1 ? "class" : "classes", fmt::join(shown, ", "), more);
}

/// Classes of `all` that have from `from` to `below` - 1 samples in `part`.
Ids classes_with(const Ids& all, const Ids& part, std::int64_t from, std::int64_t below) {
  Ids found;
  for (std::size_t k = 0; k < all.size(); ++k)
    if (all[k] > 0 && part[k] >= from && part[k] < below) found.push_back(static_cast<std::int64_t>(k));
  return found;
}

/// What data.limit leaves of the classes: a file may be sorted by them.
void check_limit(const Dataset& data, std::int64_t samples, SplitParts& parts) {
  const auto count = [&](std::int64_t last) { return counts_of(labels_of(data, ids_from(0, last)), data.classes()); };
  if (const Ids absent = classes_with(count(data.size()), count(samples), 0, 1); !absent.empty())
    parts.notes.push_back(
        fmt::format("data.limit = {0}: the first {0} of {1} samples have none of {2}; where a file is sorted "
                    "by class, data.split takes samples of all classes and data.limit does not",
                    samples, data.size(), class_list(absent)));
}

void check_classes(const DataConfig& config, const Dataset& data, std::int64_t samples, SplitParts& parts) {
  const auto count = [&](const Ids& ids) { return counts_of(labels_of(data, ids), data.classes()); };
  const Ids all = count(ids_from(0, samples)), train = count(parts.train);
  const auto present = static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [](auto n) { return n > 0; }));
  if (const Ids absent = classes_with(all, train, 0, 1); !absent.empty()) {
    const std::string what = fmt::format("the training part of the split has no sample of {}", class_list(absent));
    // A few samples by their number, as a measurement takes them, need not have all classes.
    const bool few = config.split.train >= 1 && parts.train.size() < present;
    if (!is_named_source(config.source) && !few) {
      const bool mixed = config.shuffles() && config.stratifies();
      throw Error(ErrorCode::data,
                  fmt::format("{}: {}; {}", setting_place(config, "split"), what,
                              mixed ? "make it larger" : "leave out data.shuffle = false and data.stratify = false"));
    }
    parts.notes.push_back(what);
  }
  if (const Ids rare = classes_with(all, train, 1, kRare); !rare.empty())
    parts.notes.push_back(
        fmt::format("the training part of the split has fewer than {} samples of {}", kRare, class_list(rare)));
  for (const auto& [name, ids] : {std::pair{"validation", &parts.validation}, {"test", &parts.test}}) {
    if (ids->empty()) continue;
    if (const Ids absent = classes_with(all, count(*ids), 0, 1); !absent.empty())
      parts.notes.push_back(fmt::format("the {} part of the split has no sample of {}", name, class_list(absent)));
  }
}

}  // namespace

bool DataConfig::shuffles() const { return shuffle.value_or(split.any() && !is_named_source(source)); }

bool DataConfig::stratifies() const {
  const bool labelled =
      !regression && !is_text_source(*this) && label_column != "none" && y_key != "none" && labels != "none";
  return stratify.value_or(split.any() && !is_named_source(source) && shuffles() && labelled);
}

SplitParts divide(const DataConfig& config, const Dataset& data, std::int64_t samples, DataUse use) {
  const Sizes sizes = sizes_of(config, samples);
  const Ids order = config.shuffles() ? permutation(config.seed, Purpose::split, 0, samples) : ids_from(0, samples);
  require_setting(data.classes() > 0 || !config.stratify.value_or(false), config, "stratify",
                  "stratify needs class labels, and the data have none");
  const bool by_class = config.stratifies() && data.classes() > 0;
  Ids places = by_class ? stratified(labels_of(data, order), data.classes()) : ids_from(0, samples);

  SplitParts parts;
  auto next = places.begin();
  for (const auto& [ids, size] :
       {std::pair{&parts.train, sizes[0]}, {&parts.validation, sizes[1]}, {&parts.test, sizes[2]}}) {
    if (by_class) std::sort(next, next + size);
    for (const auto end = next + size; next != end; ++next) ids->push_back(order[static_cast<std::size_t>(*next)]);
  }
  if (use != DataUse::training) return parts;
  if (data.classes() > 0 && samples < data.size() && !is_named_source(config.source)) check_limit(data, samples, parts);
  if (!config.split.any()) return parts;
  if (const std::int64_t unused = places.end() - next; unused > 0)
    parts.notes.push_back(fmt::format("{} of {} samples are in no part of the split", unused, samples));
  if (data.classes() > 0) check_classes(config, data, samples, parts);
  return parts;
}

}  // namespace lockstep
