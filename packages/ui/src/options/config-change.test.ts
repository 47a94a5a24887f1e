import type { ConfigOption } from '@tidemark/client';
import { expect, test } from 'vitest';

import { changeOf, typedOf } from './config-change.ts';

const option = (type: string, isSecret = false): ConfigOption => ({
  type,
  doc: '',
  default: null,
  isSecret,
});
const TABLE = {
  host: option('string'),
  port: option('integer'),
  to: option('strings'),
  password: option('string', true),
  timeout: option('duration'),
};
const ELEMENT = {
  element: '',
  options: { host: 'mail', port: 25, to: ['a@b', 'c@d'], password: true, timeout: '1m0s' },
  redacted: ['password'],
  isAdded: false,
  overridden: [],
};
const before = typedOf(ELEMENT, TABLE);
const none = new Set<string>();

test('options are shown as they are typed, secrets not at all', () => {
  expect(before).toEqual({
    host: 'mail',
    port: '25',
    to: 'a@b\nc@d',
    password: '',
    timeout: '1m0s',
  });
});

test.each<readonly [string, Record<string, string>, object | undefined]>([
  ['nothing', {}, {}],
  ['a number', { port: '26' }, { set: { port: 26 } }],
  ['what is no number is left to the engine', { port: 'x' }, { set: { port: 'x' } }],
  ['nothing where a text was', { host: '' }, { set: { host: '' } }],
  ['nothing where a list was', { to: '' }, { set: { to: [] } }],
  ['nothing where a number was', { port: '' }, undefined],
  ['nothing where a span was', { timeout: ' ' }, undefined],
  ['a secret', { password: 'pw' }, { set: { password: 'pw' } }],
])('%s', (_name, changed, expected) => {
  expect(changeOf(TABLE, { before, typed: { ...before, ...changed }, taken: none })).toEqual(
    expected,
  );
});

test('options that return to the file are named', () => {
  const taken = new Set(['port']);
  expect(changeOf(TABLE, { before, typed: { ...before, host: 'x' }, taken })).toEqual({
    set: { host: 'x' },
    delete: ['port'],
  });
});
