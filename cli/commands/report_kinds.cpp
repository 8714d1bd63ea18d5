#include "cli/commands/report_kinds.hpp"

#include <algorithm>

#include "cli/ladder/report.hpp"
#include "cli/reproduce/reproduce.hpp"
#include "cli/simulate/results.hpp"
#include "cli/simulate/validation_report.hpp"
#include "lockstep/lab/report/results_page.hpp"

namespace lockstep::cli {

std::span<const ReportKind> report_kinds() {
  // Kinds that lead a file stand before those that accompany others (fit, roofline, section, curve, verdict, check).
  static constexpr ReportKind kKinds[] = {
      {"ladder", ladder_document},
      {"experiment", experiment_document},
      {"simulation", simulation_document},
      {"validation", validation_document},
      {"measurement", report::results_document},
  };
  return kKinds;
}

report::Document document_of(std::span<const Result> results) {
  for (const ReportKind& entry : report_kinds())
    if (std::any_of(results.begin(), results.end(), [&](const Result& result) { return result.kind == entry.kind; }))
      return entry.make(results);
  return report::results_document(results);
}

}  // namespace lockstep::cli
