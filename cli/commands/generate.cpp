// lockstep generate MODEL --prompt TEXT: goes on with a text, token by token, as it is written.

#include <memory>

#include "cli/commands/commands.hpp"
#include "cli/commands/model_data.hpp"
#include "lockstep/model/text_model.hpp"

namespace lockstep::cli {

namespace {

struct GenerateArguments {
  std::string model{};
  std::string prompt = "\n";
  int tokens = 200, seed = 1;
  double temperature = 0.8;
  Backend backend = Backend::simd;
  int threads = 0;
};

void run_generate(const GenerateArguments& arguments, Console& console) {
  const Model model = open_model(arguments.model, console);
  TextModel text(model, {.backend = arguments.backend, .threads = arguments.threads});
  text.begin(arguments.prompt, static_cast<std::uint64_t>(arguments.seed));
  if (arguments.prompt != "\n") console.print(arguments.prompt);
  for (int i = 0; i < arguments.tokens; ++i) console.print(text.next(arguments.temperature));
  console.print("\n");
}

}  // namespace

RunCommand generate_command(Options& options) {
  const auto arguments = std::make_shared<GenerateArguments>();
  options.examples(R"(Examples:
  lockstep generate runs/char-gpt-1/model.safetensors --prompt "To be, or" --tokens 200
  lockstep generate model.safetensors --temperature 0.5 --seed 7

The same model, prompt and seed give the same text on every machine, backend and number of threads. The model sees as
many tokens as a window of its training has.)");
  options.argument("model", arguments->model, {"MODEL", "A model of text: a file, or a run directory"});
  options.text("--prompt", arguments->prompt, {"TEXT", "How the text begins; default: a new line"});
  options.integer("--tokens", arguments->tokens, 1, 1'000'000, {"N", "Tokens to write; default: 200"});
  options.number("--temperature", arguments->temperature, 0, 100,
                 {"T", "Below 1: likely tokens more often; 0: the likeliest alone; default: 0.8"});
  options.integer("--seed", arguments->seed, 0, 2147483647, {"N", "Another seed, another text; default: 1"});
  options.backend(arguments->backend);
  options.threads(arguments->threads);
  return [arguments](Console& console) { run_generate(*arguments, console); };
}

}  // namespace lockstep::cli
