import { LimitExceeded } from '@tidemark/core';
import { expect, test } from 'vitest';

import { LOGIN_LIMITS, LoginThrottle } from './login-throttle.ts';

const FREE = LOGIN_LIMITS.freeLoginFailures.value;
const FREE_OF_ADDRESS = LOGIN_LIMITS.freeAddressFailures.value;

class Wrong extends Error {}

function make() {
  let nowMs = 0;
  let passwords = 0;
  let checks = 0;
  const throttle = new LoginThrottle({
    monotonicMs: () => nowMs,
    isWrong: (error) => error instanceof Wrong,
  });
  /** The outcome of an attempt; passwords differ unless one is given. */
  const attempt = async (
    address: string,
    userName: string,
    check: () => Promise<unknown>,
    password = `password ${passwords++}`,
  ): Promise<'right' | 'wrong' | 'refused' | 'failed'> => {
    try {
      await throttle.attempt({ address, userName, password }, () => {
        checks++;
        return check();
      });
      return 'right';
    } catch (error) {
      if (error instanceof Wrong) return 'wrong';
      return error instanceof LimitExceeded ? 'refused' : 'failed';
    }
  };
  const wrong = () => Promise.reject(new Wrong());
  const right = () => Promise.resolve('user');
  return {
    attempt,
    wrong,
    right,
    checks: () => checks,
    fail: async (count: number, address: string, user: (i: number) => string): Promise<void> => {
      for (let i = 0; i < count; i++) await attempt(address, user(i), wrong);
    },
    login: (address: string, user: string) => attempt(address, user, right),
    advance: (ms: number) => void (nowMs += ms),
  };
}

test('an address and user wait after some failures, longer each time, but not for ever', async () => {
  const { attempt, wrong, fail, advance } = make();
  await fail(FREE, '10.0.0.1', () => 'ana');

  const waits: number[] = [];
  for (let i = 0; i < 8; i++) {
    expect(await attempt('10.0.0.1', 'ana', wrong)).toBe('wrong');
    let waitedMs = 0;
    const isRefused = async () =>
      (await attempt('10.0.0.1', 'ana', () => Promise.reject(new Error('not counted')))) ===
      'refused';
    for (; await isRefused(); waitedMs += 1000) advance(1000);
    waits.push(waitedMs);
  }

  expect(waits).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
});

test('many attempts at once are counted before they are checked', async () => {
  const { attempt, wrong, checks } = make();
  const all = await Promise.all(
    Array.from({ length: 600 }, () => attempt('10.0.0.1', 'ana', wrong)),
  );

  expect(checks()).toBe(FREE + 1);
  expect(all.filter((outcome) => outcome === 'refused')).toHaveLength(600 - FREE - 1);
  expect(await attempt('10.0.0.1', 'ana', wrong)).toBe('refused');
});

test('many users at once are counted before they are checked', async () => {
  const { attempt, wrong, checks } = make();
  await Promise.all(Array.from({ length: 600 }, (_, i) => attempt('10.0.0.1', `u${i}`, wrong)));

  expect(checks()).toBe(FREE_OF_ADDRESS + 1);
});

test('one password at once is one attempt, of that user only', async () => {
  const { attempt, right, wrong, checks } = make();
  const all = await Promise.all(
    Array.from({ length: 50 }, () => attempt('10.0.0.1', 'ana', right, 'same')),
  );
  expect([new Set(all), checks()]).toEqual([new Set(['right']), 1]);

  const [ofOne, ofOther] = await Promise.all([
    attempt('10.0.0.1', 'a b', right, 'c'),
    attempt('10.0.0.1', 'a', wrong, 'b c'),
  ]);
  expect([ofOne, ofOther]).toEqual(['right', 'wrong']);
});

test('attempts without a result count for nobody', async () => {
  const { attempt, login } = make();
  const broken = () => Promise.reject(new Error('the database does not answer'));
  for (let i = 0; i < FREE * 3; i++) await attempt('10.0.0.1', 'ana', broken);
  expect(await login('10.0.0.1', 'ana')).toBe('right');
});

test('other users of the address and the user elsewhere go on', async () => {
  const { login, fail } = make();
  await fail(1000, '10.0.0.1', () => 'ana');
  expect([
    await login('10.0.0.1', 'ana'),
    await login('10.0.0.1', 'ben'),
    await login('10.0.0.2', 'ana'),
  ]).toEqual(['refused', 'right', 'right']);
});

test('an address that tries many users waits with all of them but those who were right', async () => {
  const { login, fail, advance } = make();
  expect(await login('10.0.0.1', 'known')).toBe('right');
  await fail(FREE_OF_ADDRESS, '10.0.0.1', (i) => `user${i}`);
  expect(await login('10.0.0.1', 'ana')).toBe('right');
  await fail(1, '10.0.0.1', () => 'one more');
  expect([
    await login('10.0.0.1', 'ben'),
    await login('10.0.0.2', 'ben'),
    await login('10.0.0.1', 'ana'),
    await login('10.0.0.1', 'known'),
  ]).toEqual(['refused', 'right', 'right', 'right']);

  // A password of theirs cannot be guessed either.
  await fail(FREE + 1, '10.0.0.1', () => 'known');
  expect(await login('10.0.0.1', 'known')).toBe('refused');

  advance(LOGIN_LIMITS.loginTrustMs.value + 1);
  await fail(FREE_OF_ADDRESS + 1, '10.0.0.1', (i) => `user${i}`);
  expect(await login('10.0.0.1', 'known')).toBe('refused');
});

test('refused attempts do not make the failures of others forgotten', async () => {
  const { attempt, login, wrong, fail } = make();
  await fail(FREE + 1, '10.0.0.1', () => 'ana');
  await fail(FREE_OF_ADDRESS + 1, '10.0.0.2', (i) => `user${i}`);
  for (let i = 0; i < LOGIN_LIMITS.trackedLogins.value + 1; i++) {
    await attempt('10.0.0.2', `more${i}`, wrong);
  }
  expect(await login('10.0.0.1', 'ana')).toBe('refused');
});

test('addresses of one IPv6 network count together', async () => {
  const { login, fail } = make();
  await fail(FREE + 1, '2001:db8:0:7::1', () => 'ana');
  expect([
    await login('2001:db8:0:7:aaaa::9', 'ana'),
    await login('2001:db8:0:8::1', 'ana'),
    await login('::1', 'ana'),
  ]).toEqual(['refused', 'right', 'right']);
});

test('a success and a long pause start anew', async () => {
  const { login, fail, advance } = make();
  await fail(FREE, '10.0.0.1', () => 'ana');
  await login('10.0.0.1', 'ana');
  await fail(FREE, '10.0.0.1', () => 'ana');
  expect(await login('10.0.0.1', 'ana')).toBe('right');
  await fail(FREE, '10.0.0.1', () => 'ana');
  advance(LOGIN_LIMITS.loginForgetMs.value + 1);
  await fail(FREE, '10.0.0.1', () => 'ana');
  expect(await login('10.0.0.1', 'ana')).toBe('right');
});
