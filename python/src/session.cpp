#include "python/src/session.hpp"

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <set>

#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/parallel/launcher.hpp"
#include "lockstep/parallel/watchdog.hpp"
#include "python/src/net.hpp"

namespace nb = nanobind;

namespace lockstep::python {

namespace {

/// Guarded by the interpreter's lock.
std::unique_ptr<RankSession> the_session;
std::set<Net*> nets_with_trainers;
bool is_over = false;

/// All ranks meet, and MPI ends.
void end_session() {
  is_over = true;
  if (!the_session) return;
  for (Net* net : std::set<Net*>(nets_with_trainers)) net->forget_training();
  const nb::gil_scoped_release release;
  if (the_session->ranks().size() > 1) the_session->ranks().barrier("end");
  the_session.reset();
}

/// A script that fails on one rank would let the others wait: all of them end.
void abort_session(const std::string& line) {
  if (the_session) the_session->end_all(ExitCode::bug, line);
}

}  // namespace

bool has_session() { return the_session != nullptr; }

RankSession* session() {
  if (the_session) return the_session.get();
  if (!find_launcher()) return nullptr;
  if (is_over) throw Error(ExitCode::usage, "the interpreter ends, and MPI has ended already");
  {
    const nb::gil_scoped_release release;
    the_session = std::make_unique<RankSession>(
        [](const std::string& line) { write_line(fmt::format("lockstep: {}", one_line(line))); },
        std::function<void(int, const std::string&)>{}, true);
  }
  nb::module_::import_("lockstep._ranks").attr("started")(the_session->ranks().rank());
  return the_session.get();
}

void note_trainer(Net& net) { nets_with_trainers.insert(&net); }
void forget_trainer(Net& net) { nets_with_trainers.erase(&net); }

void check_same(Ranks& ranks, const char* what, const std::string& fact) {
  const std::vector<std::string> all = ranks.all_gather(fact, "agreement");
  for (std::size_t rank = 1; rank < all.size(); ++rank)
    if (all[rank] != all[0])
      throw Error(ExitCode::integrity,
                  fmt::format("rank {} has other {} than rank 0; all ranks must train with the same", rank, what));
}

void bind_session(nb::module_& module) {
  module.def("rank", [] { return session() == nullptr ? 0 : session()->ranks().rank(); });
  module.def("ranks", [] { return session() == nullptr ? 1 : session()->ranks().size(); });
  module.def("end_session", &end_session);
  module.def("abort_session", &abort_session);
}

}  // namespace lockstep::python
