#include "lockstep/kernels/opencl/device.hpp"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>
#include <set>
#include <type_traits>
#include <vector>

#include <fmt/format.h>

#include "lockstep/core/aligned.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/philox.hpp"

namespace lockstep::opencl {

namespace {

constexpr std::int64_t kCases = 4096;
constexpr std::int64_t kCasesPerItem = 16, kItems = 32;  // as in probe.cl; work-items of a group
constexpr std::array<const char*, 6> kOperations = {"division",       "square root", "fma",
                                                    "multiplication", "addition",    "a product and a sum in turn"};

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

template <class T>
BitsOf<T> bits_of(T value) {
  BitsOf<T> bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

/// The next numbers of a counter.
class Numbers {
 public:
  std::uint64_t bits() {
    const std::array<std::uint32_t, 4> word = philox4x32_10({counter_++, 0, 0, 0}, {17, 23});
    return word[0] | std::uint64_t{word[1]} << 32;
  }
  /// In [1, 2), every bit of the significand random.
  template <class T>
  T significand() {
    constexpr int kDigits = std::numeric_limits<T>::digits - 1;
    return T(1) + std::ldexp(T(bits() >> (64 - kDigits)), -kDigits);
  }
  int between(int low, int high) { return low + static_cast<int>(bits() % static_cast<std::uint64_t>(high - low + 1)); }

 private:
  std::uint32_t counter_ = 0;
};

template <class T>
struct Case {
  T a, b, c;
};

template <class T>
T step(T value, int ulps) {
  for (; ulps > 0; --ulps) value = std::nextafter(value, std::numeric_limits<T>::infinity());
  for (; ulps < 0; ++ulps) value = std::nextafter(value, -std::numeric_limits<T>::infinity());
  return value;
}

/// Any finite number.
template <class T>
T any(Numbers& numbers) {
  const auto bits = static_cast<BitsOf<T>>(numbers.bits());
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return std::isfinite(value) ? value : numbers.significand<T>();
}

template <class T>
T denormal(Numbers& numbers) {
  const T value = std::numeric_limits<T>::denorm_min() *
                  T(numbers.bits() >> (64 - std::numeric_limits<T>::digits + 1 + numbers.between(0, 8)));
  return numbers.between(0, 1) == 0 ? value : -value;
}

/// Where shortcuts go wrong: results that lie close to the middle of two numbers, cancel, or are denormal.
template <class T>
Case<T> hard_case(std::int64_t kind, Numbers& numbers) {
  constexpr int kDigits = std::numeric_limits<T>::digits;
  constexpr int kLeast = std::numeric_limits<T>::min_exponent - 1;  // of a normal number
  const T m = numbers.significand<T>(), n = numbers.significand<T>();
  switch (kind) {
    case 0:  // a / n is almost exactly m
      return {step(m * n, numbers.between(-2, 2)), n, -m * n};
    case 1:  // the root is almost exactly m, or m's square times two
      return {step(m * m * T(numbers.between(1, 2)), numbers.between(-2, 2)), n, any<T>(numbers)};
    case 2:  // of the product only its rounding error is left
      return {m, n, step(-(m * n), numbers.between(-1, 1))};
    case 3: {  // the product is almost half of c's last place: rounding twice goes the wrong way
      const T u = std::numeric_limits<T>::epsilon() * T(numbers.between(1, 1000));
      const T odd = T(1) + std::numeric_limits<T>::epsilon() * T(2 * numbers.between(0, 1000) + 1);
      return {std::ldexp(T(1) + u, -(kDigits / 2)), std::ldexp(T(1) - u, kDigits / 2 - kDigits), odd};
    }
    case 4:
      return {denormal<T>(numbers), numbers.between(0, 1) == 0 ? m : m / 2, denormal<T>(numbers)};
    case 5:  // the product falls below the least normal number
      return {std::ldexp(m, kLeast / 2), std::ldexp(n, kLeast - kLeast / 2 - numbers.between(0, kDigits)),
              denormal<T>(numbers)};
    case 6:  // so does the quotient
      return {std::ldexp(m, kLeast / 2), std::ldexp(n, -(kLeast - kLeast / 2) + numbers.between(0, kDigits)),
              std::ldexp(m, kLeast)};
    default:
      return {any<T>(numbers), any<T>(numbers), any<T>(numbers)};
  }
}

/// a, b and c of every case, one after the other as the kernel takes them.
template <class T>
std::vector<T> make_cases() {
  Numbers numbers;
  std::vector<T> all(3 * kCases);
  for (std::int64_t i = 0; i < kCases; ++i) {
    const Case<T> one = hard_case<T>(i % 8, numbers);
    for (const auto& [part, value] : {std::pair{0, one.a}, {1, one.b}, {2, one.c}})
      all[static_cast<std::size_t>(part * kCases + i)] = value;
  }
  return all;
}

template <class T>
std::array<T, 6> expected(T a, T b, T c) {
  const T product = a * b;
  return {a / b, std::sqrt(a), std::fma(a, b, c), product, a + b, product + c};
}

/// NaNs are one value: which one an invalid operation gives is left to the device.
template <class T>
bool same(T a, T b) {
  return bits_of(a) == bits_of(b) || (std::isnan(a) && std::isnan(b));
}

[[noreturn]] void refuse(const DeviceInfo& info, const char* operation, const char* type, bool vectors,
                         const std::string& example) {
  throw Error(ErrorCode::usage,
              fmt::format("backend opencl: {} ({} {}): {} in {}{} is not what IEEE 754 says, so its bits would differ: "
                          "{}; choose another device with LOCKSTEP_OPENCL_DEVICE, or use the backend simd",
                          info.name, info.platform, info.driver, operation, type, vectors ? " vectors" : "", example));
}

template <class T>
void compare(const DeviceInfo& info, const std::vector<T>& in, const std::vector<T>& out, std::int64_t forms) {
  const auto at = [](const std::vector<T>& values, std::int64_t row, std::int64_t i) {
    return values[static_cast<std::size_t>(row * kCases + i)];
  };
  for (std::int64_t i = 0; i < kCases; ++i) {
    const T a = at(in, 0, i), b = at(in, 1, i), c = at(in, 2, i);
    const std::array<T, 6> wanted = expected(a, b, c);
    for (std::int64_t form = 0; form < forms; ++form)
      for (std::size_t o = 0; o < wanted.size(); ++o) {
        const T got = at(out, form * 6 + static_cast<std::int64_t>(o), i);
        if (!same(got, wanted[o]))
          refuse(info, kOperations[o], sizeof(T) == 4 ? "float32" : "float64", form == 1,
                 fmt::format("of {:a}, {:a}, {:a} it gives {:a}, not {:a}", a, b, c, got, wanted[o]));
      }
  }
}

template <class T>
struct OnDevice {
  OnDevice(Device& device, std::int64_t forms)
      : host(make_cases<T>()),
        back(static_cast<std::size_t>(6 * forms * kCases)),
        in(3 * kCases, device),
        out(6 * forms * kCases, device) {
    device.to_device(in.data(), host.data(), static_cast<std::int64_t>(host.size() * sizeof(T)));
  }
  void download(Device& device) {
    device.to_host(back.data(), out.data(), static_cast<std::int64_t>(back.size() * sizeof(T)));
  }

  std::vector<T> host, back;
  AlignedBuffer<T> in, out;
};

}  // namespace

void probe(Device& device) {
  static std::mutex mutex;
  static std::set<std::string> passed;
  const DeviceInfo& info = device.info();
  const std::string identity =
      fmt::format("{}\n{}\n{}\n{}\n{}", info.platform, info.id, info.name, info.driver, info.lanes_float32);
  const std::lock_guard lock(mutex);
  if (passed.contains(identity)) return;
  const bool vectors = info.lanes_float32 > 1;
  const std::int64_t forms = vectors ? 2 : 1;
  OnDevice<float> singles(device, forms);
  OnDevice<double> doubles(device, forms);
  const std::array<KernelArgument, 5> arguments = {KernelArgument(static_cast<const float*>(singles.in.data())),
                                                   KernelArgument(singles.out.data()),
                                                   KernelArgument(static_cast<const double*>(doubles.in.data())),
                                                   KernelArgument(doubles.out.data()), KernelArgument(kCases)};
  device.launch({.kernel = "probe",
                 .vectors = vectors,
                 .groups = {kCases / (kCasesPerItem * kItems), 1, 1},
                 .group_size = {kItems, 1, 1},
                 .arguments = arguments});
  singles.download(device);
  doubles.download(device);
  compare(info, singles.host, singles.back, forms);
  compare(info, doubles.host, doubles.back, forms);
  passed.insert(identity);
}

}  // namespace lockstep::opencl
