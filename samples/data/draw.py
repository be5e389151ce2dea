#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws stopwatch.ppm: draw.py OUT.ppm

A stopwatch on a graded ground, 140 x 140. Gradients, thin rings, ticks and a hand one and a half
pixels wide: what an interpolation shows its character on. Standard library only; points are rounded
to 1/64 pixel, so that the last bit of a platform's sine cannot change the picture.
"""

import math
import sys

SIZE = 140
SAMPLES = 4  # a pixel is the mean of 4 x 4 points
CENTRE = (70.0, 77.0)


def grid(value):
    return round(value * 64) / 64


def polar(degrees, radius):
    """A point at an angle clockwise from the top."""
    angle = math.radians(degrees)
    return (grid(CENTRE[0] + radius * math.sin(angle)), grid(CENTRE[1] - radius * math.cos(angle)))


def mix(a, b, share):
    return tuple(x + (y - x) * share for x, y in zip(a, b))


def around(points, margin):
    """A box no part of a shape lies outside of: left, top, right, bottom."""
    xs, ys = [x for x, _ in points], [y for _, y in points]
    return min(xs) - margin, min(ys) - margin, max(xs) + margin, max(ys) + margin


def disc(centre, radius, colour):
    def covers(x, y):
        return (x - centre[0]) ** 2 + (y - centre[1]) ** 2 <= radius**2

    return around([centre], radius), covers, colour


def ring(radius, width, colour):
    inner, outer = (radius - width / 2) ** 2, (radius + width / 2) ** 2

    def covers(x, y):
        return inner <= (x - CENTRE[0]) ** 2 + (y - CENTRE[1]) ** 2 <= outer

    return around([CENTRE], radius + width), covers, colour


def line(start, end, width, colour):
    """A stroke with round ends."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = dx * dx + dy * dy

    def covers(x, y):
        along = ((x - start[0]) * dx + (y - start[1]) * dy) / length
        along = min(1.0, max(0.0, along))
        px, py = start[0] + along * dx - x, start[1] + along * dy - y
        return px * px + py * py <= width * width / 4

    return around([start, end], width), covers, colour


def sector(until, radius, colour):
    """The sector of a disc from the top clockwise to `until` degrees, at most 180."""
    ex, ey = polar(until, 64)
    ex, ey = ex - CENTRE[0], ey - CENTRE[1]

    def covers(x, y):
        x, y = x - CENTRE[0], y - CENTRE[1]
        return x >= 0 and x * ey - y * ex >= 0 and x * x + y * y <= radius * radius

    return around([CENTRE], radius), covers, colour


def shaded(dark, light):
    """A colour that goes from light at the top left to dark at the bottom right."""
    return lambda x, y: mix(light, dark, (x + y) / (2 * SIZE))


def flat(*colour):
    return lambda x, y: colour


def shapes():
    """The shapes of the picture, from the back to the front."""
    ink, steel = flat(34, 38, 52), shaded((92, 100, 118), (226, 231, 240))
    top = (CENTRE[0], CENTRE[1] - 62)
    yield line((top[0], top[1] + 12), (top[0], top[1] - 4), 9, steel)
    cap = shaded((60, 66, 84), (170, 178, 196))
    yield line((top[0] - 8, top[1] - 6), (top[0] + 8, top[1] - 6), 8, cap)
    yield line(polar(42, 54), polar(42, 64), 7, steel)
    shadow = shaded((20, 30, 52), (44, 66, 104))
    yield disc((CENTRE[0] + 3, CENTRE[1] + 4), 56, shadow)
    yield disc(CENTRE, 56, steel)
    yield disc(CENTRE, 50, ink)
    yield disc(CENTRE, 49, shaded((214, 220, 228), (255, 253, 246)))
    yield sector(132, 34, shaded((233, 150, 96), (255, 214, 150)))
    for tick in range(60):
        inner, width = (39, 2) if tick % 5 == 0 else (43.5, 0.8)
        yield line(polar(6 * tick, 47), polar(6 * tick, inner), width, ink)
    for radius in (34, 24, 14):
        yield ring(radius, 0.7, flat(150, 156, 168))
    yield line(polar(312, 12), polar(132, 44), 1.5, flat(200, 38, 44))
    yield line(CENTRE, polar(18, 26), 3, ink)
    yield disc(CENTRE, 4, ink)
    yield disc(CENTRE, 1.5, flat(240, 200, 90))


def near(layers, px, py):
    """The shapes that a pixel may show."""

    def touches(left, top, right, bottom):
        return left <= px + 1 and top <= py + 1 and px <= right and py <= bottom

    return [layer for layer in layers if touches(*layer[0])]


def colour_at(layers, x, y):
    for _, covers, colour in layers:
        if covers(x, y):
            return colour(x, y)
    return mix((188, 214, 236), (58, 92, 148), (0.3 * x + 0.7 * y) / SIZE)


def pixels():
    layers = list(shapes())[::-1]
    count = SAMPLES * SAMPLES
    for py in range(SIZE):
        for px in range(SIZE):
            here = near(layers, px, py)
            total = [0.0, 0.0, 0.0]
            for i in range(count):
                x = px + (i % SAMPLES + 0.5) / SAMPLES
                y = py + (i // SAMPLES + 0.5) / SAMPLES
                total = [a + b for a, b in zip(total, colour_at(here, x, y))]
            yield from (int(a / count + 0.5) for a in total)


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: draw.py OUT.ppm")
    picture = b"P6\n%d %d\n255\n" % (SIZE, SIZE) + bytes(pixels())
    with open(sys.argv[1], "wb") as file:
        file.write(picture)


if __name__ == "__main__":
    main()
