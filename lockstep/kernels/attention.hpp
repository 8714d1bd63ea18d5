#pragma once
// Tokens and attention over sequences of a chunk of samples. Row r * steps + t of a matrix is row r at step t.
//
// Attention of H heads of D features each, E = H * D. qkv [3 E * steps, samples] holds the queries, keys and values of
// all steps; feature h * D + d of each belongs to head h. For the queries i of every head:
//   s_ij = (chain over d of fma(q_id, k_jd)) * scale    m_i = max over j    e_ij = exp(s_ij - m_i)
//   p_ij = e_ij / (chain over j of e_ij)                y_id = chain over j of fma(p_ij, v_jd)
// j runs over all steps, or (causal) from 0 to i. With lengths, m_i is over the sample's own steps, and e_ij = p_ij = 0
// where step i or j is not one of them: they enter the sums as 0. Every sum is a chain, ascending, from 0.

#include "lockstep/kernels/cost.hpp"
#include "lockstep/tensor/view.hpp"

namespace lockstep {

/// y(v * steps + t, s) = 1 where x(t, s) is v, else 0. x [steps, samples], y [vocabulary * steps, samples]
template <class T>
struct OneHot {
  ConstMatrix<T> x;
  Matrix<T> y;
};

struct AttentionShape {
  std::int64_t heads = 1, head = 1, steps = 1;  // head: the features of one
  bool causal = false;

  constexpr std::int64_t width() const { return heads * head; }
  /// Keys that query i sees: 0 up to this one, exclusively.
  constexpr std::int64_t keys(std::int64_t i) const { return causal ? i + 1 : steps; }
  /// The first query that sees key j.
  constexpr std::int64_t first_query(std::int64_t j) const { return causal ? j : 0; }
};

template <class T>
struct AttentionForward {
  AttentionShape shape;
  T scale;
  ConstMatrix<T> qkv;
  Matrix<T> y;  // [E * steps, samples]
  /// p_ij of head h in row (h * steps + i) * steps + j, for backward; or [steps * steps, samples], which the heads use
  /// one after the other. What a query does not see is not written.
  Matrix<T> p;
  const std::int64_t* lengths = nullptr;  // one per sample, where the kernels work; null: all have all steps
};

/// dp_ij = chain over d of fma(dy_id, v_jd)    t_i = chain over j of fma(p_ij, dp_ij)
/// ds_ij = (p_ij * (dp_ij - t_i)) * scale
/// dq_id = chain over j of fma(ds_ij, k_jd)    dk_jd = chain over i of fma(ds_ij, q_id)
/// dv_jd = chain over i of fma(p_ij, dy_id)
template <class T>
struct AttentionBackward {
  AttentionShape shape;
  T scale;
  ConstMatrix<T> qkv, p, dy;
  Matrix<T> dqkv;
  Matrix<T> ds;  // scratch: [steps * steps * heads, samples]
};

/// `products`: 2 of forward, 5 of backward, two operations each; ten operations per exponential.
constexpr Cost attention_cost(const AttentionShape& shape, std::int64_t samples, std::size_t scalar, int products) {
  const double n = double(samples), t = double(shape.steps);
  const double pairs = n * double(shape.heads) * (shape.causal ? t * (t + 1) / 2 : t * t);
  return {.flops = pairs * (2.0 * products * double(shape.head) + 10),
          .bytes = double(scalar) * (pairs + 4 * n * t * double(shape.width()))};
}

}  // namespace lockstep
