#include "lockstep/lab/report/html_parts.hpp"

#include <fmt/format.h>

#include "lockstep/lab/report/escape.hpp"
#include "lockstep/lab/report/plot.hpp"

namespace lockstep::report {

namespace {

std::string svg(const Picture& picture, const std::string& name, const std::string& title,
                const std::string& description) {
  return fmt::format(
      "<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-labelledby=\"{}-t {}-d\"><title id=\"{}-t\">{}</title>"
      "<desc id=\"{}-d\">{}</desc>\n{}</svg>\n",
      picture.width, picture.height, name, name, name, escape_html(title), name, escape_html(description),
      picture.content);
}

std::string legend_item(std::string_view symbol, const std::string& name) {
  return fmt::format("<li>{}{}</li>", symbol, escape_html(name));
}

std::string dot(const std::string& tone) { return fmt::format("<i class=\"dot {}\"></i>", tone); }

std::string legend(const std::string& items, std::string_view classes) {
  return items.empty() ? "" : fmt::format("<ul class=\"legend{}\">{}</ul>\n", classes, items);
}

/// The line of a series as it is drawn, with its marker.
std::string line_symbol(const LineSeries& series, std::size_t index) {
  Drawing drawing;
  const bool ideal = series.kind == LineKind::ideal;
  const std::string tone =
      ideal && series.tone == Tone::automatic ? tone_class(Tone::neutral, 0) : tone_class(series.tone, index);
  drawing.line(1, 6, 23, 6, fmt::format("{} {}", line_class(series.kind), tone));
  if (series.kind == LineKind::measured) drawing.marker(12, 6, index, tone);
  return fmt::format("<svg class=\"key\" viewBox=\"0 0 24 12\" aria-hidden=\"true\">{}</svg>", drawing.str());
}

std::string marker_symbol(Tone tone, std::size_t shape) {
  Drawing drawing;
  drawing.marker(6, 6, shape, tone_class(tone, shape));
  return fmt::format("<svg class=\"key dotted\" viewBox=\"0 0 12 12\" aria-hidden=\"true\">{}</svg>", drawing.str());
}

std::string legend_html(const BarChart& chart, bool) {
  std::string items;
  if (chart.series.size() > 1)
    for (std::size_t s = 0; s < chart.series.size(); ++s)
      items += legend_item(dot(tone_class(chart.series[s].tone, s)), chart.series[s].name);
  return legend(items, "");
}

/// Where there is room, the names stand at the ends of the lines instead.
std::string legend_html(const LineChart& chart, bool compact) {
  std::string items;
  if (compact)
    for (std::size_t s = 0; s < chart.series.size(); ++s)
      if (!chart.series[s].name.empty()) items += legend_item(line_symbol(chart.series[s], s), chart.series[s].name);
  return legend(items, "");
}

std::string legend_html(const ScatterChart& chart, bool) {
  std::string items;
  for (std::size_t s = 0; s < chart.tones.size(); ++s)
    items += legend_item(marker_symbol(chart.tones[s].tone, s), chart.tones[s].name);
  return legend(items, "");
}

std::string legend_html(const HeatMap&, bool) { return {}; }
std::string legend_html(const NetworkDrawing&, bool) { return {}; }
std::string legend_html(const PointCloud& chart, bool) {
  std::string items;
  for (std::size_t s = 0; s < chart.groups.size(); ++s)
    items += legend_item(
        marker_symbol(chart.groups[s].tone == Tone::automatic ? automatic_tone(s) : chart.groups[s].tone, 0),
        chart.groups[s].name);
  return legend(items, "");
}

/// Below a compact roofline: what its numbers mean.
std::string key_html(const ScatterChart& chart, bool compact) {
  if (!compact || chart.points.empty()) return {};
  std::string items;
  for (const ScatterPoint& point : chart.points) items += fmt::format("<li>{}</li>", escape_html(point.label));
  return fmt::format("<ol class=\"numbers\">{}</ol>\n", items);
}
/// Below a compact matrix: the names of its classes.
std::string key_html(const HeatMap& chart, bool compact) {
  if (!compact) return {};
  std::string items;
  for (const std::string& name : chart.names) items += fmt::format("<li>{}</li>", escape_html(name));
  return fmt::format("<ol class=\"numbers\" start=\"0\">{}</ol>\n", items);
}
template <class Other>
std::string key_html(const Other&, bool) {
  return {};
}

template <class Kind>
std::string figure_of(const Kind& chart, const std::string& name, bool small) {
  struct Version {
    std::string_view classes, suffix;
    PlotOptions options;
  };
  constexpr double kPage = 860, kHalf = 410, kTelephone = 320;
  const Version versions[] = {
      {"wide", "w", {.width = small ? kHalf : kPage, .compact = small}},
      {"narrow", "n", {.width = kTelephone, .compact = true}},
  };
  std::string out = fmt::format("<figure id=\"{}\" class=\"{}\">\n", name, small ? "chart small" : "chart");
  out += fmt::format("<figcaption>{}</figcaption>\n", escape_html(chart.title));
  std::vector<std::string> remarks;
  for (Version version : versions) {
    version.options.name = fmt::format("{}{}", name, version.suffix);
    const Picture picture = draw(chart, version.options);
    remarks = picture.remarks;
    out += fmt::format(
        "<div class=\"{}\">\n{}{}{}</div>\n", version.classes, legend_html(chart, version.options.compact),
        svg(picture, version.options.name, chart.title, chart.description), key_html(chart, version.options.compact));
  }
  std::string note = running_html(chart.note);
  for (const std::string& remark : remarks) note += (note.empty() ? "" : " ") + escape_html(remark);
  if (!note.empty()) out += fmt::format("<p class=\"note\">{}</p>\n", note);
  return out + "</figure>\n";
}

}  // namespace

std::string figure_html(const Chart& chart, const std::string& name, bool small) {
  return std::visit(
      [&](const auto& kind) { return figure_of(kind, kind.id.empty() ? name : slug(kind.id) + '-' + name, small); },
      chart);
}

}  // namespace lockstep::report
