"""Tests of the page of parts.rs: recorded blurs, the frozen blur of a camera, and filters of the user interface."""

import json

import numpy as np

from page import Page
from reference import blurred, to_linear, to_srgb

# The size of the canvas, which shows the picture twice, texel by texel.
SIZE = (322, 123)

# The size of the picture, in texels.
PICTURE = (161, 123)

SIGMAS = [0, 0.8, 3, 10, 40]

# In 1/255: as for the slider, plus the error of a colour that is multiplied by an alpha of eight bits.
TOLERANCE = 2


class Parts(Page):
    """The page that `scripts/web --parts` builds."""

    name = "parts"

    def __init__(self, address, api):
        super().__init__(address, api, SIZE)

    def show(self, sigma=0, camera_sigma=0, angle=0, is_frozen=False):
        """Applies these settings, and returns the canvas's texels as soon as they no longer change."""
        self.module(f"ask({sigma}, {camera_sigma}, {angle}, {json.dumps(is_frozen)})")
        self.browser.frames(6)
        return self.settled()


def test_recorder(options, address, api):
    """A blur that a render system records: the very texels of an image's blur, and the Gaussian."""
    with Parts(address, api) as page:
        page.ready()
        sharp = np.hsplit(page.show(), 2)[0][:, :, :3]
        other, errors = {}, {}
        for sigma in SIGMAS:
            image, recorded = np.hsplit(page.show(sigma), 2)
            other[sigma] = np.count_nonzero(image != recorded)
            errors[sigma] = np.abs(recorded[:, :, :3] - blurred(sharp, 3 * sigma)).max()
            page.browser.screenshot(options.pictures / f"recorder-{sigma}-{api}.png")
        print("   ", api, "bytes that differ:", ", ".join(f"{sigma}: {count}" for sigma, count in other.items()))
        print("   ", api, "worst errors in 1/255:", ", ".join(f"{sigma}: {error:.2f}" for sigma, error in errors.items()))
        page.check_console()
        assert not any(other.values()), "recorded, the blur is another"
        assert max(errors.values()) <= TOLERANCE, "not the Gaussian"


def test_freeze(options, address, api):
    """The frozen blur of a camera: the picture stays, the strength may change, and unfreezing resumes."""
    with Parts(address, api) as page:
        page.ready()
        weak, strong = [page.show(camera_sigma=sigma, angle=1) for sigma in [5, 9]]
        assert (weak != strong).any() and (weak != page.show(angle=1)).any(), "the camera is not blurred"
        page.show(camera_sigma=5, angle=1)
        stages = [
            ("frozen", weak, page.show(camera_sigma=5, angle=1, is_frozen=True)),
            ("frozen, and turned", weak, page.show(camera_sigma=5, angle=2, is_frozen=True)),
            ("frozen, and stronger", strong, page.show(camera_sigma=9, angle=2, is_frozen=True)),
            ("frozen, and as before", weak, page.show(camera_sigma=5, angle=2, is_frozen=True)),
        ]
        thawed = page.show(camera_sigma=5, angle=2)
        stages.append(("turned back", weak, page.show(camera_sigma=5, angle=1)))
        other = {stage: np.count_nonzero(expected != shown) for stage, expected, shown in stages}
        print("   ", api, "bytes that differ:", ", ".join(f"{stage}: {count}" for stage, count in other.items()))
        page.check_console()
        assert not any(other.values()), "not the picture that was frozen"
        assert (thawed != weak).any(), "it does not go on"


# The sigma and the opacity of each filter, and the offset of its white shadow, or 0 without one.
FILTERS = [(3, 1, 0), (10, 1, 0), (0, 0.5, 0), (4, 0.7, 0), (2, 1, 9)]


def test_filters(options, address, api):
    """A picture as a node: blurred into a black window, faded, and with a shadow."""
    with Parts(address, api) as page:
        page.ready()

        def show(sigma, opacity, offset):
            page.module(f"filter({sigma}, {opacity}, {offset})")
            page.browser.frames(6)
            return page.settled()[:, :, :3]

        sharp = show(0, 1, 0)
        errors = {}
        for settings in FILTERS:
            shown = show(*settings)
            page.browser.screenshot(options.pictures / f"filter-{'-'.join(map(str, settings))}-{api}.png")
            errors[settings] = np.abs(shown - filtered(sharp, *settings)).max()
        print("   ", api, "worst errors in 1/255:", ", ".join(f"{settings}: {error:.2f}" for settings, error in errors.items()))
        page.check_console()
        assert (show(0, 1, 0) == sharp).all(), "a neutral filter leaves a trace"
        assert max(errors.values()) <= TOLERANCE, "not the filter"


def filtered(sharp, sigma, opacity, offset):
    """The expected display values, in units of 1/255, where nothing lies around the picture."""
    around = 80
    padded = np.pad(sharp, ((around, around), (around, around), (0, 0)))
    within = np.s_[around:-around, around:-around]
    light = to_linear(blurred(padded, 3 * sigma) / 255)
    if offset:
        # The picture covers the middle of the window, with an alpha that its colours do not show: see `picture_alpha`.
        alpha = np.zeros(padded.shape)
        left = (sharp.shape[1] - PICTURE[0] + 1) // 2  # Bevy rounds half a pixel up.
        alpha[within][:, left : left + PICTURE[0]] = picture_alpha()[:, :, None]
        alpha = 255 * to_srgb(alpha)
        cover = to_linear(blurred(alpha, 3 * sigma) / 255)
        shadow = to_linear(blurred(alpha, 3 * sigma * 2**0.5) / 255)
        shadow = np.roll(shadow, (offset, offset), (0, 1))
        light = light + (1 - cover) * shadow
    return 255 * to_srgb(opacity * light)[within]


def picture_alpha():
    """The alpha of the picture in parts.rs."""
    width, height = PICTURE
    index = np.arange(width * height, dtype=np.uint32)
    noise = (index * index * np.uint32(0x9E3779B1)) & np.uint32(255)
    return (128 + noise // 2).reshape(height, width) / 255
