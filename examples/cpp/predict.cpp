// Load a model and answer questions in a loop, without allocating anything.

#include <array>
#include <cstdio>

#include <lockstep/lockstep.hpp>

int main() {
  using namespace lockstep;
  try {
    const Model model = load_model("moons.safetensors");  // as example_train saved it
    Predictor predictor(model.network, {.threads = 1});

    // One question at a time: two numbers in, the outputs of two classes out.
    for (const std::array<float, 2> point :
         {std::array{0.0F, 1.0F}, std::array{1.0F, -0.5F}, std::array{0.5F, 0.25F}}) {
      std::array<float, 2> outputs{};
      predictor.run(point, outputs);
      std::printf("(%g, %g) is of class %d\n", double(point[0]), double(point[1]), outputs[1] > outputs[0] ? 1 : 0);
    }
  } catch (const Error& error) {
    std::fprintf(stderr, "predict: %s\n", error.what());
    return static_cast<int>(error.code());
  }
}
