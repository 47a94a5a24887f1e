import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Unavailable } from '@tidemark/core';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { Loggers } from './logger.ts';

let directory = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'logger-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

let files = 0;
function logged(format: string, error: Error): string {
  const file = join(directory, String(files++));
  new Loggers()
    .open({ file, format, level: 'info' })
    .fatal({ err: error, part: 'a b' }, 'it failed');
  return readFileSync(file, 'utf8');
}

const refused = Object.assign(new TypeError('fetch failed'), {
  cause: Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }),
});

test.each([
  ['a refusal', new Unavailable('stopping'), { type: 'Unavailable', message: 'stopping' }],
  [
    'a closed connection',
    refused,
    { type: 'TypeError', message: 'fetch failed', code: 'ECONNREFUSED' },
  ],
])('%s is told without a stack', (_name, error, expected) => {
  expect(JSON.parse(logged('json', error))).toMatchObject({ msg: 'it failed', err: expected });
  expect(logged('json', error)).not.toContain('stack');
});

test('unexpected errors are logged with a stack', () => {
  const { err } = JSON.parse(logged('json', new Error('a bug'))) as { err: { stack: string } };
  expect(err.stack).toContain('logger.test.ts');
  expect(logged('text', new Error('a bug'))).toMatch(
    /^\d{4}-\S+ \S+ FATAL it failed {2}err="a bug" part="a b"\nError: a bug\n {4}at /,
  );
  expect(logged('logfmt', new Error('a bug'))).toMatch(
    /^ts=\S+ lvl=fatal msg="it failed" err="a bug" part="a b"\n$/,
  );
});
