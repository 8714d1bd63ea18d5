"""conv_image.py MODULE THREADS STEP: one picture of 1280x720 and 128 kernels of 11x11 in other software.

MODULE is torch, cv2 or scipy. Prints a line of JSON with the version and every STEPth output, so that the caller can see
that the same was computed; then, for every line of standard input, the seconds of one more run.
lockstep reproduce conv-multicore runs it."""
import json
import sys
import time

import numpy as np

HEIGHT, WIDTH, KERNELS, SIZE = 720, 1280, 128, 11


def scrambled(count):
    """The numbers of cli/reproduce/conv_image.cpp: in [-0.5, 0.5), element by element."""
    bits = (np.arange(count, dtype=np.uint64) * np.uint64(2654435761)).astype(np.uint32)
    return (bits >> 8).astype(np.float32) / np.float32(16777216) - np.float32(0.5)


def by_torch(image, kernels, threads):
    import torch
    torch.set_num_threads(threads)
    x = torch.from_numpy(image)[None, None]
    w = torch.from_numpy(kernels)[:, None]

    def run():
        with torch.no_grad():
            return torch.nn.functional.conv2d(x, w)
    return torch.__version__, run, lambda y: y[0].numpy()


def by_opencv(image, kernels, threads):
    import cv2
    cv2.setNumThreads(threads)
    y = np.empty((KERNELS, HEIGHT - SIZE + 1, WIDTH - SIZE + 1), np.float32)
    half = SIZE // 2

    def run():
        # filter2D computes the border as well, 2.4 % more than the others; the copy cuts it off.
        for k, kernel in enumerate(kernels):
            y[k] = cv2.filter2D(image, cv2.CV_32F, kernel)[half:-half, half:-half]
        return y
    return cv2.__version__, run, lambda result: result


def by_scipy(image, kernels, threads):
    import scipy
    import scipy.fft
    shape = [scipy.fft.next_fast_len(n, real=True) for n in (HEIGHT, WIDTH)]
    y = np.empty((KERNELS, HEIGHT - SIZE + 1, WIDTH - SIZE + 1), np.float32)

    def run():
        # A product of the transforms with the conjugate is a correlation; the picture is transformed once.
        spectrum = scipy.fft.rfft2(image, shape, workers=threads)
        for k, kernel in enumerate(kernels):
            product = spectrum * np.conj(scipy.fft.rfft2(kernel, shape, workers=threads))
            y[k] = scipy.fft.irfft2(product, shape, workers=threads)[:y.shape[1], :y.shape[2]]
        return y
    return scipy.__version__, run, lambda result: result


def main():
    module, threads, step = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    image = scrambled(HEIGHT * WIDTH).reshape(HEIGHT, WIDTH)
    kernels = scrambled(KERNELS * SIZE * SIZE).reshape(KERNELS, SIZE, SIZE)
    version, run, array = {"torch": by_torch, "cv2": by_opencv, "scipy": by_scipy}[module](image, kernels, threads)
    outputs = array(run()).reshape(-1)[::step].astype(float).tolist()
    print(json.dumps({"version": version, "outputs": outputs}), flush=True)
    for _ in sys.stdin:
        start = time.perf_counter()
        run()
        print(json.dumps({"seconds": time.perf_counter() - start}), flush=True)


if __name__ == "__main__":
    main()
