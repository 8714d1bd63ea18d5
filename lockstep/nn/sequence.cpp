#include "lockstep/nn/sequence.hpp"

#include <algorithm>

namespace lockstep {

namespace {

/// Operations and bytes below which a crew would lose more time by meeting than it saves: those of about a microsecond.
constexpr double kWorthMeeting = 1e5;

bool has_parameters(const LayerPlan& plan) {
  const auto any = [](const std::vector<LayerPlan>& plans) {
    return std::any_of(plans.begin(), plans.end(), has_parameters);
  };
  return !plan.parameters.empty() || any(plan.body) || any(plan.shortcut);
}

}  // namespace

std::int64_t first_parameter(const LayerPlan& plan) {
  std::int64_t first = -1;
  const std::vector<LayerPlan> one = {plan};
  for_each_layer(one, [&](const LayerPlan& each) {
    for (const ParameterInfo& info : each.parameters)
      if (info.trainable() && (first < 0 || info.offset < first)) first = info.offset;
  });
  return first;
}

namespace {

/// The layers that have something to compute, in the order in which they do. A ReLU before a max pool works behind it,
/// on fewer elements. It is the same function: the largest of the positive ones is the largest of all where that is
/// positive, and else 0. And the same gradient: that of a window goes to the same element, or, where the largest is not
/// positive, to none. So the bits are the same too.
std::vector<LayerPlan> in_order_of_work(const std::vector<LayerPlan>& plans) {
  std::vector<LayerPlan> order;
  for (const LayerPlan& plan : plans) {
    if (std::holds_alternative<Flatten>(plan.spec.kind)) continue;
    order.push_back(plan);
    if (order.size() < 2 || !std::holds_alternative<MaxPool2d>(plan.spec.kind)) continue;
    LayerPlan& before = order[order.size() - 2];
    if (!std::holds_alternative<Relu>(before.spec.kind)) continue;
    before.in = before.out = plan.out;
    std::swap(before, order.back());
  }
  return order;
}

const Split kWhole;

/// There are fewer channels than members, and none of them is this member's.
template <class T>
bool idle(const Layer<T>& layer) {
  return layer.sharing() == Sharing::by_channel && layer.holds_nothing();
}

template <class T>
Matrix<T> view(AlignedBuffer<T>& buffer, std::int64_t rows, std::int64_t samples) {
  return {buffer.data(), rows, samples, padded(samples)};
}

template <class T>
void start_gather(const Pass<T>& pass, Matrix<T> matrix, const Split& split) {
  pass.holders->start_gather(reinterpret_cast<std::byte*>(matrix.data), split,
                             matrix.rows / split.units * matrix.stride * static_cast<std::int64_t>(sizeof(T)));
}

}  // namespace

template <class T>
void gather_parts(const Pass<T>& pass, Matrix<T> matrix, const Split& split) {
  start_gather(pass, matrix, split);
  pass.holders->finish_gather();
  if (pass.recorder != nullptr) pass.recorder->close(kGatherSection);
}
template void gather_parts(const Pass<float>&, Matrix<float>, const Split&);
template void gather_parts(const Pass<double>&, Matrix<double>, const Split&);

template <class T>
Sequence<T>::Sequence(const std::vector<LayerPlan>& plans) {
  for (const LayerPlan& plan : in_order_of_work(plans)) {
    layers_.push_back(make_layer<T>(plan));
    first_parameters_.push_back(first_parameter(plan));
  }
}

/// The first layer never overwrites the sequence's input, nor any layer an output that its maker's backward reads.
template <class T>
bool Sequence<T>::runs_in_place(std::size_t layer) const {
  return layer > 0 && layers_[layer]->in_place() && !layers_[layer - 1]->backward_reads_y();
}

template <class T>
std::size_t Sequence<T>::first_trained() const {
  const auto trained = [](const auto& layer) { return has_parameters(layer->plan()); };
  return static_cast<std::size_t>(std::find_if(layers_.begin(), layers_.end(), trained) - layers_.begin());
}

template <class T>
SequenceMemory<T> Sequence<T>::make_memory(std::int64_t samples, std::int64_t slots, Memory& where) const {
  SequenceMemory<T> memory;
  std::int64_t widest = 0;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const Layer<T>& layer = *layers_[i];
    LayerMemory<T>& own = memory.layers.emplace_back();
    if (!runs_in_place(i)) own.storage = AlignedBuffer<T>(layer.plan().out.elements() * padded(samples), where);
    layer.reserve(own, samples, slots, where);
    if (i > 0) widest = std::max(widest, layer.plan().in.elements());
  }
  if (slots > 0)
    for (AlignedBuffer<T>& buffer : memory.gradients) buffer = AlignedBuffer<T>(widest * padded(samples), where);
  return memory;
}

template <class T>
void Sequence<T>::place(SequenceMemory<T>& memory, std::int64_t samples) const {
  std::size_t last = layers_.size() - 1;  // whose memory the last layer's output lies in
  while (last < layers_.size() && runs_in_place(last)) --last;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    LayerMemory<T>& own = memory.layers[i];
    const std::int64_t rows = layers_[i]->plan().out.elements();
    if (i == last && samples == 1 && memory.output != nullptr)
      own.y = dense_matrix(memory.output, rows, 1);
    else
      own.y = runs_in_place(i) ? memory.layers[i - 1].y : view(own.storage, rows, samples);
    layers_[i]->place(own, samples);
  }
}

template <class T>
void Sequence<T>::prepare(const T* parameters, SequenceMemory<T>& memory) const {
  for (std::size_t i = 0; i < layers_.size(); ++i) layers_[i]->prepare(parameters, memory.layers[i]);
}

/// The layer needs of its input only the channels that the same member computed before.
template <class T>
bool Sequence<T>::follows_by_channel(std::size_t layer) const {
  return layer > 0 && layers_[layer]->sharing() == Sharing::by_channel &&
         layers_[layer]->plan().in[0] == layers_[layer - 1]->plan().out[0];
}

/// Whether a crew shares the layer or leaves it to its first member.
template <class T>
bool Sequence<T>::worth_sharing(std::size_t layer, std::int64_t samples, bool input_shared) const {
  if (layers_[layer]->sharing() == Sharing::never) return false;
  if (follows_by_channel(layer)) return input_shared;
  const Cost cost = layers_[layer]->forward_cost(samples);
  return cost.flops + cost.bytes > kWorthMeeting;
}

template <class T>
const Split& Sequence<T>::output_split() const {
  return layers_.empty() ? kWhole : layers_.back()->plan().out_split;
}

template <class T>
void Sequence<T>::gather_output(const Pass<T>& pass, SequenceMemory<T>& memory) const {
  if (!output_split().whole()) gather_parts(pass, memory.layers.back().y, output_split());
}

template <class T>
ConstMatrix<T> Sequence<T>::forward(const Pass<T>& pass, ConstMatrix<T> x, SequenceMemory<T>& memory) const {
  Pass<T> alone = pass;
  alone.crew = nullptr;
  bool shared = false;  // x: each member has some channels of it, or the first one all
  if (pass.crew == nullptr) place(memory, x.cols);
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    LayerMemory<T>& own = memory.layers[i];
    if (pass.crew == nullptr) {
      // What a layer needs all of, and its members have parts of, is gathered.
      if (i > 0 && layers_[i]->sharing() != Sharing::by_channel && !layers_[i - 1]->plan().out_split.whole())
        gather_parts(pass, memory.layers[i - 1].y, layers_[i - 1]->plan().out_split);
      if (!idle(*layers_[i])) layers_[i]->forward(pass, x, own);
    } else {
      const bool share = worth_sharing(i, x.cols, shared);
      if (i > 0 && (share || shared) && !(share && shared && follows_by_channel(i))) pass.crew->meet();
      if (share || pass.crew->index() == 0) layers_[i]->forward(share ? pass : alone, x, own);
      shared = share;
    }
    if (pass.recorder != nullptr) {
      const Cost cost = layers_[i]->own_forward_cost(x.cols);
      pass.recorder->close(forward_section(layers_[i]->plan().id), cost.flops, cost.bytes);
    }
    x = own.y;
  }
  return x;
}

template <class T>
void Sequence<T>::backward(const Pass<T>& pass, ConstMatrix<T> x, SequenceMemory<T>& memory, Matrix<T> dy, Matrix<T> dx,
                           const Split& dy_split) const {
  const Split* held = &dy_split;  // who has which part of dy
  if (layers_.empty() && dx.data != nullptr) copy_rows(pass, ConstMatrix<T>(dy), dx);
  const std::size_t last_needed = dx.data != nullptr ? 0 : first_trained();
  std::size_t spare = 0;  // the gradient buffer that dy does not lie in
  for (std::size_t i = layers_.size(); i-- > last_needed;) {
    const ConstMatrix<T> input = i == 0 ? x : ConstMatrix<T>(memory.layers[i - 1].y);
    Matrix<T> gradient;
    if (i > last_needed) {
      gradient = layers_[i]->backward_in_place() ? Matrix<T>{dy.data, input.rows, dy.cols, dy.stride}
                                                 : view(memory.gradients[spare], input.rows, dy.cols);
      if (gradient.data != dy.data) spare = 1 - spare;
    } else if (dx.data != nullptr) {
      gradient = dx;
    }
    const Layer<T>& layer = *layers_[i];
    const bool needs_all = layer.backward_needs_all(gradient.data != nullptr);
    if (!held->whole() && (needs_all || *held != layer.plan().out_split)) {
      if (needs_all && layer.sharing() == Sharing::from_all)
        start_gather(pass, dy, *held);  // the layer awaits it
      else
        gather_parts(pass, dy, *held);
    }
    if (!idle(layer)) layer.backward(pass, input, memory.layers[i], dy, gradient);
    held = layer.sharing() == Sharing::never ? &kWhole : &layer.plan().in_split;
    if (pass.recorder != nullptr) {
      const Cost cost = layers_[i]->own_backward_cost(dy.cols, gradient.data != nullptr);
      pass.recorder->close(backward_section(layers_[i]->plan().id), cost.flops, cost.bytes);
    }
    dy = gradient;
    if (pass.watch != nullptr && first_parameters_[i] >= 0) pass.watch->complete_from(first_parameters_[i]);
  }
}

template <class T>
void Sequence<T>::update_statistics(const KernelTable<T>& kernels, KernelContext& context, T* parameters, const T* sums,
                                    std::int64_t samples) const {
  for (const auto& layer : layers_) layer->update_statistics(kernels, context, parameters, sums, samples);
}

template <class T>
std::int64_t Sequence<T>::activation_elements() const {
  std::int64_t elements = 1, widest = 0;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const LayerPlan& plan = layers_[i]->plan();
    if (i == 0) elements += plan.in.elements();
    if (!runs_in_place(i)) elements += plan.out.elements();
    if (i > 0) widest = std::max(widest, plan.in.elements());
  }
  return elements + 2 * widest;
}

template <class T>
Cost Sequence<T>::forward_cost(std::int64_t samples) const {
  Cost cost;
  for (const auto& layer : layers_) cost = cost + layer->forward_cost(samples);
  return cost;
}

template <class T>
Cost Sequence<T>::backward_cost(std::int64_t samples, bool data) const {
  Cost cost;
  const std::size_t last_needed = data ? 0 : first_trained();
  for (std::size_t i = last_needed; i < layers_.size(); ++i)
    cost = cost + layers_[i]->backward_cost(samples, data || i > last_needed);
  return cost;
}

template class Sequence<float>;
template class Sequence<double>;

}  // namespace lockstep
