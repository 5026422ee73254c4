"""Reference values from scipy for the float64 CPU reference of the tests.

Regenerate them, from the root of the repository, with

    python3 tests/data/scipy_reference.py > tests/data/scipy_reference.json

One single-channel picture, given in the output row after row, is blurred with
`scipy.ndimage.gaussian_filter` in float64, six sigma wide. The picture is
smaller than the widest kernels, so that every edge mode folds more than once.

Sigmas are written `[horizontal, vertical]`, in texels. The mode `renormalize`
is not scipy's own: it is the blur with zeros outside (`constant`), divided by
the same blur of a picture of ones, which is the weight that lies inside.
"""

import json

import numpy
import scipy
from scipy.ndimage import gaussian_filter

COMMAND = "python3 tests/data/scipy_reference.py > tests/data/scipy_reference.json"
WIDTH, HEIGHT = 24, 17
SIGMAS = [(0.8, 0.8), (2.9, 2.9), (6.1, 6.1), (13.0, 1.5)]
MODES = ["nearest", "reflect", "wrap", "constant", "renormalize"]
DECIMALS = 9


def picture():
    """HEIGHT x WIDTH values in [0, 1]: waves that no axis repeats, a bright
    block and a dark one at the border, and a single bright texel."""
    y, x = numpy.mgrid[0:HEIGHT, 0:WIDTH].astype(numpy.float64)
    waves = numpy.sin(0.9 * x + 0.37 * y * y) + numpy.cos(2.3 * y - 0.11 * x * x)
    waves = 0.5 + 0.25 * waves
    waves[0:4, 18:24] = 1.0
    waves[12:17, 0:3] = 0.0
    waves[9, 11] = 1.0
    return numpy.round(waves, DECIMALS)


def blur(values, sigma, mode):
    """`values` blurred with `sigma` = (horizontal, vertical)."""
    if mode == "renormalize":
        inside = blur(numpy.ones_like(values), sigma, "constant")
        return blur(values, sigma, "constant") / inside
    return gaussian_filter(values, (sigma[1], sigma[0]), mode=mode, cval=0.0, truncate=6.0)


def numbers(values):
    """A flat list, row after row, rounded."""
    return numpy.round(values, DECIMALS).ravel().tolist()


def main():
    values = picture()
    head = {
        "command": COMMAND,
        "scipy": scipy.__version__,
        "width": WIDTH,
        "height": HEIGHT,
        "input": numbers(values),
    }
    cases = [
        {"mode": mode, "sigma": list(sigma), "output": numbers(blur(values, sigma, mode))}
        for mode in MODES
        for sigma in SIGMAS
    ]
    fields = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in head.items()]
    lines = ",\n".join(json.dumps(case) for case in cases)
    print("{\n" + ",\n".join(fields) + ',\n"cases": [\n' + lines + "\n]\n}")


if __name__ == "__main__":
    main()
