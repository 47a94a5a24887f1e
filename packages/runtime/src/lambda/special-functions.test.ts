// Values from tables of mathematical functions.
import { expect, test } from 'vitest';
import { besselJ, besselY, erf, erfc, gamma } from './special-functions.ts';

const close = (actual: number, expected: number): void => {
  expect(Math.abs(actual - expected)).toBeLessThan(1e-11 * Math.max(1, Math.abs(expected)));
};

test.each([
  [0, 0],
  [0.5, 0.5204998778130465],
  [1, 0.8427007929497149],
  [-2, -0.9953222650189527],
  [4, 0.9999999845827421],
])('erf(%d)', (x, expected) => close(erf(x), expected));

test.each([
  [0.5, 0.4795001221869535],
  [3, 2.209049699858544e-5],
  [-1, 1.8427007929497148],
])('erfc(%d)', (x, expected) => close(erfc(x), expected));

test('a small complement keeps its digits', () => {
  expect(Math.abs(erfc(10) / 2.088487583762545e-45 - 1)).toBeLessThan(1e-10);
});

test.each([
  [5, 24],
  [0.5, 1.772453850905516],
  [-1.5, 2.3632718012073544],
  [10.1, 454760.7514415855],
])('gamma(%d)', (x, expected) => close(gamma(x), expected));

test('poles and overflow of gamma', () => {
  expect([gamma(0), gamma(-0), gamma(172)]).toEqual([Infinity, -Infinity, Infinity]);
  expect(gamma(-3)).toBeNaN();
});

test.each([
  [0, 1, 0.7651976865579666],
  [1, 1, 0.44005058574493355],
  [0, 10, -0.24593576445134832],
  [2, 5, 0.046565116277752214],
  [0, 100, 0.01998585030422312],
  [3, -2, -0.12894324947440206],
])('the Bessel function J of order %d at %d', (n, x, expected) => close(besselJ(n, x), expected));

test.each([
  [0, 1, 0.08825696421567697],
  [1, 1, -0.7812128213002887],
  [2, 1, -1.6506826068162543],
  [0, 50, -0.09806499547007708],
  [1, 10, 0.24901542420695388],
])('the Bessel function Y of order %d at %d', (n, x, expected) => close(besselY(n, x), expected));

// Large and tiny arguments, and results far from 1, keep their digits.
test.each<readonly [string, number, number]>([
  ['erfc(1.6)', erfc(1.6), 0.023651616655355992],
  ['erfc(2.5)', erfc(2.5), 0.0004069520174449589],
  ['J0(1e22)', besselJ(0, 1e22), -1.8561051065108217e-12],
  ['J3(1e-5)', besselJ(3, 1e-5), 2.0833333333203124e-17],
  ['J1(1e-300)', besselJ(1, 1e-300), 5e-301],
  ['J50(100)', besselJ(50, 100), -0.03869833972852538],
  ['J100000(1e9)', besselJ(100_000, 1e9), 0.000002006501574557743],
  ['Y0(1e-300)', besselY(0, 1e-300), -439.8351636227653],
  ['Y1(1e-5)', besselY(1, 1e-5), -63661.97727536548],
  ['Y3(1e-5)', besselY(3, 1e-5), -5.092958179004313e15],
  ['Y2(1e12)', besselY(2, 1e12), 7.913802683848916e-7],
])('%s', (_name, actual, expected) => {
  expect(Math.abs(actual / expected - 1)).toBeLessThan(1e-12);
});

test('orders and arguments without bounds give an answer at once', () => {
  expect([besselJ(1e9, 5), besselY(-1e9, 5)]).toEqual([Number.NaN, Number.NaN]);
  expect([besselJ(1e6, 5), besselY(1e6, 5)]).toEqual([0, -Infinity]);
  expect(besselJ(0, 1e308)).not.toBeNaN();
});
