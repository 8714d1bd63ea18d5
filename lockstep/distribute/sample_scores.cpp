#include "lockstep/distribute/sample_scores.hpp"

#include <cmath>

#include "lockstep/kernels/math/elementary.hpp"

namespace lockstep {

namespace {

/// The probability of a wrong answer `best`.
template <class T>
double probability(Loss loss, ConstMatrix<T> z, std::int64_t s, std::int64_t best) {
  if (is_of_values(loss)) return 0;
  if (z.rows == 1) return math::sigmoid(std::abs(double(z(0, s))));
  if (!is_of_softmax(loss)) return math::sigmoid(double(z(best, s)));
  double sum = 0;
  for (std::int64_t k = 0; k < z.rows; ++k) sum += math::exp(double(z(k, s)) - double(z(best, s)));
  return 1 / sum;
}

template <class T>
void score_label(Loss loss, ConstMatrix<T> z, std::int64_t s, std::int64_t label, std::size_t entry,
                 SampleScores& scores) {
  if (z.rows == 1) {
    const T middle = is_of_values(loss) ? T(0.5) : T(0);
    scores.answer[entry] = z(0, s) >= middle ? 1 : 0;
    scores.place[entry] = scores.answer[entry] == label ? 0 : 1;
    scores.margin[entry] = double(z(0, s));
    const bool wrong = scores.place[entry] != 0;
    scores.gap[entry] = wrong ? std::abs(double(z(0, s)) - double(middle)) : 0;
    scores.sure[entry] = wrong ? probability(loss, z, s, 0) : 0;
    return;
  }
  std::int64_t best = 0, before = 0;
  for (std::int64_t k = 0; k < z.rows; ++k) {
    if (z(k, s) > z(best, s)) best = k;
    if (z(k, s) > z(label, s) || (z(k, s) == z(label, s) && k < label)) ++before;
  }
  scores.answer[entry] = best;
  scores.place[entry] = before;
  scores.margin[entry] = double(z(1, s)) - double(z(0, s));
  scores.gap[entry] = double(z(best, s)) - double(z(label, s));
  scores.sure[entry] = best != label ? probability(loss, z, s, best) : 0;
}

}  // namespace

void SampleScores::resize(std::int64_t samples, bool labels) {
  const auto with_labels = static_cast<std::size_t>(labels ? samples : 0);
  const auto with_numbers = static_cast<std::size_t>(labels ? 0 : samples);
  answer.resize(with_labels);
  place.resize(with_labels);
  margin.resize(with_labels);
  gap.resize(with_labels);
  sure.resize(with_labels);
  absolute.resize(with_numbers);
  square.resize(with_numbers);
  value.resize(with_numbers);
}

template <class T>
void score_samples(Loss loss, ConstMatrix<T> z, const LossTargets<T>& targets, std::int64_t at, SampleScores& scores) {
  for (std::int64_t s = 0; s < z.cols; ++s) {
    const auto entry = static_cast<std::size_t>(at + s);
    if (targets.labels != nullptr) {
      score_label(loss, z, s, targets.labels[s], entry, scores);
      continue;
    }
    double absolute = 0, square = 0;
    for (std::int64_t k = 0; k < z.rows; ++k) {
      const T y = loss == Loss::binary_cross_entropy ? math::sigmoid(z(k, s)) : z(k, s);
      if (k == 0) scores.value[entry] = double(y);
      const double error = double(y) - double(targets.values(k, s));
      absolute += std::abs(error);
      square = std::fma(error, error, square);
    }
    scores.absolute[entry] = absolute;
    scores.square[entry] = square;
  }
}
template void score_samples(Loss, ConstMatrix<float>, const LossTargets<float>&, std::int64_t, SampleScores&);
template void score_samples(Loss, ConstMatrix<double>, const LossTargets<double>&, std::int64_t, SampleScores&);

}  // namespace lockstep
