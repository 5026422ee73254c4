"""A picture with fine and coarse detail, and its Gaussian blur in float64."""

import struct
import zlib

import numpy as np


def picture(width, height):
    """A zone plate, steps, noise and a ramp, as eight bits for each channel."""
    y, x = np.mgrid[0:height, 0:width].astype(np.float64)
    rings = 0.5 + 0.5 * np.cos(0.9 * ((x - width / 3) ** 2 + (y - height / 2) ** 2) / max(width, height))
    steps = ((x // 40 + y // 40) % 2) * 0.8 + 0.1
    noise = np.random.default_rng(1).random((height, width))
    channels = [rings, np.where(x > width / 2, noise, steps), (x + y) / (width + height)]
    return np.round(255 * np.stack(channels, axis=-1)).astype(np.uint8)


def to_png(texels):
    """A PNG file."""
    height, width, _ = texels.shape

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + row.tobytes() for row in texels)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def to_linear(encoded):
    """Light from sRGB values between 0 and 1."""
    return np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)


def to_srgb(linear):
    return np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * np.maximum(linear, 0) ** (1 / 2.4) - 0.055)


def gaussian(values, sigma, axis):
    """One axis: weights up to six sigma, and the border repeated."""
    reach = int(np.ceil(6 * sigma))
    weights = np.exp(-0.5 * (np.arange(-reach, reach + 1) / sigma) ** 2)
    weights /= weights.sum()
    size = values.shape[axis]
    # A matrix with the weights of all texels; the weights of texels outside are added to the border's.
    matrix = np.zeros((size, size))
    for offset, weight in zip(range(-reach, reach + 1), weights):
        source = np.clip(np.arange(size) + offset, 0, size - 1)
        matrix[np.arange(size), source] += weight
    return np.moveaxis(np.tensordot(matrix, values, axes=(1, axis)), 0, axis)


def blurred(texels, radius):
    """The expected display values, in units of 1/255, without rounding."""
    light = to_linear(texels / 255.0)
    if radius > 0:
        light = gaussian(gaussian(light, radius / 3, 0), radius / 3, 1)
    return 255 * to_srgb(light)
