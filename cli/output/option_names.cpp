#include "cli/output/option_names.hpp"

#include <utility>

namespace lockstep::cli {

namespace {

constexpr std::pair<std::string_view, std::string_view> kAdvice[] = {
    {"use the backend ", "use --backend "},
    {"or the backend ", "or --backend "},
    {"with the backend ", "with --backend "},
    {"run directory ", "--out "},
    {"give another run directory", "give another --out"},
    {"or name a run directory", "or give --out"},
    {"choose another folder", "choose another with --out"},
    {"another folder, resume it, or overwrite it",
     "another folder, --resume to go on with it, or --overwrite to replace it"},
    {"another folder, or overwrite it", "another folder, or --overwrite to replace it"},
    {"resume needs a run directory:", "--resume needs --out DIR:"},
    {"resume keeps the run in its directory and overwrite replaces it",
     "--resume keeps the run in --out and --overwrite replaces it"},
    {"or the thread count ", "or --threads "},
    {"from the last checkpoint", "from the last checkpoint with --resume"},
    {"train anew", "train anew with --overwrite"},
    {"set the number of threads", "set --threads"},
    {"use fewer threads", "lower --threads"},
};

}  // namespace

std::string with_option_names(std::string_view message) {
  std::string text(message);
  for (const auto& [advice, option] : kAdvice)
    for (std::size_t at = text.find(advice); at != std::string::npos; at = text.find(advice, at + option.size()))
      if (text.compare(at, option.size(), option) != 0) text.replace(at, advice.size(), option);
  return text;
}

}  // namespace lockstep::cli
