// The extension module lockstep._core: what python/lockstep/__init__.py stands on.

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string_view>
#include <utility>

#include "lockstep/core/error.hpp"
#include "lockstep/core/version.hpp"
#include "lockstep/kernels/backend.hpp"
#include "lockstep/run/rank_session.hpp"
#include "python/src/net.hpp"
#include "python/src/records.hpp"
#include "python/src/runs.hpp"
#include "python/src/samples.hpp"
#include "python/src/session.hpp"

namespace nb = nanobind;

namespace lockstep::python {

namespace {

const char* name_of_code(ErrorCode code) {
  constexpr const char* kNames[] = {"done",   "bug",       "usage",    "data",      "checkpoint", "resources",
                                    "in_use", "peer_lost", "diverged", "integrity", "preempted"};
  return kNames[static_cast<int>(code)];
}

/// What the library names as keys of a configuration, as Python writes it.
constexpr std::pair<std::string_view, std::string_view> kWords[] = {
    {"--set ", ""},
    {"--data: data.source: ", ""},
    {"fit: train.", "fit: "},
    {"evaluate: train.", "evaluate: "},
    {"gradient: train.", "gradient: "},
    {"Network: model.", "Network: "},
    {"; for real targets set regression", "; for numbers as targets, loss=\"squared-error\""},
    {"lower train.optimizer.lr or set train.clip_norm", "lower the lr of the optimizer or set clip_norm"},
};

std::string in_python_words(std::string text) {
  for (const auto& [key, word] : kWords)
    for (std::size_t at = text.find(key); at != std::string::npos; at = text.find(key, at + word.size()))
      text.replace(at, key.size(), word);
  return text;
}

/// An Error of Lockstep is a lockstep.Error in Python.
void translate(const std::exception_ptr& failure, void*) {
  try {
    std::rethrow_exception(failure);
  } catch (const Error& error) {
    const bool reported = dynamic_cast<const ReportedByRank0*>(&error) != nullptr;
    const nb::object type = nb::module_::import_("lockstep._error").attr("Error");
    const nb::object instance = type(in_python_words(error.what()), name_of_code(error.code()), reported);
    PyErr_SetObject(type.ptr(), instance.ptr());
  }
}

}  // namespace

}  // namespace lockstep::python

NB_MODULE(_core, module) {
  using namespace lockstep::python;
  nb::set_leak_warnings(false);  // at the end of an interpreter that trains
  nb::register_exception_translator(&translate);
  module.attr("version") = lockstep::version();
  module.attr("numerics_version") = lockstep::kNumericsVersion;
  module.def("backends", [] { return lockstep::backend_names(); });
  bind_records(module);
  bind_samples(module);
  bind_net(module);
  bind_session(module);
  bind_runs(module);
}
