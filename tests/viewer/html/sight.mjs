// SPDX-License-Identifier: Apache-2.0
// The difference of two colours "#rrggbb" to the eye. It is the distance in OKLab, the minimum for
// normal sight and for sight without long, middle or short cones (the matrices of Machado, Oliveira
// and Fernandes, 2009, for a severity of 1, on linear RGB).
const SIGHTS = [
    [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
     [-0.003882, -0.048116, 1.051998]],
    [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
     [-0.011820, 0.042940, 0.968881]],
    [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
     [0.004733, 0.691367, 0.303900]],
];
const TO_CONES = [
    [0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566],
    [0.0883024619, 0.2817188376, 0.6299787005],
];
const TO_LAB = [
    [0.2104542553, 0.7936177850, -0.0040720468], [1.9779984951, -2.4285922050, 0.4505937099],
    [0.0259040371, 0.7827717662, -0.8086757660],
];

const apply = (matrix, v) => matrix.map((row) => row[0] * v[0] + row[1] * v[1] + row[2] * v[2]);

function linear(hex) {
    return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255)
        .map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
}

function lab(hex, sight) {
    const seen = apply(sight, linear(hex)).map((v) => Math.min(1, Math.max(0, v)));
    return apply(TO_LAB, apply(TO_CONES, seen).map(Math.cbrt));
}

export function distance(one, other) {
    return Math.min(...SIGHTS.map((sight) => {
        const a = lab(one, sight), b = lab(other, sight);
        return Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
    }));
}
