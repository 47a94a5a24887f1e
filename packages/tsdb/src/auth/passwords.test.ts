import { compareSync } from '@node-rs/bcrypt';
import { expect, test } from 'vitest';

import { hashPassword, PasswordChecker } from './passwords.ts';

/** A checker, and the hashes that it compared with; comparing is what takes time. */
function watched(cost = 4) {
  const compared: string[] = [];
  const checker = new PasswordChecker(cost, async (password, passwordHash) => {
    compared.push(passwordHash);
    return compareSync(password, passwordHash);
  });
  return { checker, compared };
}

const cost = (hash: string): string | undefined =>
  /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/.exec(hash)?.[1];

test('an unknown user costs what a wrong password costs: one comparison with a hash of the same cost', async () => {
  const known = await hashPassword('right', 10);
  const wrong = watched(10);
  const unknown = watched(10);

  expect(await wrong.checker.check('ana', 'guess', known)).toBe(false);
  expect(await unknown.checker.check('nobody', 'guess', undefined)).toBe(false);

  expect(wrong.compared.map(cost)).toEqual(['10']);
  expect(unknown.compared.map(cost)).toEqual(['10']);
});

test('a cost that bcrypt does not have is its least', async () => {
  const { checker, compared } = watched(0);

  expect(await checker.check('nobody', 'guess', undefined)).toBe(false);
  expect(await checker.check('ana', 'right', await hashPassword('right', 0))).toBe(true);

  expect(compared.map(cost)).toEqual(['04', '04']);
});

test('that holds after a right login, whose repetition costs nothing', async () => {
  const known = await hashPassword('right', 4);
  const { checker, compared } = watched();
  expect(await checker.check('ana', 'right', known)).toBe(true);
  expect(await checker.check('ana', 'right', known)).toBe(true);
  expect(compared).toHaveLength(1);

  expect(await checker.check('ana', 'guess', known)).toBe(false);
  expect(compared).toHaveLength(2);

  const changed = await hashPassword('new', 4);
  expect(await checker.check('ana', 'right', changed)).toBe(false);
  expect(await checker.check('ana', 'new', changed)).toBe(true);
});
