import { expect, test } from 'vitest';
import { checkJsonDepth, JSON_DEPTH } from './json-depth.ts';

const { value: max } = JSON_DEPTH;

test.each([
  ['lists', '['.repeat(max) + ']'.repeat(max)],
  ['objects', '{"a":'.repeat(max) + '1' + '}'.repeat(max)],
  ['brackets of a text', `["${'['.repeat(1000)}", "\\"${'{'.repeat(1000)}"]`],
  ['brackets side by side', `[${'[],'.repeat(1000)}[]]`],
])('%s within the limit are taken', (_, text) => {
  expect(() => checkJsonDepth(text)).not.toThrow();
});

test.each([
  ['lists', '['.repeat(max + 1)],
  ['objects', '{"a":'.repeat(max + 1)],
  ['a megabyte of both', '[{"a":'.repeat(150_000)],
  ['brackets behind a text', `["]","\\\\",${'['.repeat(max)}`],
])('%s beyond it are refused', (_, text) => {
  expect(() => checkJsonDepth(text, 'wrong: ')).toThrow(
    `wrong: JSON nests deeper than ${max} levels`,
  );
});
