#include "lockstep/nn/dropout.hpp"

#include "lockstep/kernels/dropout.hpp"

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

  void forward(const Pass<T>& pass, ConstMatrix<T> x, LayerMemory<T>& memory) const override {
    const Channels own = this->own_channels(pass);
    apply(pass, pass.training ? p_ : 0, own, x, memory.y);
  }

  void backward(const Pass<T>& pass, ConstMatrix<T>, LayerMemory<T>&, Matrix<T> dy, Matrix<T> dx) const override {
    if (dx.data != nullptr) apply(pass, p_, this->held_channels(), dy, dx);
  }

  Cost forward_cost(std::int64_t samples) const override {
    return this->share_of_work() * dropout_cost(this->plan().in.elements(), samples, sizeof(T));
  }
  Cost backward_cost(std::int64_t samples, bool data) const override { return data ? forward_cost(samples) : Cost{}; }

 private:
  void apply(const Pass<T>& pass, double p, const Channels& own, ConstMatrix<T> x, Matrix<T> y) const {
    const std::int64_t pixels = this->plan().in.elements() / this->plan().in[0], end = (own.first + own.count) * pixels;
    const std::int64_t first = own.first * pixels / kDropoutRows * kDropoutRows;  // rows before our own may be spoilt
    x = x.rows_from(first, end - first);
    y = y.rows_from(first, end - first);
    if (p == 0) {
      if (x.data != y.data) copy_rows(pass, x, y);
      return;
    }
    const RandomKey key{.seed = pass.seed, .purpose = Purpose::dropout, .epoch = pass.epoch, .layer = this->plan().id};
    pass.kernels.dropout_apply({.key = key, .sample_ids = pass.sample_ids, .first_row = first, .p = p, .x = x, .y = y},
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

template <class T>
std::unique_ptr<Layer<T>> Dropout::make(const LayerPlan& plan) const {
  return std::make_unique<DropoutLayer<T>>(plan);
}

LOCKSTEP_INSTANTIATE_LAYER(Dropout);

}  // namespace lockstep
