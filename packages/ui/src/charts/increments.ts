// Steps between the labels of an axis that are round in its unit: 2, 4, 6 GiB; 15, 30, 45 s.
import { shapeOfUnit } from './units.ts';

/** Ascending; `undefined` for units whose round steps are decimal. */
export function incrementsOf(unit: string): readonly number[] | undefined {
  const shape = shapeOfUnit(unit);
  switch (shape.kind) {
    case 'binary':
      return BINARY.map((bytes) => bytes / shape.scale);
    case 'duration':
      return DURATIONS_MS.map((ms) => ms / shape.ms);
    default:
      return undefined;
  }
}

/** Fractions of a byte, then powers of two up to 1024 of each prefix. */
const BINARY: readonly number[] = [
  0.001,
  0.01,
  0.1,
  ...[0, 1, 2, 3, 4, 5, 6].flatMap((step) =>
    [1, 2, 4, 8, 16, 32, 64, 128, 256, 512].map((count) => count * 1024 ** step),
  ),
];

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const DURATIONS_MS: readonly number[] = [
  ...[-6, -5, -4, -3, -2, -1, 0, 1, 2].flatMap((power) =>
    [1, 2, 5].map((count) => count * 10 ** power),
  ),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * MINUTE),
  ...[1, 2, 3, 6, 12].map((count) => count * HOUR),
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000].map((count) => count * DAY),
];
