#include "lockstep/simulate/machine_model.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "lockstep/core/error.hpp"
#include "lockstep/parallel/rank_wait.hpp"

namespace lockstep {

namespace {

using nlohmann::json;

json points_json(const std::vector<MessageTime>& points) {
  json list = json::array();
  for (const MessageTime& each : points) list.push_back({each.bytes, each.seconds, each.cpu_seconds});
  return list;
}

std::vector<MessageTime> points_of(const json& list) {
  std::vector<MessageTime> points;
  for (const json& each : list) points.push_back({each.at(0), each.at(1), each.at(2)});
  return points;
}

double seconds_of(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

MessageTime message_time(std::span<const MessageTime> points, double bytes) {
  if (points.empty()) return {.bytes = bytes};
  const auto above =
      std::find_if(points.begin(), points.end(), [&](const MessageTime& point) { return point.bytes >= bytes; });
  if (above == points.begin()) return {bytes, above->seconds, above->cpu_seconds};
  if (above == points.end()) {
    const double share = bytes / points.back().bytes;
    return {bytes, points.back().seconds * share, points.back().cpu_seconds * share};
  }
  const MessageTime& below = *(above - 1);
  const double share = (bytes - below.bytes) / (above->bytes - below.bytes);
  return {bytes, std::lerp(below.seconds, above->seconds, share),
          std::lerp(below.cpu_seconds, above->cpu_seconds, share)};
}

bool MachineModel::crowded(int rank) const {
  if (empty()) return false;
  const int own = machine[static_cast<std::size_t>(rank)];
  return std::count(machine.begin(), machine.end(), own) > cores[static_cast<std::size_t>(own)];
}

double MachineModel::message_cpu(int from, int to, double bytes) const {
  if (empty()) return 0;
  const bool near = host[static_cast<std::size_t>(from)] == host[static_cast<std::size_t>(to)];
  return message_time(near ? local : remote, bytes).cpu_seconds / 2;
}

double noticed_after(const NapTime& nap, double waited) {
  const double spin = seconds_of(RankWait::kSpin), naps = seconds_of(RankWait::kNapsUntil),
               longer = seconds_of(RankWait::kSleep - RankWait::kNap);
  if (nap.seconds <= 0 || waited <= spin) return waited;
  if (waited <= naps) return spin + std::ceil((waited - spin) / nap.seconds) * nap.seconds;
  return naps + std::ceil((waited - naps) / (nap.seconds + longer)) * (nap.seconds + longer);
}

std::string model_json(const MachineModel& model) {
  return json{{"machine", model.machine},
              {"cores", model.cores},
              {"host", model.host},
              {"local", points_json(model.local)},
              {"remote", points_json(model.remote)},
              {"nap", {model.nap.seconds, model.nap.cpu_seconds}}}
      .dump();
}

MachineModel parse_model(const std::string& text) {
  try {
    const json value = json::parse(text);
    return {.machine = value.at("machine").get<std::vector<int>>(),
            .cores = value.at("cores").get<std::vector<int>>(),
            .host = value.at("host").get<std::vector<int>>(),
            .local = points_of(value.at("local")),
            .remote = points_of(value.at("remote")),
            .nap = {value.at("nap").at(0), value.at("nap").at(1)}};
  } catch (const json::exception& error) {
    throw Error(ErrorCode::usage, fmt::format("this is no model of machines: {}", error.what()));
  }
}

}  // namespace lockstep
