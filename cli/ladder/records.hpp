#pragma once
// The records of a ladder: what its lines in results.jsonl hold (docs/results.md). Files of older versions lack the
// `defaulted` fields.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/ladder/rungs.hpp"
#include "lockstep/lab/fits.hpp"
#include "lockstep/lab/record.hpp"
#include "lockstep/lab/report/document.hpp"

namespace lockstep {

template <>
inline constexpr std::array kNames<ScalingLaw> = {"measured", "amdahl", "usl", "gustafson", "none"};
template <>
inline constexpr std::array kNames<report::Rule::State> = {"kept", "partly", "broken", "not applicable"};

namespace cli {

/// Whether the weights of a rung are those of SIMD kernels on one thread.
enum class WeightMark { same, differs, own_weights, other_training };

/// Kind "machine", "ceilings": measured on the spot.
struct CeilingsRecord {
  int threads = 1;                              // "all"
  double flops_one = 0, flops_all = 0;          // per second, in the precision of the network
  double lanes = 0;                             // numbers in a vector of the SIMD kernels
  double bandwidth_one = 0, bandwidth_all = 0;  // bytes per second
  std::string config{};                         // the file
  std::map<std::string, std::string> doctor{};  // findings by check

  static constexpr auto fields() {
    using R = CeilingsRecord;
    return std::make_tuple(defaulted("threads", &R::threads), field("peak_flops_1", &R::flops_one),
                           defaulted("peak_flops_all", &R::flops_all), defaulted("lanes", &R::lanes),
                           field("bandwidth_1", &R::bandwidth_one), defaulted("bandwidth_all", &R::bandwidth_all),
                           field("config", &R::config), field("doctor ", &R::doctor));
  }
};

/// Kind "ladder": a rung, seconds per epoch.
struct RungRecord {
  std::string title{};  // "SIMD kernels, 2 threads"
  RungGroup group = RungGroup::simd;
  WeightMark mark = WeightMark::same;
  std::string end{};          // why no more samples were taken
  std::string best_serial{};  // the rung of the second speed-up
  std::string command{};      // of one turn
  std::string version{};      // of PyTorch or JAX
  std::string limit{}, verdict{};
  int threads = 1, ranks = 1, growth = 1;
  std::int64_t measured_samples = 0, samples_per_epoch = 0;
  std::int64_t check_samples = 0;  // that every rung trains first: the weight hash is theirs
  double scale = 1, flops = 0, flops_per_second = 0, peak_share = 0;
  std::optional<double> accuracy{}, loss{}, largest_difference{}, explained{};
  std::optional<double> pop_load_balance{}, pop_serialisation{}, pop_transfer{}, pop_communication{}, pop_parallel{};

  int workers() const { return threads * ranks; }
  bool is_peer() const { return group == RungGroup::peer; }
  static constexpr auto fields() {
    using R = RungRecord;
    return std::make_tuple(
        field("title", &R::title), field("group", &R::group), field("mark", &R::mark), defaulted("end", &R::end),
        defaulted("best_serial", &R::best_serial), defaulted("command", &R::command), defaulted("version", &R::version),
        defaulted("limit", &R::limit), defaulted("verdict", &R::verdict), field("threads", &R::threads),
        field("ranks", &R::ranks), defaulted("growth", &R::growth), field("measured_samples", &R::measured_samples),
        field("samples_per_epoch", &R::samples_per_epoch), defaulted("check_samples", &R::check_samples),
        defaulted("scale", &R::scale), defaulted("flops", &R::flops), field("flops_per_second", &R::flops_per_second),
        field("peak_share", &R::peak_share), field("accuracy", &R::accuracy), field("loss", &R::loss),
        field("largest_difference", &R::largest_difference), field("explained", &R::explained),
        field("pop_load_balance", &R::pop_load_balance), field("pop_serialisation", &R::pop_serialisation),
        field("pop_transfer", &R::pop_transfer), field("pop_communication", &R::pop_communication),
        field("pop_parallel", &R::pop_parallel));
  }
};

/// Kind "verdict": a rung that did not run here.
struct LeftOutRecord {
  std::string text{}, rung{}, title{}, why{};
  static constexpr auto fields() {
    using R = LeftOutRecord;
    return std::make_tuple(field("text", &R::text), defaulted("rung", &R::rung), defaulted("title", &R::title),
                           defaulted("why", &R::why));
  }
};

/// Kind "section": position, seconds, operations and bytes per epoch of every section.
struct SectionsRecord {
  std::string title{};
  std::map<std::string, std::vector<double>> sections{};
  static constexpr auto fields() {
    using R = SectionsRecord;
    return std::make_tuple(defaulted("title", &R::title), field("", &R::sections));
  }
};

/// Kind "roofline": operations per byte and operations per second of every layer.
struct RooflineRecord {
  std::string title{};
  int threads = 1;
  std::map<std::string, std::vector<double>> points{};
  static constexpr auto fields() {
    using R = RooflineRecord;
    return std::make_tuple(defaulted("title", &R::title), defaulted("threads", &R::threads), field("", &R::points));
  }
};

/// Kind "fit": measured speed-ups, or a law fitted to them. Intervals only of 6 samples or more.
struct FitRecord {
  ScalingLaw law = ScalingLaw::none;
  std::string of{};     // "threads", "ranks", "weak threads"
  std::string text{};   // what it says
  std::string exact{};  // "yes": as many points as parameters
  std::optional<double> samples_of_fewest{}, predicted{};
  std::optional<double> serial{}, serial_low{}, serial_high{};
  std::optional<double> contention{}, contention_low{}, contention_high{};
  std::optional<double> coherence{}, coherence_low{}, coherence_high{};
  std::map<std::string, double> karp_flatt{};  // by the number of workers
  std::vector<double> workers{}, speedup{}, low{}, high{}, counts{}, predicted_speedup{};

  static constexpr auto fields() {
    using R = FitRecord;
    return std::make_tuple(
        field("law", &R::law), field("of", &R::of), defaulted("text", &R::text), defaulted("exact", &R::exact),
        field("n", &R::samples_of_fewest), field("predicted", &R::predicted), field("serial", &R::serial),
        field("serial_low", &R::serial_low), field("serial_high", &R::serial_high), field("contention", &R::contention),
        field("contention_low", &R::contention_low), field("contention_high", &R::contention_high),
        field("coherence", &R::coherence), field("coherence_low", &R::coherence_low),
        field("coherence_high", &R::coherence_high), field("karp_flatt_", &R::karp_flatt),
        field("workers", &R::workers), field("speedup", &R::speedup), field("low", &R::low), field("high", &R::high),
        field("n", &R::counts), field("predicted", &R::predicted_speedup));
  }
};

/// Kind "curve": the whole training of the configuration, epoch by epoch.
struct CurveRecord {
  std::string rung{};  // the title of the one that trained
  double seconds = 0;
  std::optional<double> test_accuracy{};
  std::vector<double> loss{}, accuracy{}, validation_loss{}, validation_accuracy{};
  static constexpr auto fields() {
    using R = CurveRecord;
    return std::make_tuple(field("rung", &R::rung), field("seconds", &R::seconds),
                           field("test_accuracy", &R::test_accuracy), field("loss", &R::loss),
                           field("accuracy", &R::accuracy), field("validation loss", &R::validation_loss),
                           field("validation accuracy", &R::validation_accuracy));
  }
};

/// Kind "check": a rule of measuring.
struct CheckRecord {
  report::Rule::State state = report::Rule::State::kept;
  std::string why{};
  static constexpr auto fields() {
    return std::make_tuple(field("state", &CheckRecord::state), field("why", &CheckRecord::why));
  }
};

}  // namespace cli

template <>
inline constexpr std::array kNames<cli::WeightMark> = {"same", "differs", "own weights", "other training"};

}  // namespace lockstep
