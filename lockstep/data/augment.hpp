#pragma once
// Pictures changed at random while training: the same picture differs from epoch to epoch, and never depends on who
// computes it. Every number drawn comes from Philox, keyed by (seed, Purpose::augment, epoch, sample):
//   element 0 flip, 1 and 2 shift down and right, 3 rotation, 4 brightness, 5 contrast, 6 and 7 centre of the cut-out,
//   8 the partner of a mixture, from 9 on its shares
// The order of changes: flip, rotate, shift (one mapping of places), then contrast, brightness, cut-out, mixture.
//
// Mixup (Zhang et al. 2018): sample s becomes share * s + (1 - share) * partner, inputs and targets alike, each picture
// changed as above first. The partner is any sample, and share = max(b, 1 - b) with b from Beta(mixup, mixup): the own
// sample has the larger share, which changes nothing, because each of two samples may be the other's partner.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lockstep/core/fields.hpp"
#include "lockstep/core/philox.hpp"
#include "lockstep/data/dataset.hpp"
#include "lockstep/data/scaling.hpp"

namespace lockstep {

/// data.augment. Zeros and false: nothing is changed.
struct AugmentConfig {
  bool flip = false;        // left and right, of every second picture
  std::int64_t shift = 0;   // pixels
  double rotate = 0;        // degrees
  double brightness = 0;    // fractions of white
  double contrast = 0;      // fractions
  std::int64_t cutout = 0;  // pixels
  double mixup = 0;         // of the Beta distribution

  static constexpr auto fields() {
    using A = AugmentConfig;
    return std::tuple{
        field("flip", &A::flip, "mirror every second picture left to right"),
        field("shift", &A::shift, IntRange{0, 1024},
              "largest shift in pixels, up, down, left or right; the space becomes black, as in a crop from a picture "
              "with a black border"),
        field("rotate", &A::rotate, NumberRange{0, 180},
              "largest rotation in degrees, to either side, interpolated bilinearly"),
        field("brightness", &A::brightness, NumberRange{0, 1}, "add up to this share of white, or take it away"),
        field("contrast", &A::contrast, NumberRange{0, 1}, "stretch about the picture's mean by up to this share"),
        field("cutout", &A::cutout, IntRange{0, 1024}, "side of a black square at a random place, in pixels"),
        field("mixup", &A::mixup, NumberRange{0, 1},
              "mix every sample with another one, inputs and targets: the share is drawn from Beta(mixup, mixup); "
              "0.2 is usual")};
  }
  /// What only pictures can take.
  bool changes_pictures() const {
    AugmentConfig alone;
    alone.mixup = mixup;
    return *this != alone;
  }
  bool any() const { return *this != AugmentConfig{}; }
  friend bool operator==(const AugmentConfig&, const AugmentConfig&) = default;
};

/// How inputs of the network relate to raw numbers: black is raw 0, white raw `white`.
struct AugmentRange {
  Scaling scaling{};
  double white = 255;
};

/// Who a sample is mixed with, and its own share, from 0.5 to 1. A pure function of (alpha, samples, key).
struct Mixture {
  std::int64_t partner = 0;
  double share = 1;
};
Mixture draw_mixture(double alpha, std::int64_t samples, const RandomKey& key);

/// `base` as it is, and changed at random in every epoch of training (for_epoch).
class AugmentedDataset final : public Dataset {
 public:
  /// Error(usage) when the samples are no images [channels,height,width] (or [height,width]), where they must be, and
  /// when sequences of different lengths, or samples without targets, are to be mixed.
  AugmentedDataset(std::shared_ptr<const Dataset> base, const AugmentConfig& config, AugmentRange range,
                   std::uint64_t seed);

  std::int64_t size() const override { return base_->size(); }
  Shape sample_shape() const override { return base_->sample_shape(); }
  std::int64_t classes() const override { return base_->classes(); }
  std::int64_t target_size() const override { return base_->target_size(); }
  std::int64_t step_classes() const override { return base_->step_classes(); }
  void gather(std::span<const std::int64_t> ids, Matrix<float> x) const override { gather_as(ids, x); }
  void gather(std::span<const std::int64_t> ids, Matrix<double> x) const override { gather_as(ids, x); }
  void labels(std::span<const std::int64_t> ids, std::span<std::int32_t> out) const override {
    base_->labels(ids, out);
  }
  void targets(std::span<const std::int64_t> ids, Matrix<float> t) const override { targets_as(ids, t); }
  void targets(std::span<const std::int64_t> ids, Matrix<double> t) const override { targets_as(ids, t); }
  bool has_soft_targets() const override { return mixes() && base_->classes() > 0; }
  bool has_weights() const override { return base_->has_weights(); }
  void weights(std::span<const std::int64_t> ids, std::span<double> out) const override { base_->weights(ids, out); }
  void hash_features(std::span<const std::int64_t> ids, Sha256& sha) const override { base_->hash_features(ids, sha); }
  bool reads_ahead() const override { return base_->reads_ahead(); }
  void prefetch(std::span<const std::int64_t> ids) const override;
  std::string describe() const override;
  std::shared_ptr<const Dataset> for_epoch(std::int64_t epoch) const override;

 private:
  template <class T>
  void gather_as(std::span<const std::int64_t> ids, Matrix<T> x) const;

  template <class T>
  void change(std::span<const std::int64_t> ids, Matrix<T> x) const;
  template <class T>
  void targets_as(std::span<const std::int64_t> ids, Matrix<T> t) const;
  template <class T>
  void plain_targets(std::span<const std::int64_t> ids, Matrix<T> t) const;
  template <class T>
  void mix(const std::vector<Mixture>& mixtures, Matrix<T> own, const std::vector<T>& others) const;
  bool mixes() const { return epoch_ >= 0 && config_.mixup > 0; }
  RandomKey key_of(std::int64_t id) const;
  std::vector<Mixture> mixtures_of(std::span<const std::int64_t> ids) const;

  std::shared_ptr<const Dataset> base_;
  AugmentConfig config_;
  AugmentRange range_;
  std::uint64_t seed_;
  ImageShape image_;
  std::int64_t epoch_ = -1;  // below 0: unchanged pictures
};

}  // namespace lockstep
