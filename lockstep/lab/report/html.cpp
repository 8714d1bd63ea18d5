#include "lockstep/lab/report/write.hpp"

#include <span>

#include <fmt/format.h>

#include "lockstep/core/sha256.hpp"
#include "lockstep/lab/report/document.hpp"
#include "lockstep/lab/report/escape.hpp"
#include "lockstep/lab/report/html_parts.hpp"
#include "lockstep/lab/report/picture.hpp"
#include "lockstep/lab/text_table.hpp"

namespace lockstep::report {

namespace {

constexpr std::string_view kBase64Digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=";

/// The one style sheet is allowed by its hash; scripts, pictures from elsewhere, frames and forms are not allowed at
/// all.
std::string security_policy(std::string_view style) {
  Sha256 hash;
  hash.update(std::as_bytes(std::span(style)));
  return fmt::format("default-src 'none'; style-src 'sha256-{}'; img-src data:; base-uri 'none'; form-action 'none'",
                     base64(hash.finish()));
}

/// Writes blocks one after another; names of tables and figures are unique in the page.
class Page {
 public:
  explicit Page(const Document& document) : document_(document), tables_(tables_of(document)) {}

  std::string str() {
    head();
    if (document_.sections.size() > 3) contents();
    out_ += "<main>\n";
    for (std::size_t s = 0; s < document_.sections.size(); ++s) {
      const Section& section = document_.sections[s];
      out_ += fmt::format("<section id=\"s{}\">\n", s + 1);
      if (!section.title.empty()) out_ += fmt::format("<h2>{}</h2>\n", escape_html(section.title));
      for (const Block& block : section.blocks) std::visit([&](const auto& b) { write(b); }, block);
      out_ += "</section>\n";
    }
    out_ += "</main>\n";
    if (!document_.footer.empty()) out_ += fmt::format("<footer>{}</footer>\n", running_html(document_.footer));
    return out_ + "</body>\n</html>\n";
  }

 private:
  void head() {
    const std::string title = escape_html(document_.title);
    out_ += "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
    out_ +=
        fmt::format("<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n", security_policy(page_style()));
    out_ += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
    out_ += "<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n";
    out_ += fmt::format("<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n", title, page_style());
    constexpr std::int64_t kShort = 48;  // characters of a title in large type
    out_ += fmt::format("<header>\n<p class=\"house\">Lockstep</p>\n<h1{}>{}</h1>\n",
                        display_width(document_.title) > kShort ? " class=\"long\"" : "", title);
    if (!document_.subtitle.empty())
      out_ += fmt::format("<p class=\"subtitle\">{}</p>\n", running_html(document_.subtitle));
    out_ += "</header>\n";
  }

  void contents() {
    out_ += "<nav aria-label=\"Contents\"><ul>\n";
    for (std::size_t s = 0; s < document_.sections.size(); ++s)
      if (!document_.sections[s].title.empty())
        out_ += fmt::format("<li><a href=\"#s{}\">{}</a></li>\n", s + 1, escape_html(document_.sections[s].title));
    out_ += "</ul></nav>\n";
  }

  void heading(const std::string& title) {
    if (!title.empty()) out_ += fmt::format("<h3>{}</h3>\n", escape_html(title));
  }

  void write(const Paragraph& block) { out_ += fmt::format("<p>{}</p>\n", running_html(block.text)); }

  void write(const List& block) {
    out_ += "<ul>\n";
    for (const std::string& item : block.items) out_ += fmt::format("<li>{}</li>\n", running_html(item));
    out_ += "</ul>\n";
  }

  void write(const Table&) { out_ += table_html(tables_[next_table_++]); }

  void write(const Code& block) {
    const std::string text = fmt::format("<pre tabindex=\"0\"><code>{}</code></pre>\n", escape_html(block.text, true));
    if (!block.folded) heading(block.title);
    out_ += block.folded
                ? fmt::format("<details class=\"fold\">\n<summary class=\"caption\">{}</summary>\n{}</details>\n",
                              escape_html(block.title), text)
                : text;
  }

  void write(const Checklist& block) {
    heading(block.title);
    out_ += "<ul class=\"checklist\">\n";
    for (const Rule& rule : block.rules) {
      constexpr std::string_view kClasses[] = {"kept", "partly", "broken", "absent"};
      out_ += fmt::format("<li class=\"{}\"><span class=\"state\">{}</span><span class=\"rule\">{}",
                          kClasses[static_cast<std::size_t>(rule.state)], escape_html(rule_word(rule)),
                          running_html(rule.rule));
      if (!rule.why.empty()) out_ += fmt::format("<span class=\"why\">{}</span>", running_html(rule.why));
      out_ += "</span></li>\n";
    }
    out_ += "</ul>\n";
  }

  void write(const Facts& block) {
    heading(block.title);
    out_ += "<dl>\n";
    for (const Fact& fact : block.facts)
      out_ += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", escape_html(fact.name), escape_html(fact.value));
    out_ += "</dl>\n";
  }

  void write(const Notice& block) {
    constexpr std::string_view kClasses[] = {"info", "good", "warning"};
    constexpr std::string_view kWords[] = {"Note", "Good", "Warning"};
    const auto kind = static_cast<std::size_t>(block.kind);
    out_ += fmt::format("<p class=\"notice {}\"><strong>{}</strong> {}</p>\n", kClasses[kind],
                        escape_html(block.word.empty() ? kWords[kind] : block.word), running_html(block.text));
  }

  void write(const Headline& block) {
    out_ += "<div class=\"headline\">\n";
    for (const auto& number : block.numbers)
      out_ += fmt::format("<div><p class=\"number\">{}</p><p class=\"label\">{}</p><p class=\"detail\">{}</p></div>\n",
                          escape_html(number.value), running_html(number.label), running_html(number.detail));
    out_ += "</div>\n";
  }

  void write(const BarChart& block) { figure(block, false); }
  void write(const LineChart& block) { figure(block, false); }
  void write(const ScatterChart& block) { figure(block, false); }
  void write(const HeatMap& block) { figure(block, false); }
  void write(const PointCloud& block) { figure(block, false); }
  void write(const NetworkDrawing& block) { figure(block, false); }

  /// The pictures come from a file: what is no base64 is left out.
  void write(const PictureGrid& block) {
    heading(block.title);
    out_ += "<ul class=\"pictures\">\n";
    for (const PictureGrid::Item& item : block.items) {
      out_ += "<li><span class=\"images\">";
      for (const std::string& picture : item.pictures)
        if (picture.find_first_not_of(kBase64Digits) == std::string::npos)
          out_ +=
              fmt::format("<img alt=\"{}\" src=\"data:image/png;base64,{}\">", escape_html(item.description), picture);
      out_ += "</span>";
      for (std::size_t i = 0; i < item.lines.size(); ++i)
        out_ +=
            fmt::format("<span class=\"{}\">{}</span>", i == 0 ? "first" : "line-below", escape_html(item.lines[i]));
      out_ += "</li>\n";
    }
    out_ += "</ul>\n";
    if (!block.note.empty()) out_ += fmt::format("<p class=\"note\">{}</p>\n", running_html(block.note));
  }

  void write(const Panels& block) {
    out_ += "<div class=\"panels\">\n";
    for (const Chart& chart : block.charts) figure(chart, true);
    out_ += "</div>\n";
  }

  void figure(const Chart& chart, bool small) { out_ += figure_html(chart, fmt::format("f{}", ++figures_), small); }

  const Document& document_;
  std::vector<NamedTable> tables_;
  std::size_t next_table_ = 0;
  int figures_ = 0;
  std::string out_;
};

}  // namespace

std::string to_html(const Document& document) { return Page(document).str(); }

}  // namespace lockstep::report
