// Our declarations of cuDNN against NVIDIA's, where the headers are installed: the compiler is the test. And the
// library itself, where that is installed: it has every function, and its descriptors take what we set, without a GPU.

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <type_traits>

#ifdef LOCKSTEP_CUDNN_HEADERS
#include <cudnn.h>
#endif

#include "lockstep/kernels/cuda/cudnn_functions.hpp"

namespace lockstep::cuda {
namespace {

#ifdef LOCKSTEP_CUDNN_HEADERS

/// Whether a value of one type is passed as one of the other: the same type; int for an enumeration, void* for a
/// pointer to what only cuDNN knows, our struct for its struct, and pointers to these.
template <class Ours, class Theirs>
constexpr bool passes_as() {
  if constexpr (std::is_same_v<Ours, Theirs>) {
    return true;
  } else if constexpr (std::is_pointer_v<Ours> && std::is_pointer_v<Theirs>) {
    using To = std::remove_pointer_t<Ours>;
    using Into = std::remove_pointer_t<Theirs>;
    if constexpr (std::is_const_v<To> != std::is_const_v<Into>)
      return false;
    else if constexpr (std::is_void_v<To>)
      return std::is_class_v<Into>;  // a descriptor
    else
      return passes_as<To, Into>();
  } else if constexpr (std::is_same_v<Ours, int>) {
    return std::is_enum_v<Theirs> && sizeof(Theirs) == sizeof(int);
  } else {
    return std::is_same_v<Ours, CudnnAlgorithm> && sizeof(Ours) == sizeof(Theirs);
  }
}

template <class Ours, class Theirs>
struct SameCall : std::false_type {};
template <class R, class... P, class S, class... Q>
struct SameCall<R (*)(P...), S (*)(Q...)> : std::bool_constant<sizeof...(P) == sizeof...(Q) && passes_as<R, S>()> {
  static_assert(sizeof...(P) != sizeof...(Q) || (... && passes_as<P, Q>()), "a parameter is of another type");
};

#define LOCKSTEP_COMPARE(name, result, parameters) \
  static_assert(SameCall<decltype(CudnnFunctions::name), decltype(&::name)>::value, #name);
LOCKSTEP_CUDNN_FUNCTIONS(LOCKSTEP_COMPARE)
#undef LOCKSTEP_COMPARE

static_assert(int{kCudnnSuccess} == CUDNN_STATUS_SUCCESS && int{kCudnnBadParam} == CUDNN_STATUS_BAD_PARAM);
static_assert(int{kCudnnNotSupported} == CUDNN_STATUS_NOT_SUPPORTED &&
              int{kCudnnInternalError} == CUDNN_STATUS_INTERNAL_ERROR);
static_assert(int{kCudnnFloat} == CUDNN_DATA_FLOAT && int{kCudnnDouble} == CUDNN_DATA_DOUBLE);
static_assert(int{kCudnnNchw} == CUDNN_TENSOR_NCHW && int{kCudnnCrossCorrelation} == CUDNN_CROSS_CORRELATION);
static_assert(int{kCudnnDefaultMath} == CUDNN_DEFAULT_MATH && int{kCudnnFmaMath} == CUDNN_FMA_MATH);
static_assert(int{kCudnnDeterministic} == CUDNN_DETERMINISTIC && int{kCudnnPropagateNan} == CUDNN_PROPAGATE_NAN);
static_assert(int{kCudnnPoolingAverageWithPadding} == CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING);
static_assert(int{kCudnnPoolingMaxDeterministic} == CUDNN_POOLING_MAX_DETERMINISTIC);
static_assert(int{kCudnnBatchNormSpatial} == CUDNN_BATCHNORM_SPATIAL);

#define LOCKSTEP_SAME_PLACE(Theirs)                                                       \
  static_assert(sizeof(Theirs) == sizeof(CudnnAlgorithm) &&                               \
                offsetof(Theirs, algo) == offsetof(CudnnAlgorithm, algorithm) &&          \
                offsetof(Theirs, status) == offsetof(CudnnAlgorithm, status) &&           \
                offsetof(Theirs, memory) == offsetof(CudnnAlgorithm, memory) &&           \
                offsetof(Theirs, determinism) == offsetof(CudnnAlgorithm, determinism) && \
                offsetof(Theirs, mathType) == offsetof(CudnnAlgorithm, math))
LOCKSTEP_SAME_PLACE(cudnnConvolutionFwdAlgoPerf_t);
LOCKSTEP_SAME_PLACE(cudnnConvolutionBwdDataAlgoPerf_t);
LOCKSTEP_SAME_PLACE(cudnnConvolutionBwdFilterAlgoPerf_t);

TEST(CudnnHeaders, SayWhatWeDeclare) { EXPECT_EQ(CUDNN_MAJOR, 9) << "the constants above are those of another cuDNN"; }

#else

TEST(CudnnHeaders, SayWhatWeDeclare) { GTEST_SKIP() << "no headers of cuDNN on this machine"; }

#endif

TEST(CudnnLibrary, TakesOurDescriptors) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "NVIDIA's library is not made for sanitizers";
#endif
  void* const file = ::dlopen("libcudnn.so.9", RTLD_NOW | RTLD_LOCAL);
  if (file == nullptr) GTEST_SKIP() << "no cuDNN on this machine: " << ::dlerror();
  CudnnFunctions f;
#define LOCKSTEP_FIND(name, result, parameters)                      \
  f.name = reinterpret_cast<decltype(f.name)>(::dlsym(file, #name)); \
  ASSERT_NE(f.name, nullptr) << #name;
  LOCKSTEP_CUDNN_FUNCTIONS(LOCKSTEP_FIND)
#undef LOCKSTEP_FIND
  EXPECT_EQ(f.cudnnGetVersion() / 10000, 9u);

  // A convolution of LeNet-5 on 32 samples; pooling over samples as channels; a slot of batch normalisation.
  void *tensor = nullptr, *filter = nullptr, *convolution = nullptr, *pooling = nullptr;
  ASSERT_EQ(f.cudnnCreateTensorDescriptor(&tensor), kCudnnSuccess);
  EXPECT_EQ(f.cudnnSetTensor4dDescriptorEx(tensor, kCudnnFloat, 32, 6, 14, 14, 6 * 196, 196, 14, 1), kCudnnSuccess);
  EXPECT_EQ(f.cudnnSetTensor4dDescriptorEx(tensor, kCudnnDouble, 6, 32, 14, 14, 196 * 40, 1, 14 * 40, 40),
            kCudnnSuccess);
  EXPECT_EQ(f.cudnnSetTensor4dDescriptorEx(tensor, kCudnnFloat, 1, 6, 196, 16, 6 * 196 * 64, 196 * 64, 64, 1),
            kCudnnSuccess);
  EXPECT_NE(f.cudnnSetTensor4dDescriptorEx(tensor, kCudnnFloat, 32, 6, 14, -1, 1, 1, 1, 1), kCudnnSuccess);
  ASSERT_EQ(f.cudnnCreateFilterDescriptor(&filter), kCudnnSuccess);
  EXPECT_EQ(f.cudnnSetFilter4dDescriptor(filter, kCudnnFloat, kCudnnNchw, 16, 6, 5, 5), kCudnnSuccess);
  ASSERT_EQ(f.cudnnCreateConvolutionDescriptor(&convolution), kCudnnSuccess);
  EXPECT_EQ(f.cudnnSetConvolution2dDescriptor(convolution, 1, 2, 1, 2, 2, 1, kCudnnCrossCorrelation, kCudnnFloat),
            kCudnnSuccess);
  EXPECT_EQ(f.cudnnSetConvolutionGroupCount(convolution, 2), kCudnnSuccess);
  EXPECT_EQ(f.cudnnSetConvolutionMathType(convolution, kCudnnFmaMath), kCudnnSuccess);
  ASSERT_EQ(f.cudnnCreatePoolingDescriptor(&pooling), kCudnnSuccess);
  EXPECT_EQ(f.cudnnSetPooling2dDescriptor(pooling, kCudnnPoolingMaxDeterministic, kCudnnPropagateNan, 3, 2, 1, 0, 2, 1),
            kCudnnSuccess);
  EXPECT_EQ(f.cudnnDestroyPoolingDescriptor(pooling), kCudnnSuccess);
  EXPECT_EQ(f.cudnnDestroyConvolutionDescriptor(convolution), kCudnnSuccess);
  EXPECT_EQ(f.cudnnDestroyFilterDescriptor(filter), kCudnnSuccess);
  EXPECT_EQ(f.cudnnDestroyTensorDescriptor(tensor), kCudnnSuccess);
}

}  // namespace
}  // namespace lockstep::cuda
