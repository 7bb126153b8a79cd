// A rotation by position leaves a score that knows the distance alone; run by test_live.py.
import assert from 'node:assert/strict';
import { rotated, score, speeds } from '../../../course_utils/show/lab/pictures/static/live/two_clocks.js';
import { dot, normal, seeded } from '../../../course_utils/show/lab/pictures/static/live/kit.js';

const near = (a, b) => assert.ok(Math.abs(a - b) < 1e-9, `${a} and ${b}`);
const omega = speeds(4, 10000);
omega.forEach((speed, i) => near(speed, 10000 ** (-2 * i / 8)));
const random = seeded(1), [q, k] = [0, 1].map(() => Array.from({ length: 8 }, () => normal(random)));
near(dot(rotated(q, 3, omega), rotated(k, 10, omega)), dot(rotated(q, 103, omega), rotated(k, 110, omega)));
near(dot(rotated(q, 5, omega), rotated(q, 5, omega)), dot(q, q));
assert.ok(Math.abs(dot(rotated(q, 3, omega), rotated(k, 10, omega)) - dot(rotated(q, 3, omega), rotated(k, 11, omega))) > 1e-3);
const even = [1, 0, 1, 0, 1, 0, 1, 0]; // equal vectors: a mean of cosines
near(dot(rotated(even, 2, omega), rotated(even, 9, omega)) / 4, score(7, omega));
console.log('right');
