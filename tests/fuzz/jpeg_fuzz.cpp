// Any bytes as a JPEG image: refused, or an image of the shape its header promises, in every colour.

#include "lockstep/data/formats/jpeg.hpp"
#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  return read_within(kCompressed, data, size, [](std::span<const std::byte> bytes) {
    const ImageShape shape = parse_jpeg_shape(bytes, "fuzz.jpg");
    // Decoding a huge image is correct and slow; the fuzzer has better things to do.
    if (shape.elements() > 1 << 18) return;
    const Array image = parse_jpeg(bytes, "fuzz.jpg");
    check_array(image);
    if (image.elements() != shape.elements()) std::abort();
    check_array(parse_jpeg(bytes, "fuzz.jpg", ImageColour::grey));
  });
}
