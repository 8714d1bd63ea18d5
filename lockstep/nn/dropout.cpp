#include "lockstep/nn/dropout.hpp"

#include "lockstep/nn/layer.hpp"
#include "lockstep/nn/onnx.hpp"

namespace lockstep {

namespace {

/// Training: y = keep ? x / (1 - p) : 0, and the same on dy. Inference: y = x.
template <class T>
class DropoutLayer : public Layer<T> {
 public:
  explicit DropoutLayer(const LayerPlan& plan) : Layer<T>(plan), p_(std::get<Dropout>(plan.spec.kind).p) {}

  bool in_place() const override { return true; }

  Sharing sharing() const override { return Sharing::by_channel; }

  void forward(const Pass<T>& pass, const LayerViews<T>& v, LayerMemory<T>&) const override {
    if (pass.training && p_ > 0)
      apply(pass, v.out, v.x, v.y);
    else if (v.x.data != v.y.data)
      copy_rows(pass, v.x, v.y);
  }

  void backward(const Pass<T>& pass, const LayerViews<T>& v, LayerMemory<T>&) const override {
    if (v.dx.data == nullptr) return;
    if (p_ > 0)
      apply(pass, v.out, v.dy, v.dx);
    else if (v.dx.data != v.dy.data)
      copy_rows(pass, ConstMatrix<T>(v.dy), v.dx);
  }

  Cost own_forward_cost(std::int64_t samples) const override {
    return dropout_cost(this->plan().in.elements(), samples, sizeof(T));
  }

 private:
  /// One block of random words serves kDropoutRows rows. The kernel begins with a whole block: rows before those of the
  /// views may be spoilt.
  void apply(const Pass<T>& pass, const Channels& channels, ConstMatrix<T> x, Matrix<T> y) const {
    const std::int64_t first_row = channels.first * (this->plan().in.elements() / this->plan().in[0]);
    const std::int64_t before = first_row % kDropoutRows;
    const RandomKey key{.seed = pass.seed, .purpose = Purpose::dropout, .epoch = pass.epoch, .layer = this->plan().id};
    pass.kernels.dropout_apply({.key = key,
                                .sample_ids = pass.sample_ids,
                                .first_row = first_row - before,
                                .p = p_,
                                .x = x.rows_from(-before, x.rows + before),
                                .y = y.rows_from(-before, y.rows + before)},
                               pass.context);
  }

  double p_;
};

}  // namespace

void Dropout::plan(LayerPlan& plan, const Init&) const {
  require(plan, p >= 0 && p < 1, "p must be at least 0 and below 1");
}

/// Inference leaves it out.
std::string Dropout::onnx(OnnxBuilder&, const LayerPlan&, const std::string& x) const { return x; }

LOCKSTEP_MAKE_LAYER(Dropout, DropoutLayer);

}  // namespace lockstep
