#include "lockstep/lab/trace.hpp"

#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace lockstep {

std::string json_string(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

std::string chrome_trace(const Profile& profile) {
  std::string out;
  const auto append = [&out](fmt::string_view format, const auto&... values) {
    fmt::vformat_to(std::back_inserter(out), format, fmt::make_format_args(values...));
  };
  append("{{\"displayTimeUnit\": \"ms\",\n\"otherData\": {{\"threads\": {}, \"spans\": {}, \"dropped_spans\": {}}},\n",
         profile.threads(), profile.spans(), profile.dropped());
  out += "\"traceEvents\": [\n{\"ph\":\"M\",\"pid\":0,\"name\":\"process_name\",\"args\":{\"name\":\"lockstep\"}}";
  // What is the same in every span of a section.
  std::vector<std::string> labels;
  for (const SectionName& section : profile.sections())
    labels.push_back(
        fmt::format("\"name\":{},\"cat\":{}",
                    json_string(section.name == section.phase ? section.name : section.name + " " + section.phase),
                    json_string(section.phase)));
  for (int thread = 0; thread < profile.threads(); ++thread) {
    append(",\n{{\"ph\":\"M\",\"pid\":0,\"tid\":{0},\"name\":\"thread_name\",\"args\":{{\"name\":\"thread {0}\"}}}}",
           thread);
    for (const Span& span : profile.recorder(thread).spans()) {
      const std::int64_t ns = span.end_ns - span.start_ns;
      append(",\n{{\"ph\":\"X\",\"pid\":0,\"tid\":{},\"ts\":{}.{:03},\"dur\":{}.{:03},{}", thread, span.start_ns / 1000,
             span.start_ns % 1000, ns / 1000, ns % 1000, labels[static_cast<std::size_t>(span.section)]);
      if (span.flops > 0 && ns > 0)
        append(",\"args\":{{\"flops\":{:.0f},\"gflops_per_second\":{:.4g}}}", span.flops, span.flops / double(ns));
      out += '}';
    }
  }
  out += "\n]}\n";
  return out;
}

}  // namespace lockstep
