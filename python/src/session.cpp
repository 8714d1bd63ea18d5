#include "python/src/session.hpp"

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <memory>
#include <set>
#include <vector>

#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/parallel/launcher.hpp"
#include "lockstep/parallel/watchdog.hpp"
#include "python/src/net.hpp"

namespace nb = nanobind;

namespace lockstep::python {

namespace {

/// Guarded by the interpreter's lock.
std::unique_ptr<RankSession> launched;               // all ranks of the launcher
std::unique_ptr<RankSession> alone;                  // this process as the only rank
std::vector<std::unique_ptr<RankSession>> of_comms;  // in the order in which they were opened: the same on all ranks
std::set<Net*> nets_with_trainers;
bool is_over = false;

/// All ranks meet, and Lockstep's part of MPI ends: where Lockstep has started it, MPI itself, with `launched`.
void end_session() {
  is_over = true;
  for (Net* net : std::set<Net*>(nets_with_trainers)) net->forget_training();
  const nb::gil_scoped_release release;
  for (std::unique_ptr<RankSession>& each : of_comms) {
    each->ranks().barrier("end");
    each.reset();
  }
  of_comms.clear();
  if (launched && launched->ranks().size() > 1) launched->ranks().barrier("end");
  launched.reset();
}

/// A script that fails on one rank would let the others wait: all of them end.
void abort_session(const std::string& line) {
  if (launched) launched->end_all(ErrorCode::bug, line);
  if (!of_comms.empty()) of_comms.front()->end_all(ErrorCode::bug, line);
}

std::unique_ptr<RankSession> open_session(const RankSession::Connect& connect) {
  if (is_over) throw Error(ErrorCode::usage, "the interpreter ends, and MPI has ended already");
  const nb::gil_scoped_release release;
  return std::make_unique<RankSession>(
      [](const std::string& line) { write_line(fmt::format("lockstep: {}", one_line(line))); },
      std::function<void(int, const std::string&)>{}, true, connect);
}

RankSession* opened(const std::unique_ptr<RankSession>& session) {
  nb::module_::import_("lockstep._ranks").attr("started")(session->ranks().rank());
  return session.get();
}

}  // namespace

RankSession* session() {
  if (launched) return launched.get();
  if (!find_launcher()) return nullptr;
  launched = open_session({});
  return opened(launched);
}

RankSession* session(const Communicator& communicator) {
  if (!communicator) return session();
  const auto& [library, handle, size] = *communicator;
  if (size == 1) {
    if (!alone) alone = open_session([](LibraryCalls*) { return make_self_transport(); });
    return alone.get();
  }
  const MpiCommunicator wanted{library == "Open MPI" ? MpiLibrary::open_mpi : MpiLibrary::mpich, handle};
  const auto has_same = [&](const auto& each) { return has_ranks_of(each->ranks().transport(), wanted); };
  if (launched && has_same(launched)) return launched.get();
  const auto found = std::ranges::find_if(of_comms, has_same);
  if (found != of_comms.end()) return found->get();
  of_comms.push_back(open_session([&](LibraryCalls* calls) { return make_mpi_transport(wanted, calls); }));
  return opened(of_comms.back());
}

void note_trainer(Net& net) { nets_with_trainers.insert(&net); }
void forget_trainer(Net& net) { nets_with_trainers.erase(&net); }

void check_same(Ranks& ranks, const char* what, const std::string& fact) {
  const std::vector<std::string> all = ranks.all_gather(fact, "agreement");
  for (std::size_t rank = 1; rank < all.size(); ++rank)
    if (all[rank] != all[0])
      throw Error(ErrorCode::integrity,
                  fmt::format("rank {} has other {} than rank 0; all ranks must train with the same", rank, what));
}

void bind_session(nb::module_& module) {
  module.def("rank", [] { return session() == nullptr ? 0 : session()->ranks().rank(); });
  module.def("ranks", [] { return session() == nullptr ? 1 : session()->ranks().size(); });
  module.def("launched_ranks", [] {
    const auto launcher = find_launcher();
    return launcher ? launcher->size : 1;
  });
  module.def("end_session", &end_session);
  module.def("abort_session", &abort_session);
}

}  // namespace lockstep::python
