import { expect, test } from 'vitest';

import { LOGIN_LIMITS, LoginThrottle } from './login-throttle.ts';

const FREE = LOGIN_LIMITS.freeLoginFailures.value;
const FREE_OF_ADDRESS = LOGIN_LIMITS.freeAddressFailures.value;

function make() {
  let nowMs = 0;
  const throttle = new LoginThrottle(() => nowMs);
  const isBlocked = (address: string, user: string): boolean => {
    try {
      throttle.check(address, user);
      return false;
    } catch {
      return true;
    }
  };
  const fail = (count: number, address: string, user: (i: number) => string): void => {
    for (let i = 0; i < count; i++) throttle.failed(address, user(i));
  };
  return { throttle, isBlocked, fail, advance: (ms: number) => void (nowMs += ms) };
}

test('an address and user wait after some failures, longer each time, but not for ever', () => {
  const { isBlocked, fail, advance } = make();
  fail(FREE, '10.0.0.1', () => 'ana');
  expect(isBlocked('10.0.0.1', 'ana')).toBe(false);

  const waits: number[] = [];
  for (let i = 0; i < 8; i++) {
    fail(1, '10.0.0.1', () => 'ana');
    let waitedMs = 0;
    for (; isBlocked('10.0.0.1', 'ana'); waitedMs += 1000) advance(1000);
    waits.push(waitedMs);
  }

  expect(waits).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
});

test('other users of the address and the user elsewhere go on', () => {
  const { isBlocked, fail } = make();
  fail(1000, '10.0.0.1', () => 'ana');
  expect([
    isBlocked('10.0.0.1', 'ana'),
    isBlocked('10.0.0.1', 'ben'),
    isBlocked('10.0.0.2', 'ana'),
  ]).toEqual([true, false, false]);
});

test('an address that tries many users waits with all of them', () => {
  const { isBlocked, fail } = make();
  fail(FREE_OF_ADDRESS, '10.0.0.1', (i) => `user${i}`);
  expect(isBlocked('10.0.0.1', 'ana')).toBe(false);
  fail(1, '10.0.0.1', () => 'one more');
  expect([isBlocked('10.0.0.1', 'ana'), isBlocked('10.0.0.2', 'ana')]).toEqual([true, false]);
});

test('addresses of one IPv6 network count together', () => {
  const { isBlocked, fail } = make();
  fail(FREE + 1, '2001:db8:0:7::1', () => 'ana');
  expect([
    isBlocked('2001:db8:0:7:aaaa::9', 'ana'),
    isBlocked('2001:db8:0:8::1', 'ana'),
    isBlocked('::1', 'ana'),
  ]).toEqual([true, false, false]);
});

test('a success and a long pause start anew', () => {
  const { throttle, isBlocked, fail, advance } = make();
  fail(FREE, '10.0.0.1', () => 'ana');
  throttle.succeeded('10.0.0.1', 'ana');
  fail(FREE, '10.0.0.1', () => 'ana');
  expect(isBlocked('10.0.0.1', 'ana')).toBe(false);
  advance(LOGIN_LIMITS.loginForgetMs.value + 1);
  fail(FREE, '10.0.0.1', () => 'ana');
  expect(isBlocked('10.0.0.1', 'ana')).toBe(false);
});
