// What every known form of an instruction does.

#include <algorithm>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstring>
#include <string>
#include <type_traits>
#include <unordered_map>

#include "counters.hpp"
#include "cuda_runtime.h"
#include "ptx.hpp"
#include "report.hpp"

namespace cuda_emulator::ptx {

namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s32 = std::int32_t;
using s64 = std::int64_t;
using f32 = float;
using f64 = double;

template <class T>
T value(const Thread& t, int place) {
  T result;
  std::memcpy(&result, &t.registers[place], sizeof result);
  return result;
}
template <class T>
void put(const Thread& t, int place, T result) {
  // The result of arithmetic in float that is no number is always the same one; double keeps what the processor makes.
  if constexpr (std::is_same_v<T, f32>)
    if (result != result) result = std::bit_cast<f32>(0x7fffffffu);
  Word word = 0;
  std::memcpy(&word, &result, sizeof result);
  t.registers[place] = word;
}
void put_bits(const Thread& t, int place, Word bits) { t.registers[place] = bits; }

template <class T, auto operation>
void one(Thread& t, const Instruction& i) {
  put(t, i.to[0], operation(value<T>(t, i.from[0])));
}
template <class T, auto operation>
void two(Thread& t, const Instruction& i) {
  put(t, i.to[0], operation(value<T>(t, i.from[0]), value<T>(t, i.from[1])));
}
template <class T, auto operation>
void three(Thread& t, const Instruction& i) {
  put(t, i.to[0], operation(value<T>(t, i.from[0]), value<T>(t, i.from[1]), value<T>(t, i.from[2])));
}
/// Amounts of shifts are u32, whatever is shifted.
template <class T, auto operation>
void shift(Thread& t, const Instruction& i) {
  put(t, i.to[0], operation(value<T>(t, i.from[0]), value<u32>(t, i.from[1])));
}
template <class T, auto compare>
void set_predicate(Thread& t, const Instruction& i) {
  put_bits(t, i.to[0], compare(value<T>(t, i.from[0]), value<T>(t, i.from[1])) ? 1 : 0);
}
template <class T>
void select(Thread& t, const Instruction& i) {
  put_bits(t, i.to[0],
           t.registers[i.from[t.registers[i.from[2]] != 0 ? 0 : 1]] & (sizeof(T) == 4 ? 0xffffffffu : ~u64{0}));
}
template <class T>
void move(Thread& t, const Instruction& i) {
  put_bits(t, i.to[0], t.registers[i.from[0]] & (sizeof(T) == 4 ? 0xffffffffu : ~u64{0}));
}
template <auto operation>
void predicates(Thread& t, const Instruction& i) {
  put_bits(t, i.to[0], operation(t.registers[i.from[0]] != 0, t.registers[i.from[1]] != 0) ? 1 : 0);
}
template <class To, class From>
void convert(Thread& t, const Instruction& i) {
  put(t, i.to[0], static_cast<To>(value<From>(t, i.from[0])));  // to nearest, ties to even, as the processor rounds
}

template <class T>
T divide(T a, T b, bool rest) {
  if (b == 0) fail("a whole number is divided by 0");
  if constexpr (std::signed_integral<T>)
    if (b == -1) return rest ? 0 : static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(a));
  return rest ? a % b : a / b;
}
template <class T>
T left(T a, u32 by) {
  return by >= 8 * sizeof(T) ? 0 : a << by;
}
template <class T>
T right(T a, u32 by) {
  constexpr u32 kMost = 8 * sizeof(T) - 1;
  if constexpr (std::signed_integral<T>) return a >> std::min(by, kMost);
  return by > kMost ? 0 : a >> by;
}
/// The number where the other operand is none; -0 is below +0.
template <class T>
T lesser(T a, T b) {
  if (a != a) return b;
  if (b != b) return a;
  return a < b || (a == b && std::signbit(a)) ? a : b;
}
template <class T>
T greater(T a, T b) {
  if (a != a) return b;
  if (b != b) return a;
  return a > b || (a == b && !std::signbit(a)) ? a : b;
}

enum class Space { global, shared, local };

/// Where `bytes` bytes of the space are; global memory has guard pages.
template <Space space>
char* place(Thread& t, const Instruction& i, int base, std::size_t bytes) {
  const u64 address = t.registers[base] + static_cast<u64>(i.offset);
  if (address % bytes != 0) fail("line " + std::to_string(i.line) + " of the PTX: an address that is not aligned");
  if constexpr (space != Space::local)
    if (counting()) note_access(i.access, space == Space::global, address, static_cast<unsigned>(bytes));
  if constexpr (space == Space::global) return reinterpret_cast<char*>(address);  // NOLINT
  const u64 size = space == Space::shared ? t.shared_bytes : t.local_bytes;
  if (address > size || bytes > size - address)
    fail("line " + std::to_string(i.line) + " of the PTX: access out of bounds of " +
         (space == Space::shared ? "shared" : "local") + " memory");
  return (space == Space::shared ? t.shared : t.local) + address;
}
template <Space space, class T, int count>
void load(Thread& t, const Instruction& i) {
  const char* const from = place<space>(t, i, i.from[0], count * sizeof(T));
  for (int k = 0; k < count; ++k) {
    T bits;
    std::memcpy(&bits, from + k * sizeof(T), sizeof bits);
    put_bits(t, i.to[k], static_cast<Word>(bits));
  }
}
template <Space space, class T, int count>
void store(Thread& t, const Instruction& i) {
  char* const to = place<space>(t, i, i.to[0], count * sizeof(T));
  for (int k = 0; k < count; ++k) std::memcpy(to + k * sizeof(T), &t.registers[i.from[k]], sizeof(T));
}
template <class T>
void load_argument(Thread& t, const Instruction& i) {
  put_bits(t, i.to[0], t.arguments[static_cast<std::size_t>(i.offset)] & (sizeof(T) == 4 ? 0xffffffffu : ~u64{0}));
}

void branch(Thread& t, const Instruction& i) { t.next = t.code + i.target; }
void finish(Thread& t, const Instruction&) { t.next = nullptr; }
void barrier(Thread&, const Instruction& i) { wait_for_block("the PTX", i.line); }

using Forms = std::unordered_map<std::string_view, Handler>;

template <class T, class S>
void add_integers(Forms& forms, const char* const (&names)[22]) {
  const Handler handlers[22] = {
      two<T, [](T a, T b) { return static_cast<T>(a + b); }>,
      two<T, [](T a, T b) { return static_cast<T>(a - b); }>,
      two<T, [](T a, T b) { return static_cast<T>(a * b); }>,
      three<T, [](T a, T b, T c) { return static_cast<T>(a * b + c); }>,
      two<S, [](S a, S b) { return std::min(a, b); }>,
      two<S, [](S a, S b) { return std::max(a, b); }>,
      two<S, [](S a, S b) { return divide(a, b, false); }>,
      two<S, [](S a, S b) { return divide(a, b, true); }>,
      shift<S, [](S a, u32 by) { return right(a, by); }>,
      set_predicate<S, [](S a, S b) { return a == b; }>,
      set_predicate<S, [](S a, S b) { return a != b; }>,
      set_predicate<S, [](S a, S b) { return a < b; }>,
      set_predicate<S, [](S a, S b) { return a <= b; }>,
      set_predicate<S, [](S a, S b) { return b < a; }>,
      set_predicate<S, [](S a, S b) { return b <= a; }>,
      select<T>,
      move<T>,
      load_argument<T>,
      load<Space::global, T, 1>,
      load<Space::shared, T, 1>,
      store<Space::global, T, 1>,
      store<Space::shared, T, 1>,
  };
  for (int i = 0; i < 22; ++i) forms.emplace(names[i], handlers[i]);
}
#define LOCKSTEP_INTEGER_NAMES(t)                                                                                 \
  {                                                                                                               \
    "add." t, "sub." t, "mul.lo." t, "mad.lo." t, "min." t, "max." t, "div." t, "rem." t, "shr." t, "setp.eq." t, \
        "setp.ne." t, "setp.lt." t, "setp.le." t, "setp.gt." t, "setp.ge." t, "selp." t, "mov." t, "ld.param." t, \
        "ld.global." t, "ld.shared." t, "st.global." t, "st.shared." t                                            \
  }

template <class T>
void add_bits(Forms& forms, const char* const (&names)[10]) {
  const Handler handlers[10] = {
      two<T, [](T a, T b) { return static_cast<T>(a & b); }>,
      two<T, [](T a, T b) { return static_cast<T>(a | b); }>,
      two<T, [](T a, T b) { return static_cast<T>(a ^ b); }>,
      one<T, [](T a) { return static_cast<T>(~a); }>,
      shift<T, [](T a, u32 by) { return left(a, by); }>,
      shift<T, [](T a, u32 by) { return right(a, by); }>,
      set_predicate<T, [](T a, T b) { return a == b; }>,
      set_predicate<T, [](T a, T b) { return a != b; }>,
      select<T>,
      move<T>,
  };
  for (int i = 0; i < 10; ++i) forms.emplace(names[i], handlers[i]);
}
#define LOCKSTEP_BIT_NAMES(t) \
  { "and." t, "or." t, "xor." t, "not." t, "shl." t, "shr." t, "setp.eq." t, "setp.ne." t, "selp." t, "mov." t }

/// T computes, B is the integer of its size: loads and stores move bits.
template <class T, class B>
void add_reals(Forms& forms, const char* const (&names)[42]) {
  const Handler handlers[42] = {
      two<T, [](T a, T b) { return a + b; }>,
      two<T, [](T a, T b) { return a - b; }>,
      two<T, [](T a, T b) { return a * b; }>,
      two<T, [](T a, T b) { return a / b; }>,
      three<T, [](T a, T b, T c) { return std::fma(a, b, c); }>,
      one<T, [](T a) { return 1 / a; }>,
      one<T, [](T a) { return std::sqrt(a); }>,
      one<T, [](T a) { return -a; }>,
      one<T, [](T a) { return std::abs(a); }>,
      two<T, [](T a, T b) { return lesser(a, b); }>,
      two<T, [](T a, T b) { return greater(a, b); }>,
      // Ordered comparisons are false with a NaN, ne too; unordered ones are true.
      set_predicate<T, [](T a, T b) { return a == b; }>,
      set_predicate<T, [](T a, T b) { return a < b || b < a; }>,
      set_predicate<T, [](T a, T b) { return a < b; }>,
      set_predicate<T, [](T a, T b) { return a <= b; }>,
      set_predicate<T, [](T a, T b) { return b < a; }>,
      set_predicate<T, [](T a, T b) { return b <= a; }>,
      set_predicate<T, [](T a, T b) { return !(a < b || b < a); }>,
      set_predicate<T, [](T a, T b) { return a != b; }>,
      set_predicate<T, [](T a, T b) { return !(b <= a); }>,
      set_predicate<T, [](T a, T b) { return !(b < a); }>,
      set_predicate<T, [](T a, T b) { return !(a <= b); }>,
      set_predicate<T, [](T a, T b) { return !(a < b); }>,
      set_predicate<T, [](T a, T b) { return a == a && b == b; }>,
      set_predicate<T, [](T a, T b) { return a != a || b != b; }>,
      select<B>,
      move<B>,
      load_argument<B>,
      load<Space::global, B, 1>,
      load<Space::global, B, 2>,
      load<Space::shared, B, 1>,
      load<Space::shared, B, 2>,
      load<Space::local, B, 1>,
      load<Space::local, B, 2>,
      store<Space::global, B, 1>,
      store<Space::global, B, 2>,
      store<Space::shared, B, 1>,
      store<Space::shared, B, 2>,
      store<Space::local, B, 1>,
      store<Space::local, B, 2>,
      convert<T, s32>,
      convert<T, s64>,
  };
  for (int i = 0; i < 42; ++i) forms.emplace(names[i], handlers[i]);
}
#define LOCKSTEP_REAL_NAMES(t)                                                                                      \
  {                                                                                                                 \
    "add.rn." t, "sub.rn." t, "mul.rn." t, "div.rn." t, "fma.rn." t, "rcp.rn." t, "sqrt.rn." t, "neg." t, "abs." t, \
        "min." t, "max." t, "setp.eq." t, "setp.ne." t, "setp.lt." t, "setp.le." t, "setp.gt." t, "setp.ge." t,     \
        "setp.equ." t, "setp.neu." t, "setp.ltu." t, "setp.leu." t, "setp.gtu." t, "setp.geu." t, "setp.num." t,    \
        "setp.nan." t, "selp." t, "mov." t, "ld.param." t, "ld.global." t, "ld.global.v2." t, "ld.shared." t,       \
        "ld.shared.v2." t, "ld.local." t, "ld.local.v2." t, "st.global." t, "st.global.v2." t, "st.shared." t,      \
        "st.shared.v2." t, "st.local." t, "st.local.v2." t, "cvt.rn." t ".s32", "cvt.rn." t ".s64"                  \
  }

Forms make_forms() {
  Forms forms = {
      {"bra", branch},
      {"bra.uni", branch},
      {"ret", finish},
      {"bar.sync", barrier},
      {"cvta.to.global.u64", move<u64>},  // one address space
      {"neg.s32", one<u32, [](u32 a) { return u32(0) - a; }>},
      {"neg.s64", one<u64, [](u64 a) { return u64(0) - a; }>},
      {"abs.s32", one<s32, [](s32 a) { return a < 0 ? static_cast<s32>(u32(0) - static_cast<u32>(a)) : a; }>},
      {"abs.s64", one<s64, [](s64 a) { return a < 0 ? static_cast<s64>(u64(0) - static_cast<u64>(a)) : a; }>},
      {"mul.wide.u32", two<u32, [](u32 a, u32 b) { return u64(a) * b; }>},
      {"mul.wide.s32", two<s32, [](s32 a, s32 b) { return s64(a) * b; }>},
      {"mul.hi.u32", two<u32, [](u32 a, u32 b) { return static_cast<u32>(u64(a) * b >> 32); }>},
      {"cvt.u32.u64", convert<u32, u64>},
      {"cvt.u64.u32", convert<u64, u32>},
      {"cvt.s64.s32", convert<s64, s32>},
      {"cvt.s32.s64", convert<s32, s64>},
      {"cvt.f64.f32", convert<f64, f32>},
      {"cvt.rn.f32.f64", convert<f32, f64>},
      {"cvt.rn.f32.u32", convert<f32, u32>},
      {"cvt.rn.f64.u32", convert<f64, u32>},
      {"and.pred", predicates<[](bool a, bool b) { return a && b; }>},
      {"or.pred", predicates<[](bool a, bool b) { return a || b; }>},
      {"xor.pred", predicates<[](bool a, bool b) { return a != b; }>},
      {"not.pred", one<u64, [](u64 a) { return u64(a == 0 ? 1 : 0); }>},
      {"mov.pred", move<u64>},
      {"ld.global.v4.f32", load<Space::global, u32, 4>},
      {"ld.shared.v4.f32", load<Space::shared, u32, 4>},
      {"ld.local.v4.f32", load<Space::local, u32, 4>},
      {"st.global.v4.f32", store<Space::global, u32, 4>},
      {"st.shared.v4.f32", store<Space::shared, u32, 4>},
      {"st.local.v4.f32", store<Space::local, u32, 4>},
  };
  add_integers<u32, u32>(forms, LOCKSTEP_INTEGER_NAMES("u32"));
  add_integers<u32, s32>(forms, LOCKSTEP_INTEGER_NAMES("s32"));
  add_integers<u64, u64>(forms, LOCKSTEP_INTEGER_NAMES("u64"));
  add_integers<u64, s64>(forms, LOCKSTEP_INTEGER_NAMES("s64"));
  add_bits<u32>(forms, LOCKSTEP_BIT_NAMES("b32"));
  add_bits<u64>(forms, LOCKSTEP_BIT_NAMES("b64"));
  add_reals<f32, u32>(forms, LOCKSTEP_REAL_NAMES("f32"));
  add_reals<f64, u64>(forms, LOCKSTEP_REAL_NAMES("f64"));
  return forms;
}

}  // namespace

Handler find_form(std::string_view form) {
  static const Forms forms = make_forms();
  const auto found = forms.find(form);
  return found == forms.end() ? nullptr : found->second;
}

}  // namespace cuda_emulator::ptx
