// default: the last value of a field counts.
import { expect, test } from 'vitest';
import { buildPipeline } from '../build.ts';

const REFUSED =
  'unsupported type time.Duration for field "f", field default values must be float,int,string or bool';

test.each([
  [".field('f', 1h).field('f', 0.5)", undefined],
  [".field('f', 0.5).field('f', 1h)", REFUSED],
  [".field('f', 1h).field('g', 0.5)", REFUSED],
  [".field('f', 1h).field('f', 2h).field('f', 'x')", undefined],
])('%s', (properties, text) => {
  expect(buildPipeline(`stream|from()|default()${properties}`).error?.text).toBe(text);
});
