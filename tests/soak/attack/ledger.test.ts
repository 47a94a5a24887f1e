// The checker of the attack: which results it accepts and which it rejects.
import { beforeEach, expect, test } from 'vitest';

import { CELLS } from './cells.ts';
import type { Cell } from './cells.ts';
import { Ledger } from './ledger.ts';

const [cell, other] = CELLS as readonly [Cell, Cell];
const ALL = (): boolean => true;

let ledger: Ledger;
beforeEach(() => {
  ledger = new Ledger();
});

/** The values of 0 to 3 that a reading may find that begins now. */
function possible(of = cell): number[] {
  const from = ledger.beginRead();
  return [0, 1, 2, 3].filter((value) => ledger.problem(of, value, from) === undefined);
}

test('an acknowledged value stays until another is acknowledged', () => {
  expect(possible()).toEqual([0]);
  ledger.set('write', [cell], 1).acknowledged();
  expect(possible()).toEqual([1]);
  expect(possible(other)).toEqual([0]);
  ledger.set('write', [cell], 2).acknowledged();
  expect(possible()).toEqual([2]);
  ledger.clear('delete', ALL).acknowledged();
  expect(possible()).toEqual([0]);
});

test('a refused value is absent, an unknown one may be present', () => {
  ledger.set('write', [cell], 1).refused();
  expect(possible()).toEqual([0]);
  ledger.set('write', [cell], 2).unknown();
  expect(possible()).toEqual([0, 2]);
  ledger.set('write', [cell], 3).acknowledged();
  expect(possible()).toEqual([3]);
});

test('either of two changes at once may be the last', () => {
  const first = ledger.set('write', [cell], 1);
  const second = ledger.clear('delete', ALL);
  expect(possible()).toEqual([0, 1]);
  second.acknowledged();
  expect(possible()).toEqual([0, 1]);
  first.acknowledged();
  expect(possible()).toEqual([0, 1]);
});

test('a reading may find what there was when it began', () => {
  ledger.set('write', [cell], 1).acknowledged();
  const from = ledger.beginRead();
  for (let i = 0; i < 40; i++) ledger.set('write', [cell], 2).acknowledged();

  expect(ledger.problem(cell, 1, from)).toBeUndefined();
  expect(ledger.problem(cell, 2, from)).toBeUndefined();
  expect(ledger.problem(cell, 0, from)).toMatch(/is nothing, read from/);
  ledger.endRead(from);
  expect(possible()).toEqual([2]);
});

test('a lingering change may take effect until it has ended, whatever was found', () => {
  ledger.set('write', [cell], 1).acknowledged();
  const end = ledger.clear('expiry', ALL).lingers();
  expect(possible()).toEqual([0, 1]);
  ledger.settle(cell, 1);
  expect(possible()).toEqual([0, 1]);
  end();
  ledger.settle(cell, 1);
  expect(possible()).toEqual([1]);
});

test('a copy has what there was at some time while it was made', () => {
  ledger.set('write', [cell], 1).acknowledged();
  const from = ledger.beginRead();
  ledger.set('write', [cell], 2).unknown();
  const copy = ledger.possible([cell], from, () => other);
  ledger.set('write', [cell], 3).acknowledged();
  ledger.oneOf('restore', copy).acknowledged();

  expect(possible(other)).toEqual([1, 2]);
});
