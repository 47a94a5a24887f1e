import { expect, test } from 'vitest';

import { credentialsOf } from './connection.ts';

const URL = 'http://db:8086';
const WITH_USER = 'http://ana:secret@db:8086';
const ALL = {
  TIDEMARK_TOKEN: 'env-token',
  TIDEMARK_USERNAME: 'tina',
  TIDEMARK_PASSWORD: 'tp',
  INFLUX_USERNAME: 'ina',
  INFLUX_PASSWORD: 'ip',
};
const WITHOUT_TOKEN = { ...ALL, TIDEMARK_TOKEN: '' };
const OLD = { INFLUX_USERNAME: 'ina', INFLUX_PASSWORD: 'ip' };

test.each([
  ['the token option wins', { token: 't', user: 'u:p' }, WITH_USER, ALL, { token: 't' }],
  ['then the user', { user: 'u:p:q' }, WITH_USER, ALL, { username: 'u', password: 'p:q' }],
  [
    'whose password may be in the environment',
    { user: 'u' },
    URL,
    ALL,
    { username: 'u', password: 'tp' },
  ],
  ['or in the older one', { user: 'u' }, URL, OLD, { username: 'u', password: 'ip' }],
  ['an empty password is one', { user: 'u:' }, URL, ALL, { username: 'u', password: '' }],
  ['then what the address says', {}, WITH_USER, ALL, {}],
  ['also without a scheme', {}, 'ana:secret@db:8086', ALL, {}],
  ['then a token of the environment', {}, URL, ALL, { token: 'env-token' }],
  ['then a user of it', {}, URL, WITHOUT_TOKEN, { username: 'tina', password: 'tp' }],
  ['at last that of the older shell', {}, URL, OLD, { username: 'ina', password: 'ip' }],
  ['an at sign in a path is none', {}, 'http://db/a@b', OLD, { username: 'ina', password: 'ip' }],
  ['nobody', {}, URL, {}, {}],
])('%s', (_name, flags, url, environment, expected) => {
  expect(credentialsOf(flags, url, environment)).toEqual(expected);
});
