#include "lockstep/data/augment.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/core/random.hpp"
#include "lockstep/data/samples.hpp"
#include "lockstep/kernels/math/elementary.hpp"

namespace lockstep {
namespace {

/// What happens to one picture.
struct Change {
  bool flip = false;
  std::int64_t down = 0, right = 0;  // pixels
  double sine = 0, cosine = 1;       // of the rotation
  bool turned = false;
  double brightness = 0, contrast = 1;
  std::int64_t cut_y = 0, cut_x = 0;  // the first row and column of the cut-out
};

/// Sine and cosine of an angle in degrees, up to 180 either way: Taylor sums of an eighth of the angle, then the
/// formulas of the double angle three times. The same bits everywhere, which libraries do not promise.
std::pair<double, double> sine_cosine(double degrees) {
  const double a = degrees * (3.14159265358979323846 / 180.0 / 8.0), square = a * a;
  double sine = a * (1 - square / 6 * (1 - square / 20 * (1 - square / 42 * (1 - square / 72 * (1 - square / 110)))));
  double cosine = 1 - square / 2 * (1 - square / 12 * (1 - square / 30 * (1 - square / 56 * (1 - square / 90))));
  for (int i = 0; i < 3; ++i) {
    const double twice = 2 * sine * cosine;
    cosine = 1 - 2 * sine * sine;
    sine = twice;
  }
  return {sine, cosine};
}

/// A whole number from -most to most.
std::int64_t step_of(const RandomKey& key, std::uint64_t element, std::int64_t most) {
  return static_cast<std::int64_t>(uniform(key, element) * static_cast<double>(2 * most + 1)) - most;
}

/// A number in [-most, most).
double share_of(const RandomKey& key, std::uint64_t element, double most) {
  return (2 * uniform(key, element) - 1) * most;
}

Change draw(const AugmentConfig& config, const ImageShape& image, const RandomKey& key) {
  Change change;
  if (config.flip) change.flip = uniform(key, 0) < 0.5;
  if (config.shift > 0) {
    change.down = step_of(key, 1, config.shift);
    change.right = step_of(key, 2, config.shift);
  }
  if (config.rotate > 0) {
    std::tie(change.sine, change.cosine) = sine_cosine(share_of(key, 3, config.rotate));
    change.turned = true;
  }
  if (config.brightness > 0) change.brightness = share_of(key, 4, config.brightness);
  if (config.contrast > 0) change.contrast = 1 + share_of(key, 5, config.contrast);
  if (config.cutout > 0) {
    change.cut_y = static_cast<std::int64_t>(uniform(key, 6) * static_cast<double>(image.height)) - config.cutout / 2;
    change.cut_x = static_cast<std::int64_t>(uniform(key, 7) * static_cast<double>(image.width)) - config.cutout / 2;
  }
  return change;
}

/// One picture, its pixels one after another.
class Picture {
 public:
  Picture(const AugmentConfig& config, const AugmentRange& range, const ImageShape& image)
      : config_(config),
        range_(range),
        image_(image),
        from_(static_cast<std::size_t>(image.elements())),
        to_(static_cast<std::size_t>(image.elements())) {}

  template <class T>
  void change(const Change& how, Matrix<T> x, std::int64_t column) {
    for (std::size_t f = 0; f < from_.size(); ++f)
      from_[f] = static_cast<double>(x(static_cast<std::int64_t>(f), column));
    const std::int64_t plane = image_.height * image_.width;
    for (std::int64_t c = 0; c < image_.channels; ++c) move(how, c * plane);
    if (config_.contrast > 0) stretch(how.contrast);
    if (config_.brightness > 0)
      for (std::size_t f = 0; f < to_.size(); ++f)
        to_[f] += how.brightness * range_.white * range_.scaling.scale(static_cast<std::int64_t>(f));
    if (config_.cutout > 0) cut(how);
    for (std::size_t f = 0; f < to_.size(); ++f) x(static_cast<std::int64_t>(f), column) = static_cast<T>(to_[f]);
  }

 private:
  /// The raw number 0 as an input.
  double black(std::int64_t feature) const { return range_.scaling.offset(feature); }

  /// to(y, x) = from(the place that flip, rotation and shift bring to y, x).
  void move(const Change& how, std::int64_t plane) {
    for (std::int64_t y = 0; y < image_.height; ++y)
      for (std::int64_t x = 0; x < image_.width; ++x) {
        const std::int64_t sy = y - how.down, sx = x - how.right, out = plane + y * image_.width + x;
        to_[static_cast<std::size_t>(out)] = how.turned ? turned(how, plane, sy, sx, out) : at(how, plane, sy, sx, out);
      }
  }

  /// The pixel before rotation, mirrored where the picture is; black outside.
  double at(const Change& how, std::int64_t plane, std::int64_t y, std::int64_t x, std::int64_t out) const {
    if (y < 0 || y >= image_.height || x < 0 || x >= image_.width) return black(out);
    const std::int64_t column = how.flip ? image_.width - 1 - x : x;
    return from_[static_cast<std::size_t>(plane + y * image_.width + column)];
  }

  /// Between the four pixels around the place that the rotation about the middle brings to y, x.
  double turned(const Change& how, std::int64_t plane, std::int64_t y, std::int64_t x, std::int64_t out) const {
    const double middle_y = static_cast<double>(image_.height - 1) / 2;
    const double middle_x = static_cast<double>(image_.width - 1) / 2;
    const double dy = static_cast<double>(y) - middle_y, dx = static_cast<double>(x) - middle_x;
    const double py = middle_y + how.cosine * dy - how.sine * dx, px = middle_x + how.sine * dy + how.cosine * dx;
    const double fy = std::floor(py), fx = std::floor(px), wy = py - fy, wx = px - fx;
    const auto y0 = static_cast<std::int64_t>(fy), x0 = static_cast<std::int64_t>(fx);
    const double upper = (1 - wx) * at(how, plane, y0, x0, out) + wx * at(how, plane, y0, x0 + 1, out);
    const double lower = (1 - wx) * at(how, plane, y0 + 1, x0, out) + wx * at(how, plane, y0 + 1, x0 + 1, out);
    return (1 - wy) * upper + wy * lower;
  }

  /// About the mean: one sum over the features, ascending.
  void stretch(double contrast) {
    double mean = 0;
    for (const double value : to_) mean += value;
    mean /= static_cast<double>(to_.size());
    for (double& value : to_) value = mean + contrast * (value - mean);
  }

  void cut(const Change& how) {
    const std::int64_t last_y = std::min(image_.height, how.cut_y + config_.cutout);
    const std::int64_t last_x = std::min(image_.width, how.cut_x + config_.cutout);
    for (std::int64_t c = 0; c < image_.channels; ++c)
      for (std::int64_t y = std::max<std::int64_t>(0, how.cut_y); y < last_y; ++y)
        for (std::int64_t x = std::max<std::int64_t>(0, how.cut_x); x < last_x; ++x) {
          const std::int64_t f = (c * image_.height + y) * image_.width + x;
          to_[static_cast<std::size_t>(f)] = black(f);
        }
  }

  const AugmentConfig& config_;
  const AugmentRange& range_;
  const ImageShape& image_;
  std::vector<double> from_, to_;
};

}  // namespace

AugmentedDataset::AugmentedDataset(std::shared_ptr<const Dataset> base, const AugmentConfig& config, AugmentRange range,
                                   std::uint64_t seed)
    : base_(std::move(base)),
      config_(config),
      range_(std::move(range)),
      seed_(seed),
      image_(config.changes_pictures() ? image_shape_of(base_->sample_shape(), "data.augment") : ImageShape{}) {
  if (config.mixup == 0) return;
  if (base_->has_lengths())
    throw Error(ErrorCode::usage, "mixup needs samples of one length, and these are sequences of different lengths");
  if (base_->classes() == 0 && base_->target_size() == 0)
    throw Error(ErrorCode::usage, "mixup mixes targets, and these samples have none");
}

Mixture draw_mixture(double alpha, std::int64_t samples, const RandomKey& key) {
  Mixture mixture{.partner = static_cast<std::int64_t>(uniform(key, 8) * static_cast<double>(samples))};
  // Johnk 1964: x = u^(1/alpha) and y = v^(1/alpha) until x + y <= 1; then x / (x + y) has the Beta distribution.
  constexpr std::uint64_t kTries = 1000;  // of which half are taken at alpha = 1, and more below
  for (std::uint64_t i = 0; i < kTries; ++i) {
    const double u = uniform(key, 9 + 2 * i), v = uniform(key, 10 + 2 * i);
    if (u == 0 || v == 0) continue;
    const double x = math::exp(math::log(u) / alpha), y = math::exp(math::log(v) / alpha);
    if (x + y > 1) continue;
    mixture.share = x + y > 0 ? std::max(x, y) / (x + y) : 1;
    break;
  }
  return mixture;
}

RandomKey AugmentedDataset::key_of(std::int64_t id) const {
  return {.seed = seed_,
          .purpose = Purpose::augment,
          .epoch = static_cast<std::uint32_t>(epoch_),
          .sample = static_cast<std::uint64_t>(id)};
}

std::vector<Mixture> AugmentedDataset::mixtures_of(std::span<const std::int64_t> ids) const {
  std::vector<Mixture> mixtures;
  for (const std::int64_t id : ids) mixtures.push_back(draw_mixture(config_.mixup, size(), key_of(id)));
  return mixtures;
}

/// own(f, j) = share * own + (1 - share) * other, in double; `others` is dense.
template <class T>
void AugmentedDataset::mix(const std::vector<Mixture>& mixtures, Matrix<T> own, const std::vector<T>& others) const {
  const T* other = others.data();
  for (std::int64_t f = 0; f < own.rows; ++f)
    for (std::size_t j = 0; j < mixtures.size(); ++j) {
      const double share = mixtures[j].share;
      T& value = own(f, static_cast<std::int64_t>(j));
      value = static_cast<T>(share * static_cast<double>(value) + (1 - share) * static_cast<double>(*other++));
    }
}

namespace {

std::vector<std::int64_t> partners_of(const std::vector<Mixture>& mixtures) {
  std::vector<std::int64_t> partners;
  for (const Mixture& mixture : mixtures) partners.push_back(mixture.partner);
  return partners;
}

}  // namespace

template <class T>
void AugmentedDataset::change(std::span<const std::int64_t> ids, Matrix<T> x) const {
  base_->gather(ids, x);
  if (epoch_ < 0 || !config_.changes_pictures()) return;
  Picture picture(config_, range_, image_);
  for (std::size_t j = 0; j < ids.size(); ++j)
    picture.change(draw(config_, image_, key_of(ids[j])), x, static_cast<std::int64_t>(j));
}

template <class T>
void AugmentedDataset::gather_as(std::span<const std::int64_t> ids, Matrix<T> x) const {
  change(ids, x);
  if (!mixes()) return;
  const std::vector<Mixture> mixtures = mixtures_of(ids);
  std::vector<T> others(static_cast<std::size_t>(x.rows) * ids.size());
  change(partners_of(mixtures), dense_matrix(others.data(), x.rows, static_cast<std::int64_t>(ids.size())));
  mix(mixtures, x, others);
}

/// The numbers that stand for a target where the loss takes numbers: of a label, its entries of 0 and 1, or the label
/// itself for a single output.
template <class T>
void AugmentedDataset::plain_targets(std::span<const std::int64_t> ids, Matrix<T> t) const {
  if (base_->classes() == 0) return base_->targets(ids, t);
  std::vector<std::int32_t> labels(ids.size());
  base_->labels(ids, labels);
  for (std::int64_t k = 0; k < t.rows; ++k)
    for (std::size_t j = 0; j < ids.size(); ++j)
      t(k, static_cast<std::int64_t>(j)) = t.rows == 1 ? T(labels[j]) : T(labels[j] == k ? 1 : 0);
}

template <class T>
void AugmentedDataset::targets_as(std::span<const std::int64_t> ids, Matrix<T> t) const {
  if (!mixes()) return base_->targets(ids, t);
  const std::vector<Mixture> mixtures = mixtures_of(ids);
  std::vector<T> others(static_cast<std::size_t>(t.rows) * ids.size());
  plain_targets(ids, t);
  plain_targets(std::span<const std::int64_t>(partners_of(mixtures)),
                dense_matrix(others.data(), t.rows, static_cast<std::int64_t>(ids.size())));
  mix(mixtures, t, others);
}

template void AugmentedDataset::gather_as(std::span<const std::int64_t>, Matrix<float>) const;
template void AugmentedDataset::gather_as(std::span<const std::int64_t>, Matrix<double>) const;

/// A mixture gathers all own samples first, then all partners.
void AugmentedDataset::prefetch(std::span<const std::int64_t> ids) const {
  std::vector<std::int64_t> all(ids.begin(), ids.end());
  if (mixes())
    for (const Mixture& mixture : mixtures_of(ids)) all.push_back(mixture.partner);
  base_->prefetch(all);
}

std::string AugmentedDataset::describe() const { return fmt::format("{}, augmented", base_->describe()); }

std::shared_ptr<const Dataset> AugmentedDataset::for_epoch(std::int64_t epoch) const {
  auto view = std::make_shared<AugmentedDataset>(*this);
  view->epoch_ = epoch;
  return view;
}

}  // namespace lockstep
