#pragma once
// Exercises whose results are chains, sum = fma(left, right, sum) over ascending terms: one description of the terms
// gives every usual mistake in summing them.

#include <cstddef>
#include <string>
#include <vector>

#include "cli/exercise/fields.hpp"

namespace lockstep::cli {

struct ChainTerm {
  float left = 0, right = 0;
  bool inside = true;  // false: skipped, as taps in the padding
};

template <class Args>
struct SumChain {
  std::int64_t (*results)(const Args&);
  float* (*result)(const Args&, std::int64_t r);
  std::int64_t (*terms)(const Args&);  // of every result
  ChainTerm (*term)(const Args&, std::int64_t r, std::int64_t k);
  float (*start)(const Args&, std::int64_t r) = nullptr;  // null: 0
  const char* start_name = "bias";
};

/// One way to sum wrongly.
struct ChainMistake {
  bool descending = false, fused = true, in_double = false, mean = false;
  std::int64_t lanes = 1;                    // partial sums
  std::int64_t first = 0;                    // terms left out at the beginning
  std::int64_t last = 0;                     // and at the end
  std::int64_t whole_groups = 1;             // terms behind the last whole group of this size are left out
  int starts_before = 1, starts_behind = 0;  // how often the start enters the sum, before and behind the terms
};

template <class Args>
float sum_wrongly(const Args& a, const SumChain<Args>& chain, const ChainMistake& how, std::int64_t r) {
  const float start = chain.start == nullptr ? 0.0F : chain.start(a, r);
  const std::int64_t all = chain.terms(a), end = (all - how.last) / how.whole_groups * how.whole_groups;
  std::vector<float> lanes(static_cast<std::size_t>(how.lanes), 0.0F);
  double exact = 0;
  for (int i = 0; i < how.starts_before; ++i) exact += double(start);
  lanes[0] = how.lanes == 1 ? float(exact) : 0.0F;
  for (std::int64_t i = how.first; i < end; ++i) {
    const ChainTerm term = chain.term(a, r, how.descending ? all - 1 - i : i);
    if (!term.inside) continue;
    float& sum = lanes[static_cast<std::size_t>(i % how.lanes)];
    const float product = term.left * term.right;
    exact += double(term.left) * double(term.right);
    sum = how.fused ? __builtin_fmaf(term.left, term.right, sum) : sum + product;
  }
  float sum = how.lanes == 1 ? lanes[0] : start;
  if (how.lanes > 1)
    for (const float lane : lanes) sum += lane;
  if (how.in_double) sum = float(exact);
  for (int i = 0; i < how.starts_behind; ++i) sum += start;
  return how.mean ? sum / float(all) : sum;
}

template <class Args>
void add_chain_mistake(ExerciseOf<Args>& e, const SumChain<Args>& chain, std::string cause, std::string words,
                       const ChainMistake& how, bool rounding) {
  const auto run = [chain, how](const void* args) {
    const Args& a = *static_cast<const Args*>(args);
    for (std::int64_t r = 0; r < chain.results(a); ++r) *chain.result(a, r) = sum_wrongly(a, chain, how, r);
  };
  e.record.mistakes.push_back({std::move(cause), std::move(words), run, rounding});
}

/// Every usual mistake in summing.
template <class Args>
void add_chain_mistakes(ExerciseOf<Args>& e, const SumChain<Args>& chain) {
  const std::string start = chain.start_name;
  const auto order = [&](const char* cause, const std::string& words, const ChainMistake& how) {
    add_chain_mistake(e, chain, cause, words, how, true);
  };
  const auto wrong = [&](const std::string& cause, const std::string& words, const ChainMistake& how) {
    add_chain_mistake(e, chain, cause, words, how, false);
  };
  order("descending", "You sum the terms from the last to the first; the contract goes from the first to the last.",
        {.descending = true});
  order("no-fma", "You multiply and add with two roundings; the contract has one: fmaf(a, b, sum).", {.fused = false});
  order("descending-no-fma", "You sum the terms from the last to the first, and with two roundings instead of fmaf.",
        {.descending = true, .fused = false});
  order("double", "You sum in double and round at the end: nearer to the truth, but not the contract's bits.",
        {.in_double = true});
  for (const std::int64_t lanes : {2, 4, 8, 16}) {
    const std::string words =
        std::to_string(lanes) + " partial sums of one result, added up at the end: another order than the contract's.";
    add_chain_mistake(e, chain, "lanes-" + std::to_string(lanes), "You keep " + words, {.lanes = lanes}, true);
    add_chain_mistake(e, chain, "lanes-no-fma-" + std::to_string(lanes), "You keep (without fmaf) " + words,
                      {.fused = false, .lanes = lanes}, true);
    wrong("sum-remainder-" + std::to_string(lanes),
          "The remainder of every sum is missing: the terms behind the last whole group of " + std::to_string(lanes) +
              ".",
          {.whole_groups = lanes});
  }
  if (chain.start != nullptr) {
    order("start-last", "You add the " + start + " behind the sum; the contract starts the chain from it.",
          {.starts_before = 0, .starts_behind = 1});
    order("start-last-no-fma", "You add the " + start + " behind the sum, and multiply and add with two roundings.",
          {.fused = false, .starts_before = 0, .starts_behind = 1});
    wrong("no-start", "The " + start + " is missing.", {.starts_before = 0});
    wrong("start-twice", "The " + start + " is added twice.", {.starts_behind = 1});
  }
  wrong("last-term", "The last term of every sum is missing: the loop ends too early.", {.last = 1});
  wrong("first-term", "The first term of every sum is missing: the loop begins at 1.", {.first = 1});
  wrong("mean", "You divide by the number of terms: the mean instead of the sum.", {.mean = true});
}

}  // namespace lockstep::cli
