#include "lockstep/nn/sequence.hpp"

#include <algorithm>

#include "lockstep/core/error.hpp"
#include "lockstep/nn/layer.hpp"

namespace lockstep {

namespace {

/// Operations and bytes below which a group loses more time by meeting than it saves: those of about a microsecond.
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

std::int64_t place_states(std::vector<LayerPlan>& plans) {
  std::int64_t rows = 0;
  for_each_layer(plans, [&](LayerPlan& plan) {
    plan.state = rows;
    if (!std::holds_alternative<Flatten>(plan.spec.kind)) rows += make_layer<float>(plan)->state_rows();
  });
  return rows;
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

/// The branches of a residual block gather what they need of dy; the identity takes another part than the block has.
bool identity_needs_all_of_dy(const LayerPlan& block, bool data) {
  return data && block.shortcut.empty() && block.in_split != block.out_split;
}

template <class T>
Matrix<T> view(AlignedBuffer<T>& buffer, std::int64_t rows, std::int64_t samples) {
  return {buffer.data(), rows, samples, padded(samples)};
}

template <class T>
void start_gather(const Pass<T>& pass, Matrix<T> matrix, const Split& split) {
  pass.gather->start_gather(reinterpret_cast<std::byte*>(matrix.data), split,
                            matrix.rows / split.units * matrix.stride * static_cast<std::int64_t>(sizeof(T)));
}

}  // namespace

template <class T>
void gather_parts(const Pass<T>& pass, Matrix<T> matrix, const Split& split) {
  start_gather(pass, matrix, split);
  pass.gather->finish_gather();
  if (pass.recorder != nullptr) pass.recorder->close(kGatherSection);
}
template void gather_parts(const Pass<float>&, Matrix<float>, const Split&);
template void gather_parts(const Pass<double>&, Matrix<double>, const Split&);

template <class T>
void join_branches(const Pass<T>& pass) {
  if (pass.group != nullptr) pass.group->meet();
}
template void join_branches(const Pass<float>&);
template void join_branches(const Pass<double>&);

template <class T>
Sequence<T>::Entry::Entry(const LayerPlan& plan)
    : layer(make_layer<T>(plan)),
      sharing(layer->sharing()),
      weight(weight_shape(plan)),
      outs(plan.out_split.part(plan.out[0], plan.member)),
      ins(by_channel() ? outs : plan.in_split.part(weight ? weight->in : plan.in[0], plan.member)),
      in_pixels(plan.in.elements() / (weight ? weight->in : plan.in[0])),
      out_pixels(plan.out.elements() / plan.out[0]),
      first_parameter(lockstep::first_parameter(plan)) {
  if (plan.parameters.size() > offsets.size()) throw Error(ErrorCode::bug, "a layer with too many parameters");
  for (std::size_t k = 0; k < plan.parameters.size(); ++k) {
    offsets[k] = plan.parameters[k].offset;
    per_channel[k] = outs.count == 0 ? 0 : plan.parameters[k].elements() / outs.count;
  }
}

template <class T>
bool Sequence<T>::Entry::needs_all_of_dy(bool data) const {
  if (!plan().body.empty()) return identity_needs_all_of_dy(plan(), data);
  return sharing == Sharing::never || (data && sharing == Sharing::from_all);
}

template <class T>
Cost Sequence<T>::Entry::backward_cost(std::int64_t samples, bool data) const {
  return out_share() * layer->parameter_gradient_cost(samples) +
         (data ? in_share() * layer->data_gradient_cost(samples) : Cost{});
}

template <class T>
Sequence<T>::Sequence(const std::vector<LayerPlan>& plans) {
  for (const LayerPlan& plan : in_order_of_work(plans)) layers_.emplace_back(plan);
}

/// The first layer never overwrites the sequence's input, nor any layer an output that its maker's backward reads.
template <class T>
bool Sequence<T>::runs_in_place(std::size_t layer) const {
  return layer > 0 && layers_[layer].layer->in_place() && !layers_[layer - 1].layer->backward_reads_y();
}

template <class T>
std::size_t Sequence<T>::first_trained() const {
  const auto trained = [](const Entry& entry) { return has_parameters(entry.plan()); };
  return static_cast<std::size_t>(std::find_if(layers_.begin(), layers_.end(), trained) - layers_.begin());
}

template <class T>
SequenceMemory<T> Sequence<T>::make_memory(std::int64_t samples, std::int64_t slots, Memory& where) const {
  SequenceMemory<T> memory;
  std::int64_t widest = 0;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const Layer<T>& layer = *layers_[i].layer;
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
    const std::int64_t rows = layers_[i].plan().out.elements();
    if (i == last && samples == 1 && memory.output != nullptr)
      own.y = dense_matrix(memory.output, rows, 1);
    else
      own.y = runs_in_place(i) ? memory.layers[i - 1].y : view(own.storage, rows, samples);
    layers_[i].layer->place(own, samples);
  }
}

template <class T>
void Sequence<T>::prepare(const T* parameters, SequenceMemory<T>& memory) const {
  for (std::size_t i = 0; i < layers_.size(); ++i) layers_[i].layer->prepare(parameters, memory.layers[i]);
}

/// The layer needs of its input only the channels that the same thread computed before.
template <class T>
bool Sequence<T>::follows_by_channel(std::size_t layer) const {
  return layer > 0 && layers_[layer].by_channel() && layers_[layer].plan().in[0] == layers_[layer - 1].plan().out[0];
}

/// Whether a group shares the layer or leaves it to its first thread.
template <class T>
bool Sequence<T>::worth_sharing(std::size_t layer, std::int64_t samples, bool input_shared) const {
  if (layers_[layer].sharing == Sharing::never) return false;
  if (follows_by_channel(layer)) return input_shared;
  const Cost cost = layers_[layer].layer->forward_cost(samples);
  return cost.flops + cost.bytes > kWorthMeeting;
}

template <class T>
const Split& Sequence<T>::output_split() const {
  return layers_.empty() ? kWhole : layers_.back().plan().out_split;
}

template <class T>
void Sequence<T>::gather_output(const Pass<T>& pass, SequenceMemory<T>& memory) const {
  if (!output_split().whole()) gather_parts(pass, memory.layers.back().y, output_split());
}

template <class T>
void Sequence<T>::complete_branch(const Pass<T>& pass, SequenceMemory<T>& memory, const LayerPlan& block) const {
  if (output_split() != block.out_split) gather_output(pass, memory);
}

namespace {

template <class View>
View rows_of_channels(const View& matrix, std::int64_t pixels, const Channels& channels) {
  return matrix.rows_from(channels.first * pixels, channels.count * pixels);
}

/// The output channels `outs` in parts that a layer computes in one call: visit(ins, outs, groups). Of a grouped
/// convolution whole groups go together, parts of a group one by one.
template <class Entry, class Visit>
void for_each_part(const Entry& entry, const Channels& outs, const Visit& visit) {
  if (entry.weight)
    for_each_group_run(outs, entry.weight->out_per_group(),
                       [&](const Channels& some, std::int64_t first, std::int64_t groups) {
                         const std::int64_t per_group = entry.weight->in_per_group();
                         visit(Channels{first * per_group, groups * per_group}, some, groups);
                       });
  else if (entry.by_channel())
    visit(outs, outs, 1);
  else
    visit(Channels{0, entry.plan().in[0]}, outs, 1);
}

/// The parameters and gradients of output channels.
template <class T, class Entry>
void set_parameters(const Pass<T>& pass, const Entry& entry, LayerViews<T>& views) {
  const std::int64_t skipped = views.out.first - entry.outs.first;  // channels whose parameters come before
  for (std::size_t k = 0; k < entry.plan().parameters.size(); ++k) {
    const std::int64_t at = entry.offsets[k] + skipped * entry.per_channel[k];
    views.parameters[k] = pass.parameters + at;
    if (pass.gradients != nullptr) views.gradients[k] = pass.gradients + at;
  }
}

}  // namespace

/// This worker's channels of memory.y.
template <class T>
void Sequence<T>::forward_layer(const Pass<T>& pass, const Entry& entry, ConstMatrix<T> x,
                                LayerMemory<T>& memory) const {
  const Channels own = pass.group == nullptr ? entry.outs : pass.group->share(entry.plan().out[0]);
  if (entry.by_channel() && own.count == 0) return;
  for_each_part(entry, own, [&](const Channels& ins, const Channels& outs, std::int64_t groups) {
    LayerViews<T> views{.in = ins,
                        .out = outs,
                        .groups = groups,
                        .x = rows_of_channels(x, entry.in_pixels, ins),
                        .y = rows_of_channels(memory.y, entry.out_pixels, outs)};
    set_parameters(pass, entry, views);
    entry.layer->forward(pass, views, memory);
  });
}

template <class T>
ConstMatrix<T> Sequence<T>::forward(const Pass<T>& pass, ConstMatrix<T> x, SequenceMemory<T>& memory) const {
  Pass<T> alone = pass;
  alone.group = nullptr;
  bool shared = false;  // x: each thread has some channels of it, or the first one all
  if (pass.group == nullptr) place(memory, x.cols);
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const Entry& entry = layers_[i];
    LayerMemory<T>& own = memory.layers[i];
    if (pass.group == nullptr) {
      // What a layer needs all of, and its members have parts of, is gathered.
      if (i > 0 && !entry.by_channel() && !layers_[i - 1].plan().out_split.whole())
        gather_parts(pass, memory.layers[i - 1].y, layers_[i - 1].plan().out_split);
      forward_layer(pass, entry, x, own);
    } else {
      const bool share = worth_sharing(i, x.cols, shared);
      if (i > 0 && (share || shared) && !(share && shared && follows_by_channel(i))) pass.group->meet();
      if (share || pass.group->index() == 0) forward_layer(share ? pass : alone, entry, x, own);
      shared = share;
    }
    if (pass.recorder != nullptr) {
      const Cost cost = entry.forward_cost(x.cols);
      pass.recorder->close(forward_section(entry.plan().id), cost.flops, cost.bytes);
    }
    x = own.y;
  }
  return x;
}

/// The parameter gradients of the output channels whose parameters are held.
template <class T>
void Sequence<T>::backward_weights(const Pass<T>& pass, const Entry& entry, const LayerViews<T>& whole,
                                   LayerMemory<T>& memory) const {
  for_each_part(entry, entry.outs, [&](const Channels& ins, const Channels& outs, std::int64_t groups) {
    LayerViews<T> views{.in = ins,
                        .out = outs,
                        .groups = groups,
                        .x = rows_of_channels(whole.x, entry.in_pixels, ins),
                        .dy = rows_of_channels(whole.dy, entry.out_pixels, outs)};
    set_parameters(pass, entry, views);
    entry.layer->backward(pass, views, memory);
  });
}

/// The data gradient of this worker's input channels. It is a sum over all outputs, so it needs all of dy, and of the
/// weight the columns of these inputs: where layers are split, a second copy (columns.hpp).
template <class T>
void Sequence<T>::backward_data(const Pass<T>& pass, const Entry& entry, const LayerViews<T>& whole,
                                LayerMemory<T>& memory) const {
  const WeightShape& shape = *entry.weight;
  const std::int64_t columns = entry.plan().columns;
  const T* w = columns < 0 ? pass.parameters + entry.offsets[0] : pass.columns + columns;
  for_each_group_run(entry.ins, shape.in_per_group(),
                     [&](const Channels& ins, std::int64_t first, std::int64_t groups) {
                       const Channels outs{first * shape.out_per_group(), groups * shape.out_per_group()};
                       LayerViews<T> views{.in = ins,
                                           .out = outs,
                                           .groups = groups,
                                           .dy = rows_of_channels(whole.dy, entry.out_pixels, outs),
                                           .dx = rows_of_channels(whole.dx, entry.in_pixels, ins)};
                       views.parameters[0] = w;
                       entry.layer->backward(pass, views, memory);
                       w += outs.count * (ins.count / groups) * shape.taps;
                     });
}

/// `whole` has the views of all channels. A gather of dy may be under way for the data gradient.
template <class T>
void Sequence<T>::backward_layer(const Pass<T>& pass, const Entry& entry, LayerViews<T> whole,
                                 LayerMemory<T>& memory) const {
  if (entry.weight) {
    backward_weights(pass, entry, whole, memory);
    if (whole.dx.data == nullptr) return;
    if (pass.gather != nullptr) {
      if (pass.recorder != nullptr) pass.recorder->close(backward_section(entry.plan().id));
      pass.gather->finish_gather();
      if (pass.recorder != nullptr) pass.recorder->close(kGatherSection);
    }
    backward_data(pass, entry, whole, memory);
    return;
  }
  if (entry.by_channel()) {
    whole.x = rows_of_channels(whole.x, entry.in_pixels, entry.ins);
    whole.y = rows_of_channels(whole.y, entry.out_pixels, entry.outs);
    whole.dy = rows_of_channels(whole.dy, entry.out_pixels, entry.outs);
    if (whole.dx.data != nullptr) whole.dx = rows_of_channels(whole.dx, entry.in_pixels, entry.ins);
  }
  set_parameters(pass, entry, whole);
  entry.layer->backward(pass, whole, memory);
}

template <class T>
void Sequence<T>::backward(const Pass<T>& pass, ConstMatrix<T> x, SequenceMemory<T>& memory, Matrix<T> dy, Matrix<T> dx,
                           const Split& dy_split) const {
  const Split* held = &dy_split;  // which member has which part of dy
  if (layers_.empty() && dx.data != nullptr) copy_rows(pass, ConstMatrix<T>(dy), dx);
  const std::size_t last_needed = dx.data != nullptr ? 0 : first_trained();
  std::size_t spare = 0;  // the gradient buffer that dy does not lie in
  for (std::size_t i = layers_.size(); i-- > last_needed;) {
    const Entry& entry = layers_[i];
    const ConstMatrix<T> input = i == 0 ? x : ConstMatrix<T>(memory.layers[i - 1].y);
    Matrix<T> gradient;
    if (i > last_needed) {
      gradient = entry.layer->backward_in_place() ? Matrix<T>{dy.data, input.rows, dy.cols, dy.stride}
                                                  : view(memory.gradients[spare], input.rows, dy.cols);
      if (gradient.data != dy.data) spare = 1 - spare;
    } else if (dx.data != nullptr) {
      gradient = dx;
    }
    const bool data = gradient.data != nullptr, needs_all = entry.needs_all_of_dy(data);
    if (!held->whole() && (needs_all || *held != entry.plan().out_split)) {
      if (needs_all && entry.weight)
        start_gather(pass, dy, *held);  // backward_layer waits for it
      else
        gather_parts(pass, dy, *held);
    }
    LayerMemory<T>& own = memory.layers[i];
    if (!entry.idle())
      backward_layer(pass, entry,
                     {.in = entry.ins, .out = entry.outs, .x = input, .y = own.y, .dy = dy, .dx = gradient}, own);
    held = entry.sharing == Sharing::never ? &kWhole : &entry.plan().in_split;
    if (pass.recorder != nullptr) {
      const Cost cost = entry.backward_cost(dy.cols, data);
      pass.recorder->close(backward_section(entry.plan().id), cost.flops, cost.bytes);
    }
    dy = gradient;
    if (pass.watch != nullptr && entry.first_parameter >= 0) pass.watch->complete_from(entry.first_parameter);
  }
}

template <class T>
void Sequence<T>::backward_branch(const Pass<T>& pass, ConstMatrix<T> x, SequenceMemory<T>& memory, Matrix<T> dy,
                                  Matrix<T> dx, const LayerPlan& block) const {
  Pass<T> inner = pass;
  inner.watch = nullptr;  // branches are not complete one by one
  const bool gathered = identity_needs_all_of_dy(block, dx.data != nullptr);
  backward(inner, x, memory, dy, dx, gathered ? kWhole : block.out_split);
}

template <class T>
void Sequence<T>::update_statistics(const KernelTable<T>& kernels, KernelContext& context, T* parameters, const T* sums,
                                    std::int64_t samples) const {
  for (const Entry& entry : layers_) entry.layer->update_statistics(kernels, context, parameters, sums, samples);
}

template <class T>
std::int64_t Sequence<T>::activation_elements() const {
  std::int64_t elements = 1, widest = 0;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const LayerPlan& plan = layers_[i].plan();
    if (i == 0) elements += plan.in.elements();
    if (!runs_in_place(i)) elements += plan.out.elements();
    if (i > 0) widest = std::max(widest, plan.in.elements());
  }
  return elements + 2 * widest;
}

template <class T>
Cost Sequence<T>::forward_cost(std::int64_t samples) const {
  Cost cost;
  for (const Entry& entry : layers_)
    cost = cost + entry.forward_cost(samples) + entry.layer->inner_forward_cost(samples);
  return cost;
}

template <class T>
Cost Sequence<T>::backward_cost(std::int64_t samples, bool data) const {
  Cost cost;
  const std::size_t last_needed = data ? 0 : first_trained();
  for (std::size_t i = last_needed; i < layers_.size(); ++i) {
    const bool wanted = data || i > last_needed;
    cost = cost + layers_[i].backward_cost(samples, wanted) + layers_[i].layer->inner_backward_cost(samples, wanted);
  }
  return cost;
}

template class Sequence<float>;
template class Sequence<double>;

}  // namespace lockstep
