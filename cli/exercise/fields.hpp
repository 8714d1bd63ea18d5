#pragma once
// Makes the record of an exercise from a struct of arguments and plain functions of it.
//
//   struct Args { std::int64_t n; const float* x; float* y; };
//   ExerciseOf<Args> e("relu", "relu_forward");
//   e.size("n", &Args::n, "elements");
//   e.input("x", &Args::x, [](const Args& a) { return Dims{a.n}; }, "[n]");

#include "cli/exercise/exercise.hpp"

namespace lockstep::cli {

template <class T>
constexpr Element element_of() {
  if constexpr (std::is_same_v<T, float>) return Element::float32;
  if constexpr (std::is_same_v<T, double>) return Element::float64;
  if constexpr (std::is_same_v<T, std::int32_t>) return Element::int32;
  if constexpr (std::is_same_v<T, std::int64_t>) return Element::int64;
}

template <class Args>
class ExerciseOf {
 public:
  using Function = void (*)(const Args&);
  using Shape = Dims (*)(const Args&);
  using Kind = ArgumentField::Kind;

  ExerciseOf(std::string name, std::string function) {
    record.name = std::move(name);
    record.function = std::move(function);
    record.struct_bytes = sizeof(Args);
  }

  void size(const char* name, std::int64_t Args::*member, const char* words) {
    add(Kind::size, name, Element::int64, offset_of(member), words);
  }
  template <class T>
  void scalar(const char* name, T Args::*member, const char* words) {
    add(Kind::scalar, name, element_of<T>(), offset_of(member), words);
  }
  template <class T>
  ArgumentField& input(const char* name, const T* Args::*member, Shape dims, const char* words) {
    return array(Kind::input, name, element_of<T>(), offset_of(member), dims, words);
  }
  template <class T>
  ArgumentField& output(const char* name, T* Args::*member, Shape dims, const char* words) {
    return array(Kind::output, name, element_of<T>(), offset_of(member), dims, words);
  }
  template <class T>
  ArgumentField& both(const char* name, T* Args::*member, Shape dims, const char* words) {
    return array(Kind::both, name, element_of<T>(), offset_of(member), dims, words);
  }

  void oracle(Function run) { record.oracle = erased(run); }
  void fast(void (*run)(const Args&, int threads)) {
    record.fast = [run](const void* args, int threads) { run(*static_cast<const Args*>(args), threads); };
  }
  void cost(Cost (*of)(const Args&)) {
    record.cost = [of](const void* args) { return of(*static_cast<const Args*>(args)); };
  }
  void terms(std::int64_t (*of)(const Args&)) {
    record.terms = [of](const void* args) { return of(*static_cast<const Args*>(args)); };
  }
  void prepare(void (*fill)(Args&, CaseRandom&)) {
    record.prepare = [fill](void* args, CaseRandom& random) { fill(*static_cast<Args*>(args), random); };
  }
  void mistake(const char* cause, const char* words, Function run) {
    record.mistakes.push_back({cause, words, erased(run), false});
  }
  /// Right within rounding.
  void another_order(const char* cause, const char* words, Function run) {
    record.mistakes.push_back({cause, words, erased(run), true});
  }

  Exercise record{};

 private:
  static ArgumentsFunction erased(Function run) {
    return [run](const void* args) { run(*static_cast<const Args*>(args)); };
  }
  template <class Member>
  static std::size_t offset_of(Member Args::*member) {
    static const Args place{};
    return static_cast<std::size_t>(reinterpret_cast<const char*>(&(place.*member)) -
                                    reinterpret_cast<const char*>(&place));
  }
  ArgumentField& array(Kind kind, const char* name, Element element, std::size_t offset, Shape dims,
                       const char* words) {
    ArgumentField& field = add(kind, name, element, offset, words);
    field.dims = [dims](const void* args) { return dims(*static_cast<const Args*>(args)); };
    return field;
  }
  ArgumentField& add(Kind kind, const char* name, Element element, std::size_t offset, const char* words) {
    return record.fields.emplace_back(
        ArgumentField{.kind = kind, .name = name, .element = element, .offset = offset, .words = words});
  }
};

}  // namespace lockstep::cli
