// gallery FOLDER: writes gallery.html and gallery.json, a document with every kind of block and chart and with names
// that try to break out of it. The numbers are made up; page_test.py looks at the page in a browser.

#include <cmath>
#include <cstdio>
#include <limits>

#include "lockstep/lab/report/write.hpp"

namespace lockstep::report {
namespace {

constexpr const char* kHostile = "<script>alert(1)</script>\"'&\x1b[31m\xff\xe2\x80\xae";

void add_summary(Document& document) {
  document.section("Summary")
      .add(Headline{.numbers = {{"31.4×", "faster than plain loops on one core", "95 % interval 30.9 to 32.0"},
                                {"1.87×", "two threads against one", "efficiency 93 %"},
                                {"13 of 13", "rungs with the same bits", "weight hash 94752387ab664d7c"}}})
      .add(Paragraph{
          "Two threads train **1.87 times** as fast as one; the limit is the barrier after every step. The "
          "kernels of `simd` reach 71 % of the measured peak. Method: https://doi.org/10.1145/2807591.2807644."})
      .add(Notice{.kind = Notice::Kind::warning,
                  .text = "The machine was busy: load 3.2 on 2 cores. Close other "
                          "programs and repeat."})
      .add(Notice{.kind = Notice::Kind::good, .text = "Every rung has the same weight hash."})
      .add(Notice{.kind = Notice::Kind::info, .text = "All figures of this page are made up."})
      .add(List{.items = {"naive: limited by **scalar arithmetic**", "threads: limited by waiting at the barrier, 6 %",
                          std::string("a hostile name: ") + kHostile}});
}

Row rung(const char* name, Tone tone, double seconds, double speed_up, Mark mark) {
  Row row{
      .cells =
          {name,
           Cell(seconds).interval(seconds * 0.98, seconds * 1.03).sampled({seconds * 0.98, seconds, seconds * 1.03}),
           Cell(speed_up), Cell(speed_up / 700), Cell("94752387ab664d7c").marked(mark)},
      .tone = tone};
  if (tone == Tone::naive && seconds < 200) row.mark = Mark::baseline;
  if (mark == Mark::differs) row.cells.back() = Cell("0c11fa0993d2e7aa").marked(mark).noted("largest difference 3e-7");
  return row;
}

void add_ladder(Document& document) {
  Section& section = document.section("The ladder");
  section.add(
      Table{.id = "rungs",
            .title = "Every rung on this machine",
            .columns = {{.title = "Rung", .role = Role::call_path},
                        {.title = "Time per epoch", .format = seconds(), .role = Role::metric},
                        {.title = "Speed-up", .unit = "against naive", .format = ratio()},
                        {.title = "Share of peak", .format = percent(1)},
                        {.title = "Weights"}},
            .rows = {rung("plain loops, -O0", Tone::naive, 411.3, 0.14, Mark::same),
                     rung("plain loops", Tone::naive, 58.2, 1, Mark::same),
                     rung("library", Tone::library, 3.31, 17.6, Mark::differs),
                     rung("SIMD, 1 thread", Tone::simd, 2.42, 24.0, Mark::same),
                     rung("SIMD, 2 threads", Tone::threads, 1.29, 45.1, Mark::same),
                     rung("2 ranks", Tone::ranks, 1.35, 43.1, Mark::same),
                     rung("2 ranks × 2 threads", Tone::hybrid, 1.41, 41.3, Mark::same),
                     rung("OpenCL", Tone::device, 4.9, 11.9, Mark::same),
                     rung("PyTorch, eager", Tone::peer, 4.1, 14.2, Mark::none)},
            .notes = {"Medians of 7 runs in turns with the 95 % interval of the median. `library` is outside of "
                      "the promise."}});
  BarChart bars{.id = "ladder",
                .title = "Time per epoch: shorter is better",
                .description =
                    "Horizontal bars of the time per epoch of each rung on a logarithmic axis, from 411 "
                    "seconds for plain loops without optimisation to 1.3 seconds on two threads.",
                .axis = {.title = "Time per epoch", .unit = "s", .scale = Scale::log}};
  struct Bar {
    const char* name;
    double value;
    Tone tone;
  };
  for (const Bar& bar : {Bar{"plain loops, -O0", 411.3, Tone::naive},
                         {"plain loops", 58.2, Tone::naive},
                         {"library", 3.31, Tone::library},
                         {"SIMD, 1 thread", 2.42, Tone::simd},
                         {"SIMD, 2 threads", 1.29, Tone::threads},
                         {"2 ranks", 1.35, Tone::ranks},
                         {"2 ranks × 2 threads", 1.41, Tone::hybrid},
                         {"OpenCL", 4.9, Tone::device},
                         {"PyTorch, eager, with a name that does not fit", 4.1, Tone::peer},
                         {kHostile, 0, Tone::naive}})
    bars.groups.push_back({.label = bar.name,
                           .bars = {{bar.value, Interval{bar.value * 0.9, bar.value * 1.15}}},
                           .tone = bar.tone,
                           .note = bar.value == 58.2 ? "baseline" : ""});
  section.add(bars);
  section.add(BarChart{.title = "Sections: where the time of a step goes",
                       .description = "Stacked bars per rung.",
                       .axis = {.title = "Time per step", .unit = "ms", .format = fixed(1)},
                       .series = {{"forward"}, {"backward"}, {"update"}, {"waiting", Tone::neutral}},
                       .groups = {{.label = "1 thread", .bars = {{3.1}, {6.2}, {0.9}, {0.0}}},
                                  {.label = "2 threads", .bars = {{1.6}, {3.2}, {0.5}, {0.3}}},
                                  {.label = "4 threads (more than cores)", .bars = {{1.7}, {3.4}, {0.5}, {2.3}}}},
                       .stacked = true});
  section.add(BarChart{.title = "Gain of each layer",
                       .description = "Grouped bars.",
                       .axis = {.title = "Speed-up", .unit = "×"},
                       .series = {{"SIMD", Tone::simd}, {"2 threads", Tone::threads}, {"2 ranks", Tone::ranks}},
                       .groups = {{.label = "conv2d 1", .bars = {{28, Interval{26, 30}}, {50}, {48}}},
                                  {.label = "linear", .bars = {{19}, {31}, {-2.5}}},
                                  {.label = "max pool", .bars = {{7}, {std::nan("")}, {12.3}}}}});
}

void add_scaling(Document& document) {
  LineChart speed_up{
      .id = "scaling",
      .title = "Speed-up of strong scaling",
      .description = "Measured speed-up on 1 to 16 ranks with its fit, band, prediction and the ideal line.",
      .x = {.title = "Ranks", .scale = Scale::log, .ticks = {1, 2, 4, 8, 16}},
      .y = {.title = "Speed-up against one rank", .unit = "×", .scale = Scale::log, .ticks = {1, 2, 4, 8, 16}},
      .note = "Whiskers and band: 95 %."};
  LineSeries measured{.name = "measured", .tone = Tone::ranks},
      fit{.name = "Amdahl, fitted", .tone = Tone::ranks, .kind = LineKind::fit},
      predicted{.name = "Amdahl from the profile", .tone = Tone::simd, .kind = LineKind::predicted},
      ideal{.name = "ideal", .kind = LineKind::ideal};
  for (const double n : {1.0, 2.0, 4.0, 8.0, 16.0}) {
    const double s = 1 / (0.08 + 0.92 / n);
    measured.points.push_back({n, s * 0.97, Interval{s * 0.9, s * 1.03}});
    fit.points.push_back({n, s});
    fit.band.push_back({n, s * (1 - 0.01 * n), s * (1 + 0.012 * n)});
    predicted.points.push_back({n, 1 / (0.05 + 0.95 / n)});
    ideal.points.push_back({n, n});
  }
  speed_up.series = {measured, fit, predicted, ideal};
  LineChart loss{.title = "Loss",
                 .description = "Loss over steps.",
                 .x = {.title = "Step"},
                 .y = {.title = "Loss", .scale = Scale::log}};
  LineSeries noisy{.name = "training"};
  for (int i = 0; i < 20000; ++i)
    noisy.points.push_back({static_cast<double>(i),
                            2.3 * std::exp(-i / 6000.0) * (1 + 0.2 * std::sin(i * 12.9898) * std::sin(i * 78.233))});
  noisy.points[5000].y = std::numeric_limits<double>::infinity();
  loss.series = {noisy};
  LineChart accuracy{.title = "Accuracy",
                     .description = "Accuracy per epoch.",
                     .x = {.title = "Epoch"},
                     .y = {.title = "Accuracy", .format = percent(0)},
                     .series = {{.name = "training", .points = {{1, .71}, {2, .82}, {3, .86}, {4, .88}, {5, .89}}},
                                {.name = "validation", .points = {{1, .74}, {2, .81}, {3, .85}, {4, .87}, {5, .88}}}}};
  LineChart few{.title = "Few epochs and a narrow range",
                .description = "Ticks must not round to the same text.",
                .x = {.title = "Epoch", .format = integer()},
                .y = {.title = "Accuracy", .format = percent(0)},
                .series = {{.name = "validation", .points = {{1, .955}, {2, .962}, {3, .967}, {4, .97}, {5, .974}}}}};
  document.section("Scaling").add(speed_up).add(Panels{{loss, accuracy}}).add(few);
}

void add_roofline(Document& document) {
  ScatterChart roof{.title = "Roofline: every layer under the ceilings of this machine",
                    .description = "Points of each layer, log-log, below memory and arithmetic ceilings.",
                    .x = {.title = "Operational intensity", .unit = "FLOP/byte", .scale = Scale::log},
                    .y = {.title = "Performance", .unit = "GFLOP/s", .scale = Scale::log},
                    .ceilings = {{.label = "memory 11.8 GB/s", .slope = 11.8},
                                 {.label = "L2 cache 88 GB/s", .slope = 88},
                                 {.label = "peak, FMA 101 GFLOP/s", .level = 101},
                                 {.label = "peak without FMA 50 GFLOP/s", .level = 50}},
                    .tones = {{"forward", Tone::simd}, {"backward", Tone::ranks}},
                    .note = "Ceilings were measured on the spot."};
  const char* names[] = {"conv2d 1",     "relu 1",   "max_pool2d 1", "conv2d 2", "relu 2",
                         "max_pool2d 2", "linear 1", "linear 2",     "softmax"};
  for (int i = 0; i < 9; ++i) {
    const double x = 0.1 * std::pow(2.4, i % 7) * (i % 3 + 1), y = std::min(101.0, 60 * x) * 0.6;
    roof.points.push_back({.label = std::string(names[i]) + " forward", .x = x, .y = y, .tone = Tone::simd});
    roof.points.push_back(
        {.label = std::string(names[i]) + " backward", .x = x * 1.1, .y = y * 0.85, .tone = Tone::ranks});
  }
  roof.points.push_back({.label = kHostile, .x = 0, .y = -1});
  document.section("Roofline").add(roof);
}

void add_edges(Document& document) {
  Section& section = document.section("Edges");
  section.add(LineChart{.title = "No series", .description = "Empty."});
  section.add(LineChart{.title = "One point",
                        .description = "One.",
                        .x = {.title = "x"},
                        .y = {.title = "y", .unit = kHostile},
                        .series = {{.name = kHostile, .points = {{3, 0}}}}});
  section.add(BarChart{.title = "No groups", .description = "Empty."});
  Table wide{.id = "wide", .title = std::string("A wide table of ") + kHostile};
  wide.columns.push_back({.title = "Name"});
  for (int c = 0; c < 14; ++c)
    wide.columns.push_back({.title = "Column " + std::to_string(c), .unit = "ms", .format = fixed(3)});
  for (int r = 0; r < 3; ++r) {
    Row row{.cells = {kHostile}, .mark = r == 0 ? Mark::published : r == 1 ? Mark::simulated : Mark::warning};
    for (int c = 0; c < 12; ++c) row.cells.emplace_back(std::pow(10, c - 4) / 3);
    wide.rows.push_back(row);
  }
  section.add(wide);
}

/// A picture of one grey pixel.
constexpr const char* kPixel =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==";

HeatMap confusion(std::size_t classes, const std::string& name) {
  HeatMap map{.title = "Confusion of " + std::to_string(classes),
              .description = "Made up.",
              .rows_title = "truth",
              .columns_title = "answer"};
  for (std::size_t row = 0; row < classes; ++row) {
    map.names.push_back(name + std::to_string(row));
    auto& counts = map.counts.emplace_back(classes, 0);
    for (std::size_t k = 0; k < classes; ++k)
      counts[k] = row == k ? 900 - 100 * std::int64_t(row % 9) : std::int64_t((row * k * 37) % 400);
  }
  return map;
}

PointCloud cloud(bool regions) {
  PointCloud chart{.title = regions ? "Regions" : "Predicted against true",
                   .description = "Made up.",
                   .x = {.title = "x"},
                   .y = {.title = kHostile},
                   .diagonal = !regions};
  if (regions) chart.groups = {{.name = "cat"}, {.name = kHostile}, {.name = "a class with a long name"}};
  for (int i = 0; i < 90; ++i)
    chart.points.push_back({.x = std::cos(i) * i,
                            .y = std::sin(i) * i,
                            .group = regions ? std::size_t(i % 3) : 0,
                            .crossed = regions && i % 7 == 0});
  chart.points.push_back({.x = std::nan(""), .y = 1});
  if (!regions) return chart;
  chart.regions = {.columns = 24, .rows = 16, .x_low = -90, .x_high = 90, .y_low = -90, .y_high = 90};
  for (std::size_t i = 0; i < 24 * 16; ++i) {
    chart.regions->groups.push_back(i / 24 / 6 % 3);
    chart.regions->levels.push_back(static_cast<int>(i % 5));
  }
  return chart;
}

NetworkDrawing blocks(std::size_t layers) {
  NetworkDrawing network{.title = "A network of " + std::to_string(layers), .description = "Made up."};
  for (std::size_t i = 0; i < layers; ++i)
    network.layers.push_back({.name = i == 1 ? kHostile : "convolution",
                              .detail = "512 of 11x11, stride 2, pad 5",
                              .then = i % 2 == 0 ? "batch_norm, leaky_relu, dropout" : "",
                              .shape = "512 × 224 × 224",
                              .channels = double(1 + i),
                              .side = double(224 / (i + 1)),
                              .parameters = std::int64_t{1} << (3 * (i % 10)),
                              .share = i % 3 == 0 ? std::optional(1.0 / double(i + 1)) : std::nullopt,
                              .skipped = i > 3 && i < 11});
  return network;
}

void add_answers(Document& document) {
  Section& section = document.section("Answers");
  for (const std::size_t classes : {2, 10, 40}) section.add(confusion(classes, classes == 2 ? kHostile : "A class "));
  section.add(cloud(true))
      .add(Panels{.charts = {cloud(false), PointCloud{.title = "No points", .description = "Empty."}}});
  for (const std::size_t layers : {1, 5, 19, 80}) section.add(blocks(layers));
  section.add(
      PictureGrid{.title = "Pictures",
                  .items = {{.pictures = {kPixel, kPixel}, .lines = {kHostile, "truth: dog"}, .description = kHostile},
                            {.pictures = {"\" onerror=\"alert(1)"}, .lines = {"no picture"}}},
                  .note = "Made up."});
  section.add(Code{.text = "a = 1", .title = "config.toml", .folded = true});
}

void add_method(Document& document) {
  document.section("Machine and method")
      .add(Facts{.title = "Machine",
                 .facts = {{"Processor", "A processor with AVX2"},
                           {"Cores", "2"},
                           {"Memory", "7.8 GiB"},
                           {"Hostile", kHostile}}})
      .add(Checklist{
          .title = "Rules of measuring",
          .rules = {{Rule::State::kept, "Medians with intervals, never a bare mean", ""},
                    {Rule::State::partly, "Repeat until the interval is narrow", "3 of 13 rungs ran out of time"},
                    {Rule::State::broken, "A quiet machine", "load 3.2 on 2 cores"},
                    {Rule::State::not_applicable, "Slowest rank counts", "one rank"}}})
      .add(Code{.text = "lockstep ladder examples/lenet5-fashion.toml --threads 2 --out runs/ladder-of-a-long-name\n"
                        "lockstep report runs/ladder",
                .title = "To repeat it"});
}

Document gallery() {
  Document document{.title = "Gallery of a report",
                    .subtitle = "LeNet-5 on Fashion-MNIST, 60,000 samples, batch 64",
                    .footer = "Lockstep 0.1.0, made by `gallery`."};
  add_summary(document);
  add_ladder(document);
  add_scaling(document);
  add_roofline(document);
  add_edges(document);
  add_answers(document);
  add_method(document);
  return document;
}

}  // namespace
}  // namespace lockstep::report

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const auto document = lockstep::report::gallery();
  lockstep::report::write_report(document, argv[1], {.csv = true, .extra_p = true, .name = "gallery"});
  std::fputs(lockstep::report::to_text(document).c_str(), stdout);
}
