#pragma once
// A network of an ONNX file, for training, evaluation and prediction. The graph must be a chain of layers that Lockstep
// has, from one input to one output, with residual blocks:
//   Conv, Gemm, MatMul (+ Add), Relu, LeakyRelu, Sigmoid, Tanh, Softmax, MaxPool, AveragePool, GlobalAveragePool,
//   GlobalMaxPool, ReduceMean over height and width, BatchNormalization, LayerNormalization, Flatten, Reshape to
//   [N, features], Add of two branches of one value
// Dropout, Identity and Cast are left out. Mul, Add, Sub, Div by constants and Scaler before the first layer become the
// scaling of the inputs. What follows the outputs to make labels of them (ArgMax, ArrayFeatureExtractor, ZipMap, as
// skl2onnx writes them) is left out, but for the names of the classes.

#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "lockstep/model/model_file.hpp"

namespace lockstep {

/// The loss is that of the metadata (exports of Lockstep); else cross-entropy behind a softmax or for several outputs,
/// binary-cross-entropy behind a sigmoid, else squared-error. Error(data), "<name>: ...", for a file that is damaged or
/// holds what is not supported; all operators that Lockstep does not have are listed.
Model import_onnx(std::span<const std::byte> bytes, std::string_view name);
Model load_onnx(const std::filesystem::path& path);

/// The constants of the file that are weights, under their names there.
std::vector<NamedArray> onnx_weights(const std::filesystem::path& path);

bool is_onnx(const std::filesystem::path& path);

}  // namespace lockstep
