#include "lockstep/run/tensorboard.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/core/system.hpp"
#include "lockstep/run/directory.hpp"

namespace lockstep {

namespace fs = std::filesystem;

namespace {

std::string little_endian(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>((value >> (8 * i)) & 0xff);
  return text;
}

/// A message of protocol buffers, field by field.
class Message {
 public:
  Message& number(int field, std::uint64_t value) { return key(field, 0).raw(value); }
  Message& real(int field, double value) {
    key(field, 1).text_ += little_endian(std::bit_cast<std::uint64_t>(value), 8);
    return *this;
  }
  Message& single(int field, float value) {
    key(field, 5).text_ += little_endian(std::bit_cast<std::uint32_t>(value), 4);
    return *this;
  }
  Message& bytes(int field, std::string_view value) {
    key(field, 2).raw(value.size()).text_ += value;
    return *this;
  }
  Message& message(int field, const Message& value) { return bytes(field, value.text_); }
  Message& reals(int field, const std::vector<double>& values) {
    std::string packed;
    for (const double value : values) packed += little_endian(std::bit_cast<std::uint64_t>(value), 8);
    return bytes(field, packed);
  }
  const std::string& text() const { return text_; }

 private:
  Message& key(int field, int wire) { return raw(static_cast<std::uint64_t>((field << 3) | wire)); }
  Message& raw(std::uint64_t value) {
    for (; value >= 128; value >>= 7) text_ += static_cast<char>((value & 127) | 128);
    text_ += static_cast<char>(value);
    return *this;
  }

  std::string text_{};
};

// Numbers of fields in tensorboard's event.proto, summary.proto, graph.proto and node_def.proto.
constexpr int kTime = 1, kStep = 2, kVersion = 3, kGraph = 4, kSummary = 5;
constexpr int kValue = 1, kTag = 1, kSimple = 2, kImage = 4, kHistogram = 5;

double now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

Message scalar(const std::string& tag, double value) {
  return Message().bytes(kTag, tag).single(kSimple, static_cast<float>(value));
}

void add_scores(Message& summary, const char* part, const Scores& scores) {
  const auto add = [&](const std::string& name, double value) {
    summary.message(kValue, scalar(fmt::format("{}/{}", name, part), value));
  };
  add("loss", scores.loss);
  if (scores.accuracy()) add("accuracy", *scores.accuracy());
  for (const MetricValue& metric : scores.metrics) add(metric.name, metric.value);
}

/// Thirty buckets of equal width between the smallest and the largest.
template <class T>
Message histogram(std::span<const T> values) {
  constexpr std::size_t kBuckets = 30;
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const double first = double(*low), width = std::max((double(*high) - first) / double(kBuckets), 1e-30);
  std::vector<double> limits, counts(kBuckets, 0);
  for (std::size_t b = 0; b < kBuckets; ++b) limits.push_back(first + double(b + 1) * width);
  double sum = 0, squares = 0;
  for (const T value : values) {
    sum += double(value);
    squares += double(value) * double(value);
    const double place = std::clamp((double(value) - first) / width, 0.0, double(kBuckets - 1));
    ++counts[static_cast<std::size_t>(place)];
  }
  return Message()
      .real(1, first)
      .real(2, double(*high))
      .real(3, double(values.size()))
      .real(4, sum)
      .real(5, squares)
      .reals(6, limits)
      .reals(7, counts);
}

/// Grey levels as a PNG file.
std::string png_of(std::int64_t height, std::int64_t width, const std::vector<unsigned char>& pixels) {
  const auto big_endian = [](std::uint32_t value) {
    std::string text = little_endian(value, 4);
    std::reverse(text.begin(), text.end());
    return text;
  };
  std::string rows;
  for (std::int64_t y = 0; y < height; ++y) {
    rows += '\0';
    rows.append(reinterpret_cast<const char*>(pixels.data()) + y * width, static_cast<std::size_t>(width));
  }
  uLongf size = compressBound(rows.size());
  std::string packed(size, '\0');
  if (compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(rows.data()),
               rows.size()) != Z_OK)
    throw Error(ErrorCode::resources, "a picture of filters could not be packed");
  packed.resize(size);
  const auto chunk = [&](const std::string& kind, const std::string& data) {
    const std::string body = kind + data;
    const auto sum = crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
    return big_endian(static_cast<std::uint32_t>(data.size())) + body + big_endian(static_cast<std::uint32_t>(sum));
  };
  const std::string head = big_endian(static_cast<std::uint32_t>(width)) +
                           big_endian(static_cast<std::uint32_t>(height)) + std::string("\x08\x00\x00\x00\x00", 5);
  return std::string("\x89PNG\r\n\x1a\n") + chunk("IHDR", head) + chunk("IDAT", packed) + chunk("IEND", "");
}

/// The filters of one input channel each, [out,in,h,w], in a grid with a line of grey between them.
template <class T>
Message filters(const ParameterInfo& info, std::span<const T> values) {
  const std::int64_t count = std::min<std::int64_t>(info.shape[0] * info.shape[1], 256), h = info.shape[2],
                     w = info.shape[3];
  const auto columns = static_cast<std::int64_t>(std::ceil(std::sqrt(double(count))));
  const std::int64_t rows = (count + columns - 1) / columns, width = columns * (w + 1) + 1, height = rows * (h + 1) + 1;
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const double range = std::max(double(*high) - double(*low), 1e-30);
  std::vector<unsigned char> pixels(static_cast<std::size_t>(width * height), 128);
  for (std::int64_t f = 0; f < count; ++f)
    for (std::int64_t y = 0; y < h; ++y)
      for (std::int64_t x = 0; x < w; ++x) {
        const double value = double(values[static_cast<std::size_t>((f * h + y) * w + x)]);
        pixels[static_cast<std::size_t>((f / columns * (h + 1) + 1 + y) * width + f % columns * (w + 1) + 1 + x)] =
            static_cast<unsigned char>(255 * (value - double(*low)) / range);
      }
  return Message()
      .number(1, static_cast<std::uint64_t>(height))
      .number(2, static_cast<std::uint64_t>(width))
      .number(3, 1)
      .bytes(4, png_of(height, width, pixels));
}

void add_weights(Message& summary, const Network& network) {
  bool first = true;
  std::visit(
      [&](const auto& all) {
        for (const ParameterInfo& info : network.parameters()) {
          if (info.elements() == 0) continue;
          const auto values =
              all.span().subspan(static_cast<std::size_t>(info.offset), static_cast<std::size_t>(info.elements()));
          summary.message(kValue, Message().bytes(kTag, info.name).message(kHistogram, histogram(values)));
          if (first && info.shape.rank() == 4)
            summary.message(kValue,
                            Message().bytes(kTag, "filters/" + info.name).message(kImage, filters(info, values)));
          first = false;
        }
      },
      network.values());
}

/// A node per layer, each fed by the one before.
Message graph_of(const Network& network) {
  Message graph;
  std::string before = "input";
  graph.message(1, Message().bytes(1, before).bytes(2, "Placeholder"));
  for (const LayerPlan& plan : network.plans()) {
    const std::string name = fmt::format("{}_{}", plan.path, layer_type(plan.spec));
    graph.message(1, Message().bytes(1, name).bytes(2, layer_type(plan.spec)).bytes(3, before));
    before = name;
  }
  return graph;
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
  static const std::array<std::uint32_t, 256> kTable = [] {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      table[i] = i;
      for (int bit = 0; bit < 8; ++bit) table[i] = table[i] >> 1 ^ ((table[i] & 1) != 0 ? 0x82f63b78U : 0);
    }
    return table;
  }();
  std::uint32_t sum = ~0U;
  for (const char c : bytes) sum = sum >> 8 ^ kTable[(sum ^ static_cast<unsigned char>(c)) & 255];
  return ~sum;
}

std::string framed_record(std::string_view bytes) {
  const auto masked = [](std::string_view text) {
    const std::uint32_t sum = crc32c(text);
    return little_endian(static_cast<std::uint32_t>((sum >> 15 | sum << 17) + 0xa282ead8U), 4);
  };
  const std::string length = little_endian(bytes.size(), 8);
  return length + masked(length) + std::string(bytes) + masked(bytes);
}

EventFile::EventFile(const fs::path& directory, const Network& network) {
  const auto seconds = static_cast<std::int64_t>(now());
  for (int i = 0; path_.empty() || fs::exists(path_); ++i)
    path_ = directory / fmt::format("{}{}.{}.{}", kEventsPrefix, seconds, host_name(), i);
  append(Message().real(kTime, now()).bytes(kVersion, "brain.Event:2").text());
  append(Message().real(kTime, now()).message(kGraph, graph_of(network)).text());
}

void EventFile::add(const EpochReport& report, const Network& network) {
  Message summary;
  add_scores(summary, "train", report.train);
  if (report.validation) add_scores(summary, "validation", *report.validation);
  summary.message(kValue, scalar("lr", report.rate));
  if (report.times.total > 0)
    summary.message(kValue, scalar("samples_per_second", double(report.train.samples) / report.times.total));
  add_weights(summary, network);
  append(Message()
             .real(kTime, now())
             .number(kStep, static_cast<std::uint64_t>(report.epoch))
             .message(kSummary, summary)
             .text());
}

void EventFile::add(const char* part, const Scores& scores, std::int64_t epoch) {
  Message summary;
  add_scores(summary, part, scores);
  append(
      Message().real(kTime, now()).number(kStep, static_cast<std::uint64_t>(epoch)).message(kSummary, summary).text());
}

void EventFile::append(const std::string& event) const {
  std::ofstream file(path_, std::ios::binary | std::ios::app);
  const std::string record = framed_record(event);
  file.write(record.data(), std::ssize(record));
  file.flush();
  if (!file) fail_system(ErrorCode::resources, path_.string(), errno);
}

}  // namespace lockstep
