#pragma once
#include "lockstep/kernels/attention.hpp"
#include "lockstep/kernels/math/elementary.hpp"
#include "lockstep/kernels/naive/variant.hpp"

namespace lockstep::LOCKSTEP_NAIVE {

template <class T>
void one_hot(const OneHot<T>& a) {
  const std::int64_t steps = a.x.rows;
  for (std::int64_t row = 0; row < a.y.rows; ++row)
    for (std::int64_t s = 0; s < a.x.cols; ++s) a.y(row, s) = a.x(row % steps, s) == T(row / steps) ? T(1) : T(0);
}

template <class T>
void attention_forward(const AttentionForward<T>& a) {
  const AttentionShape& shape = a.shape;
  const std::int64_t steps = shape.steps, width = shape.width();
  for (std::int64_t h = 0; h < shape.heads; ++h) {
    const std::int64_t first = a.p.rows > steps * steps ? h * steps : 0;
    const auto p = [&](std::int64_t i, std::int64_t j, std::int64_t s) -> T& {
      return a.p((first + i) * steps + j, s);
    };
    const auto at = [&](std::int64_t part, std::int64_t d, std::int64_t t, std::int64_t s) {
      return a.qkv((part * width + h * shape.head + d) * steps + t, s);
    };
    for (std::int64_t i = 0; i < steps; ++i)
      for (std::int64_t s = 0; s < a.y.cols; ++s) {
        const std::int64_t length = a.lengths == nullptr ? steps : a.lengths[s], keys = shape.keys(i);
        T largest = T(0), sum = T(0);
        for (std::int64_t j = 0; j < keys; ++j) {
          T dot = T(0);
          for (std::int64_t d = 0; d < shape.head; ++d) dot = fma(at(0, d, i, s), at(1, d, j, s), dot);
          p(i, j, s) = dot * a.scale;
          if (j == 0 || (j < length && p(i, j, s) > largest)) largest = p(i, j, s);
        }
        for (std::int64_t j = 0; j < keys; ++j) {
          p(i, j, s) = i < length && j < length ? math::exp(p(i, j, s) - largest) : T(0);
          sum = sum + p(i, j, s);
        }
        for (std::int64_t j = 0; j < keys; ++j) p(i, j, s) = i < length ? p(i, j, s) / sum : T(0);
        for (std::int64_t d = 0; d < shape.head; ++d) {
          T y = T(0);
          for (std::int64_t j = 0; j < keys; ++j) y = fma(p(i, j, s), at(2, d, j, s), y);
          a.y((h * shape.head + d) * steps + i, s) = y;
        }
      }
  }
}

template <class T>
void attention_backward(const AttentionBackward<T>& a) {
  const AttentionShape& shape = a.shape;
  const std::int64_t steps = shape.steps, width = shape.width();
  for (std::int64_t h = 0; h < shape.heads; ++h) {
    const auto pair = [&](std::int64_t i, std::int64_t j) { return (h * steps + i) * steps + j; };
    const auto row = [&](std::int64_t part, std::int64_t d, std::int64_t t) {
      return (part * width + h * shape.head + d) * steps + t;
    };
    for (std::int64_t s = 0; s < a.dy.cols; ++s) {
      for (std::int64_t i = 0; i < steps; ++i) {
        T total = T(0);
        for (std::int64_t j = 0; j < shape.keys(i); ++j) {
          T dp = T(0);
          for (std::int64_t d = 0; d < shape.head; ++d) dp = fma(a.dy(row(0, d, i), s), a.qkv(row(2, d, j), s), dp);
          a.ds(pair(i, j), s) = dp;
          total = fma(a.p(pair(i, j), s), dp, total);
        }
        for (std::int64_t j = 0; j < shape.keys(i); ++j)
          a.ds(pair(i, j), s) = (a.p(pair(i, j), s) * (a.ds(pair(i, j), s) - total)) * a.scale;
        for (std::int64_t d = 0; d < shape.head; ++d) {
          T dq = T(0);
          for (std::int64_t j = 0; j < shape.keys(i); ++j) dq = fma(a.ds(pair(i, j), s), a.qkv(row(1, d, j), s), dq);
          a.dqkv(row(0, d, i), s) = dq;
        }
      }
      for (std::int64_t j = 0; j < steps; ++j)
        for (std::int64_t d = 0; d < shape.head; ++d) {
          T dk = T(0), dv = T(0);
          for (std::int64_t i = shape.first_query(j); i < steps; ++i) {
            dk = fma(a.ds(pair(i, j), s), a.qkv(row(0, d, i), s), dk);
            dv = fma(a.p(pair(i, j), s), a.dy(row(0, d, i), s), dv);
          }
          a.dqkv(row(1, d, j), s) = dk;
          a.dqkv(row(2, d, j), s) = dv;
        }
    }
  }
}

}  // namespace lockstep::LOCKSTEP_NAIVE
