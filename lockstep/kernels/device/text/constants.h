// Numbers that the kernel text and its host side share (kernels/device/codes.hpp): definitions only, because C++ reads
// this file too.

#define VIRTUAL_LANES 16
#define DROPOUT_ROWS 4
#define SQUARE_BLOCK 1024

#define RELU 0
#define LEAKY_RELU 1
#define TANH 2
#define ABS_TANH 3
#define SIGMOID 4
#define GELU 5

#define CROSS_ENTROPY 0
#define BINARY_CROSS_ENTROPY 1
#define SQUARED_ERROR 2
#define FOCAL 3
#define HUBER 4
