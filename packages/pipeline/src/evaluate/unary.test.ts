// Operands of `!` and `-` whose known type never fits are refused at definition.
import { expect, test } from 'vitest';
import { buildPipeline } from '../build.ts';

test.each([
  ['!5', '! for type int'],
  ['!(1 + 1)', '! for type int'],
  ["!('a' + 'b')", '! for type string'],
  ['!(10s * 2)', '! for type duration'],
  ['"v" > 1 AND !(x + 1)', '! for type int'],
  ['-("v" > 1)', '- for type boolean'],
  ["-('a' + 'b')", '- for type string'],
])('%s is refused', (lambda, what) => {
  const { error } = buildPipeline(`var x = 1\nstream|from()|where(lambda: ${lambda})`);
  expect(error?.text).toMatch(new RegExp(`^line 2 char \\d+: invalid unary operator ${what}$`));
});

test.each(['!("v" > 1)', '!"v"', '-"v" > 0', '!(x > 1)', '-(x + 1) < 0', '!bool("v" + 1)'])(
  '%s may fit',
  (lambda) => {
    const { error } = buildPipeline(`var x = 1\nstream|from()|where(lambda: ${lambda})`);
    expect(error).toBe(undefined);
  },
);
