// The whole of Lockstep on one page: trains LeNet-5 with Adam by the definitions of docs/numerics.md, in plain loops,
// and prints, for any number of threads, the weight hash of
//   lockstep train examples/lenet5-fashion.toml --set train.epochs=EPOCHS --set data.limit=SAMPLES
// The hashes are equal because the order of every sum is defined: this file shares no line with Lockstep.
//
//   c++ -std=c++20 -O3 -march=native -ffp-contract=off -pthread examples/reference_trainer.cpp -o reference_trainer
//   gunzip -k train-images-idx3-ubyte.gz train-labels-idx1-ubyte.gz
//   ./reference_trainer train-images-idx3-ubyte train-labels-idx1-ubyte [EPOCHS=1] [SAMPLES=all] [THREADS=1]

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using Values = std::vector<float>;

// ---- The network ----

/// A convolution: x [in, size, size], w [out, in, kernel, kernel], b [out], y [out, out_size, out_size]. A linear layer
/// is one on a single pixel. One vector has all parameters, layer after layer, weights before biases, from `first`.
struct Layer {
  int in, size, out, kernel, pad, first;
  constexpr int taps() const { return in * kernel * kernel; }
  constexpr int biases() const { return first + out * taps(); }
  constexpr int end() const { return biases() + out; }
  constexpr int out_size() const { return size + 2 * pad - kernel + 1; }
  constexpr int weight(int o, int i, int y, int x) const { return first + ((o * in + i) * kernel + y) * kernel + x; }
  constexpr int pixel(int ic, int iy, int ix) const { return (ic * size + iy) * size + ix; }
  constexpr int output(int oc, int oy, int ox) const { return (oc * out_size() + oy) * out_size() + ox; }
};

bool inside(int y, int x, int size) { return y >= 0 && y < size && x >= 0 && x < size; }

constexpr Layer kConv1{1, 28, 6, 5, 2, 0};                   // 6 maps of 28 x 28; ReLU; pooled to 14 x 14
constexpr Layer kConv2{6, 14, 16, 5, 0, kConv1.end()};       // 16 maps of 10 x 10; ReLU; pooled to 5 x 5
constexpr Layer kLinear1{400, 1, 120, 1, 0, kConv2.end()};   // ReLU
constexpr Layer kLinear2{120, 1, 84, 1, 0, kLinear1.end()};  // ReLU
constexpr Layer kLinear3{84, 1, 10, 1, 0, kLinear2.end()};   // ten classes
constexpr std::array kLayers{kConv1, kConv2, kLinear1, kLinear2, kLinear3};
constexpr int kConvs = 2, kLast = 4, kPixels = 28 * 28, kLanes = 16, kBatch = 64, kSlots = 4;
constexpr int kConvParameters = kConv2.end(), kParameters = kLinear3.end();

// ---- Random numbers ----
// Philox4x32-10: a number depends on what it is for (seed, purpose, epoch, tensor, element), never on who draws it.
enum Purpose : u32 { kInit = 1, kShuffle = 2 };
constexpr u32 kSeed = 1;

std::array<u32, 4> philox(std::array<u32, 4> c, u32 key0, u32 key1) {
  for (int round = 0; round < 10; ++round, key0 += 0x9E3779B9U, key1 += 0xBB67AE85U) {
    const u64 p0 = u64{0xD2511F53U} * c[0], p1 = u64{0xCD9E8D57U} * c[2];
    c = {u32(p1 >> 32) ^ c[1] ^ key0, u32(p1), u32(p0 >> 32) ^ c[3] ^ key1, u32(p0)};
  }
  return c;
}

/// Element e of a stream of 64-bit numbers; two come from one block of Philox.
u64 random_bits(Purpose purpose, u32 epoch, u32 tensor, u64 e) {
  const auto words = philox({u32(e / 2), 0, epoch << 8, purpose << 24 | tensor << 8}, kSeed, 0);
  return u64{words[e % 2 * 2]} << 32 | words[e % 2 * 2 + 1];
}

/// The order of an epoch: Fisher-Yates from the last place down.
std::vector<int> shuffled(int count, int epoch) {
  std::vector<int> order(count);
  for (int i = 0; i < count; ++i) order[i] = i;
  for (u64 i = order.size(); i-- > 1;) {
    const u64 bits = random_bits(kShuffle, epoch, 0, i), low = (bits & 0xFFFFFFFFU) * (i + 1) >> 32;
    std::swap(order[i], order[((bits >> 32) * (i + 1) + low) >> 32]);  // floor(bits * (i + 1) / 2^64)
  }
  return order;
}

/// "he-uniform": uniform in +-sqrt(6 / fan_in), drawn in double and rounded once. Biases start at 0. Tensors are
/// numbered weights 0, biases 1, weights 2, ...
Values initial_weights() {
  Values w(kParameters);
  for (int n = 0; n <= kLast; ++n)
    for (int first = kLayers[n].first, i = first; i < kLayers[n].biases(); ++i) {
      const double uniform = double(random_bits(kInit, 0, 2 * n, i - first) >> 11) * 0x1p-53;
      w[i] = float((2 * uniform - 1) * std::sqrt(6.0 / kLayers[n].taps()));
    }
  return w;
}

// ---- Layers ----

/// Each y is one chain of fused multiply-adds over (ic, ky, kx), ascending, from the bias. Taps in the padding are
/// skipped, not multiplied by zero.
void forward(const Layer& l, const Values& w, const Values& x, Values& y) {
  for (int oc = 0; oc < l.out; ++oc)
    for (int oy = 0; oy < l.out_size(); ++oy)
      for (int ox = 0; ox < l.out_size(); ++ox) {
        float sum = w[l.biases() + oc];
        for (int ic = 0; ic < l.in; ++ic)
          for (int ky = 0; ky < l.kernel; ++ky)
            for (int kx = 0; kx < l.kernel; ++kx)
              if (const int iy = oy + ky - l.pad, ix = ox + kx - l.pad; inside(iy, ix, l.size))
                sum = std::fma(w[l.weight(oc, ic, ky, kx)], x[l.pixel(ic, iy, ix)], sum);
        y[l.output(oc, oy, ox)] = sum;
      }
}

/// Each dx is one chain over (oc, ky, kx), ascending, from 0.
void backward_data(const Layer& l, const Values& w, const Values& dy, Values& dx) {
  for (int ic = 0; ic < l.in; ++ic)
    for (int iy = 0; iy < l.size; ++iy)
      for (int ix = 0; ix < l.size; ++ix) {
        float sum = 0;
        for (int oc = 0; oc < l.out; ++oc)
          for (int ky = 0; ky < l.kernel; ++ky)
            for (int kx = 0; kx < l.kernel; ++kx)
              if (const int oy = iy + l.pad - ky, ox = ix + l.pad - kx; inside(oy, ox, l.out_size()))
                sum = std::fma(w[l.weight(oc, ic, ky, kx)], dy[l.output(oc, oy, ox)], sum);
        dx[l.pixel(ic, iy, ix)] = sum;
      }
}

/// Each dw and db goes on with the chain of its lane: one more sample, pixels (oy, ox) ascending.
void backward_weights(const Layer& l, const Values& x, const Values& dy, float* lane) {
  for (int oc = 0; oc < l.out; ++oc) {
    for (int ic = 0; ic < l.in; ++ic)
      for (int ky = 0; ky < l.kernel; ++ky)
        for (int kx = 0; kx < l.kernel; ++kx) {
          float& sum = lane[l.weight(oc, ic, ky, kx)];
          for (int oy = 0; oy < l.out_size(); ++oy)
            for (int ox = 0; ox < l.out_size(); ++ox)
              if (const int iy = oy + ky - l.pad, ix = ox + kx - l.pad; inside(iy, ix, l.size))
                sum = std::fma(dy[l.output(oc, oy, ox)], x[l.pixel(ic, iy, ix)], sum);
        }
    for (int p = l.output(oc, 0, 0); p < l.output(oc + 1, 0, 0); ++p) lane[l.biases() + oc] += dy[p];
  }
}

/// Max pooling, 2 x 2: for each window the index of its largest input, the first of equals.
std::vector<int> max_pool(int maps, int size, const Values& x) {
  std::vector<int> chosen;
  for (int row = 0; row < maps * size; row += 2)
    for (int i = row * size; i < (row + 1) * size; i += 2) {
      chosen.push_back(i);
      for (const int tap : {i + 1, i + size, i + size + 1})
        if (x[tap] > x[chosen.back()]) chosen.back() = tap;
    }
  return chosen;
}

/// e^x as Lockstep defines it: x = n ln 2 + r with ln 2 in two pieces, a polynomial in r, one fixed order.
float exponential(float x) {
  x = std::clamp(x, -105.0F, 89.0F);
  constexpr float kRound = 0x1.8p23F + 254.0F;
  const float shifted = std::fma(x, 0x1.715476p+0F, kRound), n = shifted - kRound;
  const float r = std::fma(n, -0x1.7f7d1cp-20F, std::fma(n, -0x1.62e4p-1F, x));
  float tail = 0x1.6ac74ep-10F;
  for (const float c : {0x1.123de0p-7F, 0x1.555858p-5F, 0x1.55548cp-3F, 0x1.fffffcp-2F}) tail = std::fma(tail, r, c);
  const u32 exponent = std::bit_cast<u32>(shifted), half = exponent >> 1, rest = exponent - half;
  return (1 + std::fma(r * r, tail, r)) * std::bit_cast<float>(half << 23) * std::bit_cast<float>(rest << 23);
}

/// The gradient of the mean loss over a batch of 1 / scale samples: softmax minus one-hot label.
Values cross_entropy_backward(const Values& z, int label, float scale) {
  const float largest = *std::max_element(z.begin(), z.end());
  Values dz(z.size());
  float sum = 0;
  for (const float v : z) sum = sum + exponential(v - largest);
  for (int k = 0; k < int(z.size()); ++k) {
    const float p = exponential(z[k] - largest) / sum;
    dz[k] = scale * (k == label ? p - 1 : p);
  }
  return dz;
}

// ---- A slot: the unit of parallel work ----

struct Data {
  std::vector<std::uint8_t> pixels, labels;
};

/// The gradient of a slot is a fixed function of its samples: linear layers add them in one chain; convolutions in 16
/// virtual lanes (sample mod 16), which a fixed tree adds up.
struct Slot {
  Values sum = Values(kParameters), lanes = Values(kLanes * kConvParameters);
  int correct = 0;
};

/// Adds the gradient of one sample to its lanes. True if the network knew the label.
bool add_sample(const Data& data, int id, const Values& w, float scale, float* conv_lane, float* linear_lane) {
  Values x[kLast + 1], y[kLast + 1];   // what goes into each layer, and what comes out of its ReLU
  std::vector<int> chosen[kLast + 1];  // by the pooling behind it
  for (int i = 0; i < kPixels; ++i) x[0].push_back(float(data.pixels[id * kPixels + i]) * float(1.0 / 255.0));
  for (int n = 0; n <= kLast; ++n) {
    const Layer& l = kLayers[n];
    y[n].resize(l.output(l.out, 0, 0));
    forward(l, w, x[n], y[n]);
    if (n == kLast) break;
    for (float& v : y[n]) v = v > 0 ? v : 0;
    if (n < kConvs) chosen[n] = max_pool(l.out, l.out_size(), y[n]);
    for (const int i : chosen[n]) x[n + 1].push_back(y[n][i]);
    if (n >= kConvs) x[n + 1] = y[n];
  }
  Values dy = cross_entropy_backward(y[kLast], data.labels[id], scale);
  for (int n = kLast;; --n) {
    backward_weights(kLayers[n], x[n], dy, n < kConvs ? conv_lane : linear_lane);
    if (n == 0) break;
    Values dx(x[n].size());
    backward_data(kLayers[n], w, dy, dx);
    dy.assign(y[n - 1].size(), 0);
    for (std::size_t i = 0; i < chosen[n - 1].size(); ++i) dy[chosen[n - 1][i]] += dx[i];
    if (n > kConvs) dy = dx;
    for (std::size_t i = 0; i < dy.size(); ++i) dy[i] = y[n - 1][i] > 0 ? dy[i] : 0;
  }
  const Values& z = y[kLast];
  return std::max_element(z.begin(), z.end()) - z.begin() == data.labels[id];
}

void run_slot(const Data& data, const int* ids, int count, const Values& w, float scale, Slot& slot) {
  slot = {};
  for (int j = 0; j < count; ++j)
    slot.correct += add_sample(data, ids[j], w, scale, &slot.lanes[j % kLanes * kConvParameters], slot.sum.data());
  for (int half = kLanes / 2; half > 0; half /= 2)  // lane l += lane l + 8, then + 4, + 2, + 1
    for (int i = 0; i < half * kConvParameters; ++i) slot.lanes[i] += slot.lanes[i + half * kConvParameters];
  std::copy_n(slot.lanes.begin(), kConvParameters, slot.sum.begin());
}

// ---- Training ----

/// Where slot k of a batch begins: slots are cut in units of 16 samples, of fewer in a small last batch.
int slot_begin(int samples, int k) {
  const int unit = std::min<int>(std::bit_floor(unsigned(std::max(samples / kSlots, 1))), kLanes);
  return std::min(samples, (samples + unit - 1) / unit * k / kSlots * unit);
}

double power(double base, int n) {  // by squaring: the order of the products is part of the definition
  double result = 1;
  for (; n > 0; n /= 2, base *= base)
    if (n % 2 == 1) result *= base;
  return result;
}

struct Adam {
  Values m = Values(kParameters), v = Values(kParameters);
  int steps = 0;
  void step(const Values& gradient, Values& w) {
    const float beta1 = 0.9F, beta2 = 0.999F, rate = float(1e-3 / (1 - power(0.9, ++steps)));
    const float inv_root2 = float(1 / std::sqrt(1 - power(0.999, steps)));
    for (int i = 0; i < kParameters; ++i) {
      const float g = gradient[i];
      m[i] = std::fma(1 - beta1, g, beta1 * m[i]);
      v[i] = std::fma((1 - beta2) * g, g, beta2 * v[i]);
      w[i] = std::fma(-rate, m[i] / std::fma(std::sqrt(v[i]), inv_root2, 1e-8F), w[i]);
    }
  }
};

/// One epoch; the number of samples that the network knew before their step.
int train_epoch(const Data& data, const std::vector<int>& order, int threads, Values& w, Adam& adam) {
  std::vector<Slot> slots(kSlots);
  int correct = 0;
  for (int first = 0; first < int(order.size()); first += kBatch) {
    const int samples = std::min(kBatch, int(order.size()) - first);
    const auto work = [&](int thread) {  // any thread may take any slot
      for (int k = thread; k < kSlots; k += threads) {
        const int begin = slot_begin(samples, k), count = slot_begin(samples, k + 1) - begin;
        run_slot(data, &order[first] + begin, count, w, 1.0F / float(samples), slots[k]);
      }
    };
    std::vector<std::jthread> team;
    for (int t = 1; t < threads; ++t) team.emplace_back(work, t);
    work(0);
    team.clear();  // joins
    for (const Slot& slot : slots) correct += slot.correct;
    for (int apart = 1; apart < kSlots; apart *= 2)  // the tree over slots: node = left + right
      for (int k = 0; k < kSlots; k += 2 * apart)
        for (int i = 0; i < kParameters; ++i) slots[k].sum[i] += slots[k + apart].sum[i];
    adam.step(slots[0].sum, w);
  }
  return correct;
}

// ---- Files, the hash, main ----

std::vector<std::uint8_t> read_idx(const char* path, std::size_t header) {
  std::ifstream file(path, std::ios::binary);
  std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
  if (bytes.size() < header || bytes[2] != 8 || bytes[3] != header / 4 - 1)
    throw std::runtime_error(std::string(path) + ": not an unpacked IDX file of bytes");
  bytes.erase(bytes.begin(), bytes.begin() + std::ptrdiff_t(header));
  return bytes;
}

/// SHA-256. Its constants are the first 32 bits of the fractional parts of roots of primes.
std::string sha256(std::string text) {
  std::array<u32, 64> k{}, w{};
  std::array<u32, 8> h{};
  const auto fraction = [](long double root) { return u32((root - std::floor(root)) * 0x1p32L); };
  for (int n = 2, i = 0; i < 64; ++n) {
    int d = 2;
    while (n % d != 0) ++d;
    if (d < n) continue;  // not a prime
    if (i < 8) h[i] = fraction(std::sqrt((long double)n));
    k[i++] = fraction(std::cbrt((long double)n));
  }
  const u64 bits = text.size() * 8;
  text += '\x80';
  while (text.size() % 64 != 56) text += '\0';
  for (int shift = 56; shift >= 0; shift -= 8) text += char(bits >> shift);
  for (std::size_t at = 0; at < text.size(); at += 64) {
    for (int i = 0; i < 16; ++i)
      for (int b = 0; b < 4; ++b) w[i] = w[i] << 8 | std::uint8_t(text[at + 4 * i + b]);
    const auto mix = [](u32 x, int a, int b, u32 c) { return std::rotr(x, a) ^ std::rotr(x, b) ^ c; };
    for (int i = 16; i < 64; ++i)
      w[i] = w[i - 16] + mix(w[i - 15], 7, 18, w[i - 15] >> 3) + w[i - 7] + mix(w[i - 2], 17, 19, w[i - 2] >> 10);
    auto s = h;
    for (int i = 0; i < 64; ++i) {
      const u32 t1 = s[7] + mix(s[4], 6, 11, std::rotr(s[4], 25)) + ((s[4] & s[5]) ^ (~s[4] & s[6])) + k[i] + w[i];
      const u32 t2 = mix(s[0], 2, 13, std::rotr(s[0], 22)) + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
      s = {t1 + t2, s[0], s[1], s[2], s[3] + t1, s[4], s[5], s[6]};
    }
    for (int i = 0; i < 8; ++i) h[i] += s[i];
  }
  text.clear();
  for (int i = 0; i < 64; ++i) text += "0123456789abcdef"[h[i / 8] >> (28 - i % 8 * 4) & 15];
  return text;
}

int main(int argc, char** argv) try {
  if (argc < 3) throw std::runtime_error("usage: reference_trainer IMAGES LABELS [EPOCHS] [SAMPLES] [THREADS]");
  const Data data{read_idx(argv[1], 16), read_idx(argv[2], 8)};
  if (data.pixels.size() != data.labels.size() * kPixels) throw std::runtime_error("images and labels do not match");
  const auto option = [&](int i, int otherwise) { return argc > i ? std::max(1, std::atoi(argv[i])) : otherwise; };
  const int epochs = option(3, 1), samples = std::min(option(4, int(data.labels.size())), int(data.labels.size()));
  Values w = initial_weights();
  Adam adam;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    const int correct = train_epoch(data, shuffled(samples, epoch), option(5, 1), w, adam);
    std::printf("epoch %d: %d of %d right while training\n", epoch + 1, correct, samples);
  }
  std::printf("%s\n", sha256({reinterpret_cast<const char*>(w.data()), w.size() * sizeof(float)}).c_str());
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 2;
}
