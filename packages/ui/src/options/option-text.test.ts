// Options as texts.
import { HANDLER_DEFINITIONS } from '@tidemark/pipeline';
import { expect, test } from 'vitest';
import { isLong, printOption, readOption } from './option-text.ts';

const optionOf = (kind: string, name: string) => {
  const row = HANDLER_DEFINITIONS.find((each) => each.kind === kind)?.options as
    | Parameters<typeof readOption>[0][]
    | undefined;
  const found = (row as unknown as Record<string, Parameters<typeof readOption>[0]>)[name];
  if (found === undefined) throw new Error(`no option ${kind} ${name}`);
  return found;
};

test.each<readonly [string, string, string, unknown]>([
  ['post', 'url', 'http://a/b', 'http://a/b'],
  ['post', 'timeout', '5s', '5s'],
  ['post', 'skip-ssl-verification', 'true', true],
  ['post', 'headers', 'X-A: b\nX-C: d: e', { 'X-A': 'b', 'X-C': 'd: e' }],
  ['smtp', 'to', 'a@b\n\nc@d', ['a@b', 'c@d']],
])('%s %s of %j', (kind, name, text, value) => {
  const option = optionOf(kind, name);

  expect(readOption(option, text)).toEqual(value);
  expect(readOption(option, printOption(value))).toEqual(value);
  expect(readOption(option, ' ')).toBeUndefined();
  expect(isLong(option)).toBe(typeof value === 'object');
});
