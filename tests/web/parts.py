"""Tests of the page of parts.rs: recorded blurs, the frozen blur of a camera, filters, lenses, and a rounded scroller."""

import json

import numpy as np

from page import Page
from reference import blurred, to_linear, to_srgb

# The size of the canvas, which shows the picture twice, texel by texel.
SIZE = (322, 123)

# The size of the picture, in texels.
PICTURE = (161, 123)

# The first column of a picture in the middle of the canvas. Bevy rounds half a pixel up.
LEFT = (SIZE[0] - PICTURE[0] + 1) // 2

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

# The length of the fade at the bottom, the shares of sepia and of brightness, and the width of the white line.
FINISHES = {"faded": (40, 0, 1, 0), "coloured": (0, 1, 0.8, 0), "outlined": (0, 0, 1, 6)}


def test_filters(options, address, api):
    """A picture as a node: blurred into a black window, faded, coloured, with a shadow, and with a line around it."""
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
        assert (show(0, 1, 0) == sharp).all(), "a neutral filter leaves a trace"
        for name, settings in FINISHES.items():
            page.module(f"finish({', '.join(map(str, settings))})")
            page.browser.frames(6)
            shown = page.settled()[:, :, :3]
            page.browser.screenshot(options.pictures / f"filter-{name}-{api}.png")
            expected, counts = finished(sharp.shape, *settings)
            errors[name] = np.abs(shown - expected)[:, counts].max()
        print("   ", api, "worst errors in 1/255:", ", ".join(f"{name}: {errors[name]:.2f}" for name in FINISHES))
        page.check_console()
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
        alpha[within][:, LEFT : LEFT + PICTURE[0]] = picture_alpha()[:, :, None]
        alpha = 255 * to_srgb(alpha)
        cover = to_linear(blurred(alpha, 3 * sigma) / 255)
        shadow = to_linear(blurred(alpha, 3 * sigma * 2**0.5) / 255)
        shadow = np.roll(shadow, (offset, offset), (0, 1))
        light = light + (1 - cover) * shadow
    return 255 * to_srgb(opacity * light)[within]


def finished(shape, fade, sepia, brightness, line):
    """The expected display values, in units of 1/255, and the columns in which they are known exactly."""
    colours, alpha = picture_colours()
    mixture = np.array([[0.393, 0.769, 0.189], [0.349, 0.686, 0.168], [0.272, 0.534, 0.131]])
    colours = np.clip(colours @ (sepia * mixture + (1 - sepia) * np.eye(3)).T, 0, 1) * brightness
    light = alpha * to_linear(colours)
    height, width = alpha.shape[:2]
    if fade:
        light *= np.clip((height - 0.5 - np.arange(height)) / fade, 0, 1)[:, None, None]
    expected = np.zeros(shape)
    column = np.arange(shape[1])
    outside = np.maximum(LEFT - 1 - column, column - LEFT - width)  # How many columns lie between.
    if line:
        # The line lies below the picture, and shows through it. Around translucent texels it is narrower by less than a pixel.
        light += 1 - alpha
        expected[:, (outside >= 0) & (outside < line - 1)] = 1
    expected[:, LEFT : LEFT + width] = light
    return 255 * to_srgb(expected), (outside < line - 1) | (outside >= line)


def picture_alpha():
    """The alpha of the picture in parts.rs."""
    return picture_colours()[1][:, :, 0]


def picture_colours():
    """The encoded colours of the picture in parts.rs, and its alpha."""
    width, height = PICTURE
    index = np.arange(width * height, dtype=np.uint32).reshape(height, width)
    noise = index * index * np.uint32(0x9E3779B1)
    red, green, blue, alpha = [(noise >> np.uint32(shift)) & np.uint32(255) for shift in (24, 16, 8, 0)]
    x, y = index % width, index // width
    bar = np.where((x // 7 + y // 19) % 2 == 0, 20, 230)
    bars = np.stack([bar, 255 - bar, np.full_like(bar, 60)], axis=-1)
    colours = np.where((x < width // 2)[:, :, None], bars, np.stack([red, green, blue], axis=-1))
    return colours / 255, (128 + alpha // 2)[:, :, None] / 255


# The left, the top, the width, the height and the radius of the corners of the pane, in pixels.
PANE = (20, 10, 280, 100, 50)

# The width of the rim, the displacement and the dispersion of each lens. The pane is a capsule, whose corners have no room for
# squircles: the rim follows the exact distance from the border.
LENSES = [(24, 12, 0), (30, -8, 0), (20, 14, 0.6)]

# The browser's software rasteriser divides with about 12 bits, so its lens shows places up to this far away, in pixels. In dark noise,
# that is many levels.
INEXACT = 0.03


def test_lenses(options, address, api):
    """Clear glass over both pictures: its rim shows other places, and the rest of the window stays."""
    with Parts(address, api) as page:
        page.ready()
        sharp = page.show()[:, :, :3]
        errors = {}
        for settings in LENSES:
            page.module(f"lens({', '.join(map(str, settings))})")
            page.browser.frames(6)
            shown = page.settled()[:, :, :3]
            page.browser.screenshot(options.pictures / f"lens-{'-'.join(map(str, settings))}-{api}.png")
            expected, depth = refracted(sharp, *settings)
            beside = [refracted(sharp, *settings, by)[0] for by in (-INEXACT, INEXACT)]
            rounding = np.max(np.abs(beside - expected), axis=0)
            assert (shown[depth < -1] == sharp[depth < -1]).all(), "it leaves a trace beside the pane"
            assert (shown != sharp)[depth > 1].any(), "there is no lens"
            errors[settings] = (np.abs(shown - expected) - rounding)[depth > 1].max()
        print("   ", api, "worst errors in 1/255:", ", ".join(f"{settings}: {error:.2f}" for settings, error in errors.items()))
        page.check_console()
        assert max(errors.values()) <= TOLERANCE, "not the lens"


def refracted(sharp, bevel, displacement, dispersion, beside=0):
    """The expected display values in units of 1/255, and the distance of each pixel from the border of the pane, negative outside.
    Places are moved by so many pixels more along the slope."""
    left, top, width, height, _ = PANE
    y, x = np.mgrid[0 : sharp.shape[0], 0 : sharp.shape[1]]
    depth, outwards = in_box(sharp, *PANE)
    slope = np.clip(1 - depth / bevel, 0, 1) ** 2 * outwards
    light = to_linear(sharp / 255)
    channels = []
    for channel, more in enumerate([-0.5, 0, 0.5]):
        by = -slope * displacement * (1 + more * dispersion) + beside * outwards
        # The glass sees its own box only, and mirrors it.
        place = np.stack([x + by[0] - left, y + by[1] - top])
        inside = light[top : top + height, left : left + width, channel]
        channels.append(between(inside, place))
    return 255 * to_srgb(np.stack(channels, axis=-1)), depth


def in_box(sharp, left, top, width, height, radius):
    """For each pixel, the distance from the border of a rounded box, negative outside, and the direction from the nearest arc's centre."""
    y, x = np.mgrid[0 : sharp.shape[0], 0 : sharp.shape[1]]
    point = np.stack([x + 0.5 - left - width / 2, y + 0.5 - top - height / 2])
    half = np.array([width / 2, height / 2])[:, None, None]
    from_arc = np.maximum(np.abs(point) - half + radius, 0)
    from_centre = np.maximum(np.hypot(*from_arc), 1e-9)
    return radius - from_centre, np.sign(point) * from_arc / from_centre


def between(values, place):
    """Values at places between texels: along x and then along y, cubic curves within the range of the middle two texels."""
    first = np.floor(place).astype(int)
    x, y = place - first

    def texel(column, row):
        index = []
        for by, start, length in [(row, first[1], values.shape[0]), (column, first[0], values.shape[1])]:
            folded = np.mod(start + by, 2 * length)
            index.append(np.minimum(folded, 2 * length - 1 - folded))
        return values[tuple(index)]

    rows = [through([texel(column, row) for column in range(-1, 3)], x) for row in range(-1, 3)]
    return through(rows, y)


def through(values, t):
    before, first, second, after = values
    slopes = (second - before) / 2, (after - first) / 2
    rise = second - first
    curve = first + slopes[0] * t + (3 * rise - 2 * slopes[0] - slopes[1]) * t**2 + (slopes[0] + slopes[1] - 2 * rise) * t**3
    return np.clip(curve, np.minimum(first, second), np.maximum(first, second))


# The left, the top, the width and the height of the scroller, in pixels.
SCROLLER = (30, 14, 120, 90)

# How far the picture is scrolled along x and y, to its end at last, and the radius of the corners.
SCROLLS = [(0, 0, 24), (17, 9, 24), (41, 33, 45)]


def test_rounded_scroller(options, address, api):
    """A picture that is scrolled in a box with round corners: it ends at the curve, with smooth edges."""
    with Parts(address, api) as page:
        page.ready()
        sharp = page.show()[:, :, :3]
        errors = {}
        for settings in SCROLLS:
            page.module(f"scroll({', '.join(map(str, settings))})")
            page.browser.frames(6)
            shown = page.settled()[:, :, :3]
            page.browser.screenshot(options.pictures / f"scroller-{'-'.join(map(str, settings))}-{api}.png")
            expected, share = scrolled(sharp, *settings)
            assert (shown[share == 0] == sharp[share == 0]).all(), "it leaves a trace beside the scroller"
            assert ((0 < share) & (share < 1)).any(), "no edge is smooth"
            errors[settings] = np.abs(shown - expected).max()
        print("   ", api, "worst errors in 1/255:", ", ".join(f"{settings}: {error:.2f}" for settings, error in errors.items()))
        page.check_console()
        assert max(errors.values()) <= TOLERANCE, "not the rounded scroller"


def scrolled(sharp, x, y, radius):
    """The expected display values in units of 1/255, and the share of each pixel that the scroller covers."""
    left, top, width, height = SCROLLER
    scrolled_to = np.s_[y : y + height, x : x + width]
    # The left picture lies over black, so it is the light that the scroller adds.
    below = to_linear(sharp / 255)
    added, alpha = np.zeros(below.shape), np.zeros(below.shape)
    added[top : top + height, left : left + width] = below[scrolled_to]
    alpha[top : top + height, left : left + width] = picture_alpha()[scrolled_to][:, :, None]
    depth, _ = in_box(sharp, *SCROLLER, radius)
    share = np.clip(0.5 + depth, 0, 1)
    cover = share[:, :, None]
    return 255 * to_srgb(below * (1 - alpha * cover) + added * cover), share
