#include "lockstep/nn/recurrent.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "lockstep/kernels/recurrent.hpp"
#include "lockstep/nn/layer.hpp"
#include "lockstep/nn/per_step.hpp"
#include "lockstep/nn/recurrent_plan.hpp"

namespace lockstep {

namespace {

/// One direction of one layer of the stack.
struct Unit {
  std::int64_t layer = 0, in = 0;
  bool reverse = false;
  std::size_t parameter = 0;  // of its four (without biases two) in the plan
};

/// Where everything lies in one layer's memory, for chunks of some number of samples.
template <class T>
struct Workspace {
  static constexpr std::size_t kMostLayers = kStackRange.max, kMostUnits = 2 * kMostLayers;

  std::array<T*, kMostUnits> gates{}, c{}, zh{};  // zh of all steps: GRU in training
  std::array<T*, kMostLayers> h{};                // the outputs of all steps
  T* zh_step = nullptr;
  // Training only.
  T *dh = nullptr, *direct = nullptr;
  std::array<T*, 2> rec{}, dc{}, dh_all{};  // turn by turn: gradients of states, of the outputs of a layer
  T *packed_dz = nullptr, *packed_x = nullptr, *dx_part = nullptr;
};

/// Cuts a buffer into parts on cache lines; without a buffer it only counts.
template <class T>
class Cutter {
 public:
  explicit Cutter(T* base) : base_(base) {}
  T* take(std::int64_t elements) {
    T* const part = base_ == nullptr ? nullptr : base_ + used_;
    used_ += (elements + kLanes - 1) / kLanes * kLanes;
    return part;
  }
  std::int64_t used() const { return used_; }

 private:
  T* base_;
  std::int64_t used_ = 0;
};

template <class T>
class RecurrentLayer : public Layer<T> {
 public:
  RecurrentLayer(const LayerPlan& plan, const RecurrentSpec& spec)
      : Layer<T>(plan), spec_(spec), steps_(plan.in[1]), widest_(std::max(plan.in[0], outputs())) {
    for (std::int64_t l = 0; l < spec.layers; ++l)
      for (int d = 0; d < spec.directions(); ++d)
        units_.push_back({.layer = l,
                          .in = l == 0 ? plan.in[0] : outputs(),
                          .reverse = d == 1,
                          .parameter = units_.size() * spec.parameters_per_unit()});
  }

  /// The states of the last layer lie in y where it has all steps.
  bool backward_reads_y() const override { return spec_.all_steps; }
  Sharing sharing() const override { return Sharing::never; }
  std::int64_t state_rows() const override { return std::ssize(units_) * states() * spec_.hidden; }

  void reserve(LayerMemory<T>& memory, std::int64_t samples, std::int64_t slots, Memory& where) const override {
    Cutter<T> counter(nullptr);
    cut(counter, samples, slots > 0);
    memory.saved = AlignedBuffer<T>(counter.used(), where);
  }

  void forward(const Pass<T>& pass, const LayerViews<T>& v, LayerMemory<T>& memory) const override {
    const Workspace<T> work = workspace(v, memory, pass.training);
    Steps<const T> x = {v.x.data, this->plan().in[0], steps_, v.x.cols, v.x.stride};
    for (std::size_t u = 0; u < units_.size(); ++u) {
      const Steps<T> h = outputs_of(work, u, v.x.cols);
      run_unit(pass, v, work, u, input_of(work, u, x), h);
    }
    if (!spec_.all_steps)
      for (std::size_t u = units_.size() - std::size_t(spec_.directions()); u < units_.size(); ++u)
        copy_last(pass, outputs_of(work, u, v.x.cols).at(last_step(units_[u])), own_rows(v.y, units_[u]));
  }

  /// Through time, from the last layer to the first.
  void backward(const Pass<T>& pass, const LayerViews<T>& v, LayerMemory<T>& memory) const override {
    const Workspace<T> work = workspace(v, memory, true);
    const Steps<const T> x = {v.x.data, this->plan().in[0], steps_, v.x.cols, v.x.stride};
    for (std::size_t u = units_.size(); u-- > 0;) {
      const Unit& unit = units_[u];
      backward_unit(pass, v, work, u);
      backward_weights(pass, v, work, u, input_of(work, u, x));
      const Steps<T> dx = unit.layer == 0
                              ? Steps<T>{v.dx.data, unit.in, steps_, v.x.cols, v.dx.stride}
                              : Steps<T>{work.dh_all[unit.layer % 2], unit.in, steps_, v.x.cols, padded(v.x.cols)};
      if (dx.data != nullptr) backward_data(pass, v, work, u, dx);
    }
  }

  Cost own_forward_cost(std::int64_t samples) const override {
    Cost cost;
    for (const Unit& unit : units_)
      cost = cost + recurrent_cost(unit.in, spec_.hidden, spec_.gates(), steps_, samples, sizeof(T));
    return cost;
  }
  /// Both weight gradients and the way back through the states: without the first layer's input.
  Cost parameter_gradient_cost(std::int64_t samples) const override {
    Cost cost = own_forward_cost(samples);
    for (const Unit& unit : units_)
      cost =
          cost + recurrent_cost(unit.layer == 0 ? 0 : unit.in, spec_.hidden, spec_.gates(), steps_, samples, sizeof(T));
    return cost;
  }
  Cost data_gradient_cost(std::int64_t samples) const override {
    return double(spec_.directions()) * linear_cost(this->plan().in[0], rows(), steps_ * samples, sizeof(T));
  }

 private:
  std::int64_t outputs() const { return spec_.directions() * spec_.hidden; }
  std::int64_t states() const { return spec_.cell == Cell::lstm ? 2 : 1; }  // of a unit: h, c
  std::int64_t rows() const { return spec_.gates() * spec_.hidden; }        // of one unit's gates
  bool top(const Unit& unit) const { return unit.layer == spec_.layers - 1; }
  std::int64_t first_step(const Unit& unit) const { return unit.reverse ? steps_ - 1 : 0; }
  std::int64_t last_step(const Unit& unit) const { return unit.reverse ? 0 : steps_ - 1; }
  std::int64_t before(const Unit& unit, std::int64_t step) const { return unit.reverse ? step + 1 : step - 1; }

  Workspace<T> cut(Cutter<T>& cutter, std::int64_t samples, bool training) const {
    Workspace<T> work;
    const std::int64_t stride = padded(samples), one = spec_.hidden * stride, all = one * steps_;
    for (std::size_t u = 0; u < units_.size(); ++u) {
      work.gates[u] = cutter.take(spec_.gates() * all);
      if (spec_.cell == Cell::lstm) work.c[u] = cutter.take(all);
      if (spec_.cell == Cell::gru && training) work.zh[u] = cutter.take(spec_.gates() * all);
    }
    const std::int64_t own_layers = spec_.all_steps ? spec_.layers - 1 : spec_.layers;  // the others lie in y
    for (std::int64_t l = 0; l < own_layers; ++l) work.h[std::size_t(l)] = cutter.take(spec_.directions() * all);
    work.zh_step = cutter.take(spec_.gates() * one);
    if (!training) return work;
    work.dh = cutter.take(one);
    work.direct = cutter.take(one);
    for (T*& rec : work.rec) rec = cutter.take(one);
    for (T*& dc : work.dc) dc = cutter.take(one);
    if (spec_.layers > 1)
      for (T*& dh_all : work.dh_all) dh_all = cutter.take(spec_.directions() * all);
    work.packed_dz = cutter.take(rows() * steps_ * samples);
    work.packed_x = cutter.take(widest_ * steps_ * samples);
    if (spec_.directions() > 1) work.dx_part = cutter.take(widest_ * steps_ * stride);
    return work;
  }

  Workspace<T> workspace(const LayerViews<T>& v, LayerMemory<T>& memory, bool training) const {
    Cutter<T> cutter(memory.saved.data());
    Workspace<T> work = cut(cutter, v.x.cols, training);
    if (spec_.all_steps) work.h[std::size_t(spec_.layers - 1)] = v.y.data;
    return work;
  }

  /// The rows of a unit's direction, of an activation with those of all directions.
  template <class View>
  View own_rows(const View& matrix, const Unit& unit) const {
    const std::int64_t share = matrix.rows / spec_.directions();
    return matrix.rows_from(unit.reverse ? share : 0, share);
  }
  Steps<T> outputs_of(const Workspace<T>& work, std::size_t u, std::int64_t samples) const {
    const std::int64_t stride = padded(samples), skipped = units_[u].reverse ? spec_.hidden * steps_ * stride : 0;
    return {work.h[std::size_t(units_[u].layer)] + skipped, spec_.hidden, steps_, samples, stride};
  }
  Steps<const T> input_of(const Workspace<T>& work, std::size_t u, const Steps<const T>& x) const {
    if (units_[u].layer == 0) return x;
    return {work.h[std::size_t(units_[u].layer - 1)], outputs(), steps_, x.samples, padded(x.samples)};
  }
  Steps<T> gates_of(const Workspace<T>& work, std::size_t u, std::int64_t samples) const {
    return {work.gates[u], rows(), steps_, samples, padded(samples)};
  }
  /// Of one step: that of all steps, or scratch.
  Matrix<T> zh_of(const Workspace<T>& work, std::size_t u, std::int64_t step, std::int64_t samples) const {
    if (work.zh[u] != nullptr) return Steps<T>{work.zh[u], rows(), steps_, samples, padded(samples)}.at(step);
    return {work.zh_step, rows(), samples, padded(samples)};
  }

  ConstMatrix<T> weight_ih(const LayerViews<T>& v, const Unit& unit) const {
    return dense_matrix(v.parameters[unit.parameter], rows(), unit.in);
  }
  ConstMatrix<T> weight_hh(const LayerViews<T>& v, const Unit& unit) const {
    return dense_matrix(v.parameters[unit.parameter + 1], rows(), spec_.hidden);
  }
  template <class Pointers>
  auto bias(const Pointers& pointers, const Unit& unit, std::size_t which) const {
    using Pointer = typename Pointers::value_type;
    return spec_.bias ? pointers[unit.parameter + 2 + which] : Pointer(nullptr);
  }

  /// States of samples that have ended become `ended`.
  void end(const Pass<T>& pass, std::int64_t step, ConstMatrix<T> ended, Matrix<T> y) const {
    if (pass.lengths != nullptr)
      pass.kernels.end_steps({.step = step, .lengths = pass.lengths, .ended = ended, .y = y}, pass.context);
  }

  /// The rows of a unit's h (0) or c (1) among the carried states; without data where they are.
  template <class View>
  View carried(const View& states_of_all, std::size_t u, std::int64_t which) const {
    if (states_of_all.data == nullptr) return {};
    const std::int64_t first = this->plan().state + (static_cast<std::int64_t>(u) * states() + which) * spec_.hidden;
    return states_of_all.rows_from(first, spec_.hidden);
  }

  void copy_last(const Pass<T>& pass, ConstMatrix<T> h, Matrix<T> y) const {
    const std::array<std::int64_t, 2> bounds = {0, h.cols};
    pass.kernels.pack_steps({.from = h, .steps = 1, .step_stride = h.cols, .slots = {bounds}, .to = y}, pass.context);
  }

  /// The input products of all steps at once, then step by step the product with the state before and the cell.
  void run_unit(const Pass<T>& pass, const LayerViews<T>& v, const Workspace<T>& work, std::size_t u,
                const Steps<const T>& x, const Steps<T>& h) const {
    const Unit& unit = units_[u];
    const std::int64_t samples = x.samples;
    const Steps<T> gates = gates_of(work, u, samples), c{work.c[u], spec_.hidden, steps_, samples, padded(samples)};
    for_all_steps(x, gates, [&](ConstMatrix<T> from, Matrix<T> to) {
      pass.kernels.linear_forward({.x = from, .w = weight_ih(v, unit), .b = bias(v.parameters, unit, 0), .y = to},
                                  pass.context);
    });
    for (std::int64_t k = 0; k < steps_; ++k) {
      const std::int64_t t = unit.reverse ? steps_ - 1 - k : k;
      // Before the first step of a sequence the state is 0: a product without terms.
      const ConstMatrix<T> none{nullptr, 0, samples, padded(samples)};
      const auto at_start = [&](std::int64_t which) {
        return pass.state_before.data == nullptr ? none : carried(pass.state_before, u, which);
      };
      const ConstMatrix<T> h_before = k == 0 ? at_start(0) : h.at(before(unit, t));
      const ConstMatrix<T> w = weight_hh(v, unit);
      const Matrix<T> zh = zh_of(work, u, t, samples);
      pass.kernels.linear_forward(
          {.x = h_before, .w = {w.data, w.rows, h_before.rows, w.stride}, .b = bias(v.parameters, unit, 1), .y = zh},
          pass.context);
      const Matrix<T> z = gates.at(t), state = h.at(t);
      if (spec_.cell == Cell::lstm) {
        const ConstMatrix<T> c_before = k == 0 ? at_start(1) : c.at(before(unit, t));
        pass.kernels.lstm_forward({.zi = z, .zh = zh, .c_before = c_before, .gates = z, .c = c.at(t), .h = state},
                                  pass.context);
        end(pass, t, c_before, c.at(t));
      } else if (spec_.cell == Cell::gru) {
        pass.kernels.gru_forward({.zi = z, .zh = zh, .h_before = h_before, .gates = z, .h = state}, pass.context);
      } else {
        pass.kernels.add({.a = z, .b = zh, .y = z}, pass.context);
        pass.kernels.activation_forward({.kind = activation(), .slope = T(1), .x = z, .y = state}, pass.context);
      }
      end(pass, t, h_before, state);
    }
    if (pass.state_after.data == nullptr) return;
    copy_last(pass, h.at(last_step(unit)), carried(pass.state_after, u, 0));
    if (spec_.cell == Cell::lstm) copy_last(pass, c.at(last_step(unit)), carried(pass.state_after, u, 1));
  }

  ActivationKind activation() const { return spec_.relu ? ActivationKind::relu : ActivationKind::tanh; }

  /// The gradient of the unit's output at a step, from above; without data: none.
  ConstMatrix<T> gradient_from_above(const LayerViews<T>& v, const Workspace<T>& work, const Unit& unit,
                                     std::int64_t step) const {
    if (top(unit) && !spec_.all_steps) return step == last_step(unit) ? own_rows(v.dy, unit) : Matrix<T>{};
    const std::int64_t samples = v.x.cols;
    const Steps<T> all = top(unit)
                             ? Steps<T>{v.dy.data, outputs(), steps_, samples, v.dy.stride}
                             : Steps<T>{work.dh_all[(unit.layer + 1) % 2], outputs(), steps_, samples, padded(samples)};
    return own_rows(all.at(step), unit);
  }

  /// The gates become the gradients of their sums, zh (GRU) those of its own.
  void backward_unit(const Pass<T>& pass, const LayerViews<T>& v, const Workspace<T>& work, std::size_t u) const {
    const Unit& unit = units_[u];
    const std::int64_t samples = v.x.cols, stride = padded(samples);
    const Steps<T> gates = gates_of(work, u, samples), h = outputs_of(work, u, samples);
    const Steps<T> c{work.c[u], spec_.hidden, steps_, samples, stride};
    const auto scratch = [&](T* data) { return Matrix<T>{data, spec_.hidden, samples, stride}; };
    for (std::int64_t k = steps_; k-- > 0;) {
      const std::int64_t t = unit.reverse ? steps_ - 1 - k : k;
      const bool last = k == steps_ - 1, first = k == 0;
      ConstMatrix<T> dh = gradient_from_above(v, work, unit, t);
      const ConstMatrix<T> after = last ? ConstMatrix<T>{} : scratch(work.rec[(k + 1) % 2]);
      if (dh.data == nullptr) {
        dh = after;
      } else if (after.data != nullptr) {
        pass.kernels.add({.a = dh, .b = after, .y = scratch(work.dh)}, pass.context);
        dh = scratch(work.dh);
      }
      const Matrix<T> dz = gates.at(t), rec = scratch(work.rec[k % 2]);
      Matrix<T> dzh = dz;
      if (spec_.cell == Cell::lstm) {
        const ConstMatrix<T> c_before = first ? carried(pass.state_before, u, 1) : c.at(before(unit, t));
        const ConstMatrix<T> dc_after = last ? ConstMatrix<T>{} : scratch(work.dc[(k + 1) % 2]);
        const Matrix<T> dc = scratch(work.dc[k % 2]);
        pass.kernels.lstm_backward({.gates = dz,
                                    .c = c.at(t),
                                    .c_before = c_before,
                                    .dh = dh,
                                    .dc_after = dc_after,
                                    .dz = dz,
                                    .dc_before = dc},
                                   pass.context);
        end(pass, t, dc_after, dc);
      } else if (spec_.cell == Cell::gru) {
        dzh = zh_of(work, u, t, samples);
        pass.kernels.gru_backward({.gates = dz,
                                   .zh = dzh,
                                   .h_before = first ? carried(pass.state_before, u, 0) : h.at(before(unit, t)),
                                   .dh = dh,
                                   .dzi = dz,
                                   .dzh = dzh,
                                   .dh_before = scratch(work.direct)},
                                  pass.context);
        end(pass, t, {}, dzh);
      } else {
        pass.kernels.activation_backward(
            {.kind = activation(), .slope = T(1), .x = h.at(t), .y = h.at(t), .dy = dh, .dx = dz}, pass.context);
      }
      end(pass, t, {}, dz);
      if (first) break;
      pass.kernels.linear_backward_data({.w = weight_hh(v, unit), .dy = dzh, .dx = rec}, pass.context);
      if (spec_.cell == Cell::gru) pass.kernels.add({.a = rec, .b = scratch(work.direct), .y = rec}, pass.context);
      end(pass, t, dh, rec);
    }
  }

  void backward_weights(const Pass<T>& pass, const LayerViews<T>& v, const Workspace<T>& work, std::size_t u,
                        const Steps<const T>& x) const {
    const Unit& unit = units_[u];
    if (v.gradients[unit.parameter] == nullptr) return;
    const StepSlots slots(pass.slots, steps_);
    const auto product = [&](ConstMatrix<T> from, ConstMatrix<T> dy, std::size_t which) {
      pass.kernels.linear_backward_weights({.x = from,
                                            .dy = dy,
                                            .slots = slots.slots(),
                                            .dw = dense_matrix(v.gradients[unit.parameter + which], rows(), from.rows),
                                            .db = bias(v.gradients, unit, which)},
                                           pass.context);
    };
    const Steps<T> h = outputs_of(work, u, x.samples);
    ConstMatrix<T> dz = packed_steps<T>(pass, gates_of(work, u, x.samples), 0, work.packed_dz);
    product(packed_steps(pass, x, 0, work.packed_x), dz, 0);
    if (work.zh[u] != nullptr)
      dz = packed_steps<T>(pass, Steps<T>{work.zh[u], rows(), steps_, x.samples, padded(x.samples)}, 0, work.packed_dz);
    const ConstMatrix<T> before_each = packed_steps<T>(pass, h, unit.reverse ? 1 : -1, work.packed_x);
    pack_carried(pass, carried(pass.state_before, u, 0),
                 {work.packed_x, before_each.rows, before_each.cols, before_each.stride});
    product(before_each, dz, 1);
  }

  /// The states before the first step, in their places among the packed ones.
  void pack_carried(const Pass<T>& pass, ConstMatrix<T> state, Matrix<T> packed) const {
    if (state.data == nullptr) return;
    for (std::int64_t slot = 0; slot < pass.slots.count(); ++slot) {
      const std::int64_t first = pass.slots.begin(slot), size = pass.slots.size(slot);
      if (size == 0) continue;
      copy_last(pass, {state.data + first, state.rows, size, state.stride},
                {packed.data + first * steps_, packed.rows, size, packed.stride});
    }
  }

  /// The second direction comes first and waits in dx; the first one adds itself in front.
  void backward_data(const Pass<T>& pass, const LayerViews<T>& v, const Workspace<T>& work, std::size_t u,
                     const Steps<T>& dx) const {
    const Unit& unit = units_[u];
    const bool adds = spec_.directions() > 1 && !unit.reverse;
    const Steps<T> own = adds ? Steps<T>{work.dx_part, dx.rows, steps_, dx.samples, padded(dx.samples)} : dx;
    const Steps<const T> dz = gates_of(work, u, dx.samples);
    for_all_steps(dz, own, [&](ConstMatrix<T> from, Matrix<T> to) {
      pass.kernels.linear_backward_data({.w = weight_ih(v, unit), .dy = from, .dx = to}, pass.context);
    });
    if (adds)
      for_all_steps(Steps<const T>(own), dx, [&](ConstMatrix<T> from, Matrix<T> to) {
        pass.kernels.add({.a = from, .b = to, .y = to}, pass.context);
      });
  }

  RecurrentSpec spec_;
  std::int64_t steps_, widest_;
  std::vector<Unit> units_;
};

}  // namespace

// NOLINTBEGIN(bugprone-macro-parentheses): the name of a record takes none
#define LOCKSTEP_MAKE_RECURRENT(record)                                 \
  template <class T>                                                    \
  std::unique_ptr<Layer<T>> record::make(const LayerPlan& plan) const { \
    return std::make_unique<RecurrentLayer<T>>(plan, spec_of(*this));   \
  }                                                                     \
  LOCKSTEP_INSTANTIATE_LAYER(record);
// NOLINTEND(bugprone-macro-parentheses)
LOCKSTEP_MAKE_RECURRENT(Lstm)
LOCKSTEP_MAKE_RECURRENT(Gru)
LOCKSTEP_MAKE_RECURRENT(Rnn)

}  // namespace lockstep
