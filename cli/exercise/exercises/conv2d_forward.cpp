#include "cli/exercise/exercises/chains.hpp"
#include "cli/exercise/exercises/list.hpp"
#include "cli/exercise/exercises/rows.hpp"
#include "lockstep/kernels/naive/table.hpp"
#include "lockstep/kernels/simd/table.hpp"

namespace lockstep::cli {

namespace conv2d_forward_parts {

using Index = std::int64_t;

struct ConvArgs {
  Index in_channels, in_height, in_width, out_channels, kernel_h, kernel_w, stride, pad, samples;
  const float *x, *w, *b;
  float* y;

  Index out_height() const { return (in_height + 2 * pad - kernel_h) / stride + 1; }
  Index out_width() const { return (in_width + 2 * pad - kernel_w) / stride + 1; }
  Index taps() const { return in_channels * kernel_h * kernel_w; }
  Index pixels() const { return out_height() * out_width(); }
};

Conv2dForward<float> kernel_args(const ConvArgs& a, Index first, Index count) {
  return {.geometry = {.in_channels = a.in_channels,
                       .in_height = a.in_height,
                       .in_width = a.in_width,
                       .out_channels = count,
                       .kernel_h = a.kernel_h,
                       .kernel_w = a.kernel_w,
                       .stride_h = a.stride,
                       .stride_w = a.stride,
                       .pad_h = a.pad,
                       .pad_w = a.pad},
          .x = dense_matrix(a.x, a.in_channels * a.in_height * a.in_width, a.samples),
          .w = a.w + first * a.taps(),
          .b = a.b == nullptr ? nullptr : a.b + first,
          .y = dense_matrix(a.y + first * a.pixels() * a.samples, count * a.pixels(), a.samples)};
}

/// Where result r and tap k meet: output channel, place in the image.
struct Meeting {
  Index oc, oy, ox, s, ic, ky, kx, iy, ix;
  Meeting(const ConvArgs& a, Index r, Index k)
      : oc(r / a.samples / a.pixels()),
        oy(r / a.samples / a.out_width() % a.out_height()),
        ox(r / a.samples % a.out_width()),
        s(r % a.samples),
        ic(k / (a.kernel_h * a.kernel_w)),
        ky(k / a.kernel_w % a.kernel_h),
        kx(k % a.kernel_w),
        iy(oy * a.stride + ky - a.pad),
        ix(ox * a.stride + kx - a.pad) {}
  bool inside(const ConvArgs& a) const { return iy >= 0 && iy < a.in_height && ix >= 0 && ix < a.in_width; }
};

ChainTerm term_at(const ConvArgs& a, const Meeting& m, Index weight) {
  if (!m.inside(a)) return {0, 0, false};
  return {a.w[m.oc * a.taps() + weight], a.x[((m.ic * a.in_height + m.iy) * a.in_width + m.ix) * a.samples + m.s]};
}

const SumChain<ConvArgs> kConvChain = {
    .results = [](const ConvArgs& a) { return a.out_channels * a.pixels() * a.samples; },
    .result = [](const ConvArgs& a, Index r) { return a.y + r; },
    .terms = [](const ConvArgs& a) { return a.taps(); },
    .term = [](const ConvArgs& a, Index r, Index k) { return term_at(a, Meeting(a, r, k), k); },
    .start = [](const ConvArgs& a, Index r) { return a.b == nullptr ? 0.0F : a.b[r / a.samples / a.pixels()]; }};

/// All results as chains of `term(r, k)`.
template <class Term>
void chains_of(const ConvArgs& a, const Term& term) {
  for (Index r = 0; r < kConvChain.results(a); ++r) {
    float sum = kConvChain.start(a, r);
    for (Index k = 0; k < a.taps(); ++k)
      if (const ChainTerm t = term(r, k); t.inside) sum = __builtin_fmaf(t.left, t.right, sum);
    a.y[r] = sum;
  }
}

bool legal(const CaseShape& s) {
  return s[6] >= 1 && s[7] >= 0 && s[4] >= 1 && s[5] >= 1 && s[1] + 2 * s[7] >= s[4] && s[2] + 2 * s[7] >= s[5] &&
         s[7] < s[4] && s[7] < s[5];
}

constexpr const char* kConvTask =
    R"(A convolution of pictures with small kernels (cross-correlation, as in every deep-learning library):

    y[oc, oy, ox, s] = b[oc] + sum over ic, ky, kx of w[oc, ic, ky, kx] * x[ic, iy, ix, s]
        with iy = oy * stride + ky - pad, ix = ox * stride + kx - pad

    x: [in_channels, in_height, in_width, samples]   w: [out_channels, in_channels, kernel_h, kernel_w]
    b: [out_channels], or null: then 0               y: [out_channels, out_height, out_width, samples]
    out_height = (in_height + 2 pad - kernel_h) / stride + 1, rounded down; out_width likewise

Taps outside of the picture are skipped, not multiplied by zero.

**The order is part of the task.** Each y is one chain, from b[oc] (or 0), over (ic, ky, kx), ascending, kx fastest:
sum = fmaf(w, x, sum). The samples are contiguous: neighbours in memory are independent results.)";

}  // namespace conv2d_forward_parts

Exercise conv2d_forward_exercise() {
  using namespace conv2d_forward_parts;
  ExerciseOf<ConvArgs> e("conv2d-forward", "conv2d_forward");
  e.record.title = "A convolution, forward";
  e.record.teaches = "Windows over pictures, padding at the edges, numbers that are used many times.";
  e.record.needs = {"linear-forward"};
  e.record.tracks = {"cpp", "simd", "openmp", "opencl", "cuda", "python"};
  e.record.task = kConvTask;
  e.size("in_channels", &ConvArgs::in_channels, "of the picture");
  e.size("in_height", &ConvArgs::in_height, "of the picture");
  e.size("in_width", &ConvArgs::in_width, "of the picture");
  e.size("out_channels", &ConvArgs::out_channels, "kernels");
  e.size("kernel_h", &ConvArgs::kernel_h, "rows of a kernel");
  e.size("kernel_w", &ConvArgs::kernel_w, "columns of a kernel");
  e.size("stride", &ConvArgs::stride, "steps of the window, in both directions");
  e.size("pad", &ConvArgs::pad, "rows and columns of padding on every side");
  e.size("samples", &ConvArgs::samples, "pictures of the batch");
  e.input(
      "x", &ConvArgs::x,
      [](const ConvArgs& a) {
        return Dims{a.in_channels, a.in_height, a.in_width, a.samples};
      },
      "[in_channels, in_height, in_width, samples]");
  e.input(
      "w", &ConvArgs::w,
      [](const ConvArgs& a) {
        return Dims{a.out_channels, a.in_channels, a.kernel_h, a.kernel_w};
      },
      "[out_channels, in_channels, kernel_h, kernel_w]");
  e.input(
       "b", &ConvArgs::b, [](const ConvArgs& a) { return Dims{a.out_channels}; }, "[out_channels]")
      .optional = true;
  e.output(
      "y", &ConvArgs::y,
      [](const ConvArgs& a) {
        return Dims{a.out_channels, a.out_height(), a.out_width(), a.samples};
      },
      "[out_channels, out_height, out_width, samples]");
  e.record.legal = legal;
  //                  ic  ih  iw  oc  kh kw st pad samples
  e.record.shapes = {{1, 1, 1, 1, 1, 1, 1, 0, 1},   {1, 5, 7, 1, 3, 3, 1, 0, 1},  {1, 5, 7, 2, 3, 3, 1, 1, 3},
                     {2, 7, 5, 3, 3, 2, 1, 1, 17},  {3, 8, 9, 2, 2, 5, 2, 1, 16}, {1, 13, 11, 1, 11, 11, 1, 0, 1},
                     {2, 6, 6, 4, 5, 5, 1, 2, 15},  {1, 9, 17, 1, 3, 3, 3, 0, 5}, {4, 3, 3, 5, 3, 3, 1, 1, 33},
                     {1, 4, 4, 1, 3, 3, 1, 1, 0},   {1, 4, 4, 0, 3, 3, 1, 1, 2},  {1, 31, 33, 1, 7, 7, 2, 3, 1},
                     {3, 10, 12, 6, 5, 5, 1, 2, 8}, {5, 6, 7, 7, 1, 1, 1, 0, 13}, {2, 17, 16, 3, 4, 3, 2, 2, 9}};
  e.record.timed = {1, 360, 640, 1, 11, 11, 1, 0, 1};
  e.oracle([](const ConvArgs& a) {
    KernelContext context;
    make_naive_table<float>().conv2d_forward(kernel_args(a, 0, a.out_channels), context);
  });
  e.fast([](const ConvArgs& a, int threads) {
    static const auto table = make_simd_table<float>();
    // Rows of the output are independent too: a band of them is a convolution of a band of the picture (without
    // padding).
    if (a.pad > 0 || a.out_channels >= threads || a.in_channels > 1)
      return share_rows(a.out_channels, threads, [&](Index first, Index count, KernelContext& context) {
        table.conv2d_forward(kernel_args(a, first, count), context);
      });
    share_rows(a.out_height(), threads, [&](Index first, Index count, KernelContext& context) {
      ConvArgs band = a;
      band.in_height = (count - 1) * a.stride + a.kernel_h;
      band.x = a.x + first * a.stride * a.in_width * a.samples;
      for (Index oc = 0; oc < a.out_channels; ++oc) {
        band.y = a.y + (oc * a.out_height() + first) * a.out_width() * a.samples;
        Conv2dForward<float> args = kernel_args(band, 0, 1);
        args.w = a.w + oc * a.taps();
        args.b = a.b == nullptr ? nullptr : a.b + oc;
        table.conv2d_forward(args, context);
      }
    });
  });
  e.cost([](const ConvArgs& a) {
    return conv2d_cost(kernel_args(a, 0, a.out_channels).geometry, a.samples, sizeof(float));
  });
  e.terms([](const ConvArgs& a) { return a.taps() + 1; });
  add_chain_mistakes(e, kConvChain);
  e.mistake("flipped",
            "The kernel is flipped: a convolution of signal processing. Here w[ky, kx] meets x[oy + ky, ox + kx].",
            [](const ConvArgs& a) {
              chains_of(a, [&](Index r, Index k) {
                const Meeting m(a, r, k);
                const Index window = a.kernel_h * a.kernel_w;
                return term_at(a, m, m.ic * window + window - 1 - k % window);
              });
            });
  e.mistake("no-padding", "The padding is ignored: the window begins at the first pixel, not pad pixels before it.",
            [](const ConvArgs& a) {
              chains_of(a, [&](Index r, Index k) {
                Meeting m(a, r, k);
                m.iy += a.pad;
                m.ix += a.pad;
                return term_at(a, m, k);
              });
            });
  e.mistake("no-stride", "The stride is ignored: windows lie one pixel apart.", [](const ConvArgs& a) {
    chains_of(a, [&](Index r, Index k) {
      Meeting m(a, r, k);
      m.iy = m.oy + m.ky - a.pad;
      m.ix = m.ox + m.kx - a.pad;
      return term_at(a, m, k);
    });
  });
  e.mistake("edge-repeated", "Outside of the picture you repeat its edge; taps there are skipped.",
            [](const ConvArgs& a) {
              chains_of(a, [&](Index r, Index k) {
                Meeting m(a, r, k);
                m.iy = std::clamp<Index>(m.iy, 0, std::max<Index>(a.in_height - 1, 0));
                m.ix = std::clamp<Index>(m.ix, 0, std::max<Index>(a.in_width - 1, 0));
                return term_at(a, m, k);
              });
            });
  e.mistake("first-channel", "Every sum uses the first input channel only.", [](const ConvArgs& a) {
    chains_of(a, [&](Index r, Index k) {
      const Meeting m(a, r, k);
      return m.ic > 0 ? ChainTerm{0, 0, false} : term_at(a, m, k);
    });
  });
  e.mistake("kernel-transposed", "Rows and columns of the kernel are exchanged.", [](const ConvArgs& a) {
    chains_of(a, [&](Index r, Index k) {
      const Meeting m(a, r, k);
      return term_at(a, m, m.ic * a.kernel_h * a.kernel_w + m.kx * a.kernel_h + m.ky);
    });
  });
  return std::move(e.record);
}

}  // namespace lockstep::cli
