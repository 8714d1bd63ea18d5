// Attention: a vector of samples of one head at a time. The features of a step lie far apart, so a head's queries, keys
// and values are first copied side by side; four or eight sums of a block go together and share one of their loads.
// Limit: the second level of the cache, whose loads feed the products.

#include "lockstep/kernels/attention.hpp"

#include "lockstep/kernels/simd/ops.hpp"

namespace lockstep::LOCKSTEP_SIMD {

namespace {

constexpr std::int64_t kBlock = 8;

/// Some rows of vectors: element (row, k) is the vector at (row * step + k) * kWidth.
template <class T>
struct StepRows {
  T* data;
  std::int64_t step;
  LOCKSTEP_INLINE T* at(std::int64_t row, std::int64_t k) const { return data + (row * step + k) * Vec<T>::kWidth; }
};

/// tile(t, d) = feature `first` + d at step t, for the vector at column c.
template <class T, class End>
LOCKSTEP_INLINE void gather(const AttentionShape& shape, ConstMatrix<T> from, std::int64_t first, std::int64_t c,
                            const End& end, StepRows<T> tile) {
  for (std::int64_t d = 0; d < shape.head; ++d)
    for (std::int64_t t = 0; t < shape.steps; ++t)
      store(tile.at(t, d), load(from.row((first + d) * shape.steps + t) + c, end));
}

template <class T, class End>
LOCKSTEP_INLINE void scatter(const AttentionShape& shape, StepRows<T> tile, Matrix<T> to, std::int64_t first,
                             std::int64_t c, const End& end) {
  for (std::int64_t d = 0; d < shape.head; ++d)
    for (std::int64_t t = 0; t < shape.steps; ++t)
      store(to.row((first + d) * shape.steps + t) + c, load(tile.at(t, d)), end);
}

/// kCount sums: sum[b] = chain over k of fma(a(k), x(k, b)) for k from begin to end.
template <class T, int kCount, class A, class X>
LOCKSTEP_INLINE void chains(std::int64_t begin, std::int64_t end, const A& a, const X& x, Vec<T> (&sums)[kCount]) {
  for (int b = 0; b < kCount; ++b) sums[b] = zero<T>();
  for (std::int64_t k = begin; k < end; ++k) {
    const Vec<T> factor = a(k);
    for (int b = 0; b < kCount; ++b) sums[b] = fma(factor, x(k, b), sums[b]);
  }
}

/// result(i, j) = chain over d of fma(a(i, d), b(j, d)), for all pairs of the shape.
template <class T>
LOCKSTEP_NOINLINE void dots(const AttentionShape& shape, StepRows<T> a, StepRows<T> b, StepRows<T> result) {
  for (std::int64_t first = 0; first < shape.steps; first += kBlock)
    for (std::int64_t i = shape.first_query(first); i < shape.steps; ++i) {
      const std::int64_t last = least(first + kBlock, shape.keys(i));
      const auto own = [&](std::int64_t d) LOCKSTEP_INLINE_LAMBDA { return load(a.at(i, d)); };
      if (last - first == kBlock) {
        Vec<T> sums[kBlock];
        chains<T>(
            0, shape.head, own, [&](std::int64_t d, int k) LOCKSTEP_INLINE_LAMBDA { return load(b.at(first + k, d)); },
            sums);
        for (int k = 0; k < kBlock; ++k) store(result.at(i, first + k), sums[k]);
        continue;
      }
      for (std::int64_t j = first; j < last; ++j) {
        Vec<T> sums[1];
        chains<T>(
            0, shape.head, own, [&](std::int64_t d, int) LOCKSTEP_INLINE_LAMBDA { return load(b.at(j, d)); }, sums);
        store(result.at(i, j), sums[0]);
      }
    }
}

/// result(r, d) = chain over k of fma(factor(r, k), x(k, d)) for k in range(r), in blocks of features.
template <class T, class Factor, class Range>
LOCKSTEP_INLINE void weighted(const AttentionShape& shape, const Factor& factor, const Range& range, StepRows<T> x,
                              StepRows<T> result) {
  for (std::int64_t first = 0; first < shape.head; first += kBlock)
    for (std::int64_t r = 0; r < shape.steps; ++r) {
      const std::int64_t begin = range(r, 0), end = range(r, 1);
      const auto own = [&](std::int64_t k) LOCKSTEP_INLINE_LAMBDA { return factor(r, k); };
      if (shape.head - first >= kBlock) {
        Vec<T> sums[kBlock];
        chains<T>(
            begin, end, own, [&](std::int64_t k, int d) LOCKSTEP_INLINE_LAMBDA { return load(x.at(k, first + d)); },
            sums);
        for (int d = 0; d < kBlock; ++d) store(result.at(r, first + d), sums[d]);
        continue;
      }
      for (std::int64_t d = first; d < shape.head; ++d) {
        Vec<T> sums[1];
        chains<T>(
            begin, end, own, [&](std::int64_t k, int) LOCKSTEP_INLINE_LAMBDA { return load(x.at(k, d)); }, sums);
        store(result.at(r, d), sums[0]);
      }
    }
}

/// Sums over the keys of a query.
template <class T>
LOCKSTEP_NOINLINE void over_keys(const AttentionShape& shape, StepRows<T> p, StepRows<T> x, StepRows<T> result) {
  weighted(
      shape, [&](std::int64_t i, std::int64_t j) LOCKSTEP_INLINE_LAMBDA { return load(p.at(i, j)); },
      [&](std::int64_t i, int end) { return end == 0 ? 0 : shape.keys(i); }, x, result);
}

/// Sums over the queries of a key.
template <class T>
LOCKSTEP_NOINLINE void over_queries(const AttentionShape& shape, StepRows<T> p, StepRows<T> x, StepRows<T> result) {
  weighted(
      shape, [&](std::int64_t j, std::int64_t i) LOCKSTEP_INLINE_LAMBDA { return load(p.at(i, j)); },
      [&](std::int64_t j, int end) { return end == 0 ? shape.first_query(j) : shape.steps; }, x, result);
}

/// The lengths of a vector of samples; those that are not there have all steps.
template <class T>
LOCKSTEP_INLINE Vec<T> lengths_at(const AttentionForward<T>& a, std::int64_t c) {
  Vec<T> lengths = broadcast(T(a.shape.steps));
  if (a.lengths != nullptr)
    for (std::int64_t l = 0; l < Vec<T>::kWidth && c + l < a.y.cols; ++l) lengths.v[l] = T(a.lengths[c + l]);
  return lengths;
}

/// From the products of query i to its probabilities.
template <class T>
LOCKSTEP_NOINLINE void normalise(const AttentionForward<T>& a, std::int64_t i, Vec<T> lengths, StepRows<T> p) {
  const std::int64_t keys = a.shape.keys(i);
  const Vec<T> scale = broadcast(a.scale);
  Vec<T> largest = load(p.at(i, 0)) * scale, sum = zero<T>();
  for (std::int64_t j = 0; j < keys; ++j) {
    const Vec<T> s = load(p.at(i, j)) * scale;
    store(p.at(i, j), s);
    largest = select((broadcast(T(j)) < lengths) & (s > largest), s, largest);
  }
  const auto query = broadcast(T(i)) < lengths;
  for (std::int64_t j = 0; j < keys; ++j) {
    const Vec<T> e = math::exp(load(p.at(i, j)) - largest);
    const Vec<T> own = select((broadcast(T(j)) < lengths) & query, e, zero<T>());
    store(p.at(i, j), own);
    sum = sum + own;
  }
  for (std::int64_t j = 0; j < keys; ++j) store(p.at(i, j), select(query, load(p.at(i, j)) / sum, zero<T>()));
}

}  // namespace

template <class T>
void attention_forward(const AttentionForward<T>& a, KernelContext& context) {
  const AttentionShape& shape = a.shape;
  const std::int64_t steps = shape.steps, head = shape.head, width = shape.width(), size = steps * head;
  T* const space = simd_scratch_of<T>(context, (4 * size + steps * steps) * Vec<T>::kWidth);
  const auto tile = [&](std::int64_t k) { return StepRows<T>{space + k * size * Vec<T>::kWidth, head}; };
  const StepRows<T> p{space + 4 * size * Vec<T>::kWidth, steps};
  const bool kept = a.p.rows > steps * steps || shape.heads == 1;
  for (std::int64_t h = 0; h < shape.heads; ++h)
    for_vectors<T>(0, a.y.cols, [&](std::int64_t c, const auto& end) LOCKSTEP_INLINE_LAMBDA {
      for (std::int64_t part = 0; part < 3; ++part) gather(shape, a.qkv, part * width + h * head, c, end, tile(part));
      dots(shape, tile(0), tile(1), p);
      const Vec<T> lengths = lengths_at(a, c);
      for (std::int64_t i = 0; i < steps; ++i) normalise(a, i, lengths, p);
      over_keys(shape, p, tile(2), tile(3));
      scatter(shape, tile(3), a.y, h * head, c, end);
      if (!kept) return;
      for (std::int64_t i = 0; i < steps; ++i)
        for (std::int64_t j = 0; j < shape.keys(i); ++j)
          store(a.p.row((h * steps + i) * steps + j) + c, load(p.at(i, j)), end);
    });
}

template <class T>
void attention_backward(const AttentionBackward<T>& a, KernelContext& context) {
  const AttentionShape& shape = a.shape;
  const std::int64_t steps = shape.steps, head = shape.head, width = shape.width(), size = steps * head;
  T* const space = simd_scratch_of<T>(context, (5 * size + 2 * steps * steps) * Vec<T>::kWidth);
  const auto tile = [&](std::int64_t k) { return StepRows<T>{space + k * size * Vec<T>::kWidth, head}; };
  const StepRows<T> q = tile(0), k = tile(1), v = tile(2), dy = tile(3), result = tile(4);
  const StepRows<T> p{space + 5 * size * Vec<T>::kWidth, steps}, ds{p.data + steps * steps * Vec<T>::kWidth, steps};
  const Vec<T> scale = broadcast(a.scale);
  for (std::int64_t h = 0; h < shape.heads; ++h)
    for_vectors<T>(0, a.dy.cols, [&](std::int64_t c, const auto& end) LOCKSTEP_INLINE_LAMBDA {
      for (std::int64_t part = 0; part < 3; ++part) gather(shape, a.qkv, part * width + h * head, c, end, tile(part));
      gather(shape, ConstMatrix<T>(a.dy), h * head, c, end, dy);
      for (std::int64_t i = 0; i < steps; ++i)
        for (std::int64_t j = 0; j < shape.keys(i); ++j)
          store(p.at(i, j), load(a.p.row((h * steps + i) * steps + j) + c, end));
      dots(shape, dy, v, ds);
      for (std::int64_t i = 0; i < steps; ++i) {
        Vec<T> total = zero<T>();
        for (std::int64_t j = 0; j < shape.keys(i); ++j) total = fma(load(p.at(i, j)), load(ds.at(i, j)), total);
        for (std::int64_t j = 0; j < shape.keys(i); ++j)
          store(ds.at(i, j), (load(p.at(i, j)) * (load(ds.at(i, j)) - total)) * scale);
      }
      over_keys(shape, ds, k, result);
      scatter(shape, result, a.dqkv, h * head, c, end);
      over_queries(shape, ds, q, result);
      scatter(shape, result, a.dqkv, width + h * head, c, end);
      over_queries(shape, p, dy, result);
      scatter(shape, result, a.dqkv, 2 * width + h * head, c, end);
    });
}

LOCKSTEP_SIMD_INSTANTIATE(attention_forward, AttentionForward)
LOCKSTEP_SIMD_INSTANTIATE(attention_backward, AttentionBackward)

}  // namespace lockstep::LOCKSTEP_SIMD
