// Attention: a work-item is a query, or a key, of one head and sample.
#include "lockstep/kernels/device/launch.hpp"

namespace lockstep::device {

template <class T, Style kStyle>
void one_hot(const OneHot<T>& a, KernelContext& context) {
  start<T>(context, "one_hot", over_matrix(context.device(), Style::naive, a.y.rows, a.x.cols), a.x.data, a.x.stride,
           a.x.rows, a.y.data, a.y.stride, a.y.rows, a.x.cols);
}

template <class T, Style kStyle>
void attention_forward(const AttentionForward<T>& a, KernelContext& context) {
  const AttentionShape& shape = a.shape;
  const std::int64_t all = shape.heads, step = a.p.rows > shape.steps * shape.steps ? all : 1;
  for (std::int64_t h = 0; h < all; h += step)
    start<T>(context, "attention_forward", over_matrix(context.device(), Style::naive, step * shape.steps, a.y.cols),
             all, shape.head, shape.steps, std::int64_t{shape.causal}, a.scale, h, step, a.qkv.data, a.qkv.stride,
             a.lengths, a.p.data, a.p.stride, a.y.data, a.y.stride, a.y.cols);
}

template <class T, Style kStyle>
void attention_backward(const AttentionBackward<T>& a, KernelContext& context) {
  const AttentionShape& shape = a.shape;
  const auto grid = over_matrix(context.device(), Style::naive, shape.heads * shape.steps, a.dy.cols);
  start<T>(context, "attention_backward_queries", grid, shape.heads, shape.head, shape.steps,
           std::int64_t{shape.causal}, a.scale, a.qkv.data, a.qkv.stride, a.p.data, a.p.stride, a.dy.data, a.dy.stride,
           a.ds.data, a.ds.stride, a.dqkv.data, a.dqkv.stride, a.dy.cols);
  start<T>(context, "attention_backward_keys", grid, shape.heads, shape.head, shape.steps, std::int64_t{shape.causal},
           a.qkv.data, a.qkv.stride, a.p.data, a.p.stride, a.dy.data, a.dy.stride, a.ds.data, a.ds.stride, a.dqkv.data,
           a.dqkv.stride, a.dy.cols);
}

LOCKSTEP_DEVICE_INSTANTIATE(one_hot, OneHot)
LOCKSTEP_DEVICE_INSTANTIATE(attention_forward, AttentionForward)
LOCKSTEP_DEVICE_INSTANTIATE(attention_backward, AttentionBackward)

}  // namespace lockstep::device
