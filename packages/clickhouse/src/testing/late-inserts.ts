// An insert that a server stores after its write was refused: a later acknowledged write overrides
// it, and a later delete hides it. The same checks for a cluster of the oldest version and for the
// current one in a single process.
import { Unavailable } from '@tidemark/core';
import type { PolicyRef, PointStorage } from '@tidemark/storage-api';
import { expect } from 'vitest';

import type { Gate } from './gate.ts';
import { storedRows, untilWritten, writeLines } from './test-storage.ts';

export type TwoFrontEnds = {
  /** Between the first front end and each server. */
  readonly gates: readonly Gate[];
  /** Refuses a write after two seconds. */
  readonly one: PointStorage;
  readonly two: PointStorage;
};

/** Closes both front ends. */
export async function expectRefusedWriteToLose(
  policy: PolicyRef,
  { gates, one, two }: TwoFrontEnds,
): Promise<void> {
  await untilWritten(one, policy, 'm v=1 1');
  holdPoints(gates, policy);
  await expect(writeLines(one, policy, ['m v=2 1'])).rejects.toThrow(Unavailable);
  expect(gates.reduce((sum, { heldCount }) => sum + heldCount, 0)).toBeGreaterThan(0);
  await untilWritten(two, policy, 'm v=3 1');
  for (const gate of gates) await gate.release();

  expect(await storedRows(two, policy)).toEqual(['m 1 3']);
  expect(await storedRows(one, policy)).toEqual(['m 1 3']);
  await untilWritten(one, policy, 'm v=4 1');
  expect(await storedRows(two, policy)).toEqual(['m 1 4']);
  await one.close();
  await two.close();
}

/** Closes both front ends. */
export async function expectLateInsertToBeHidden(
  policy: PolicyRef,
  { gates, one, two }: TwoFrontEnds,
): Promise<void> {
  await untilWritten(one, policy, 'm v=1 1');
  holdPoints(gates, policy);
  await expect(writeLines(one, policy, ['m v=2 1', 'm v=2 2'])).rejects.toThrow(Unavailable);
  await two.delete({ database: policy.database, measurements: ['m'] });
  await untilWritten(two, policy, 'm v=3 3');
  for (const gate of gates) await gate.release();

  expect(await storedRows(two, policy)).toEqual(['m 3 3']);
  await one.close();
  await two.close();
}

function holdPoints(gates: readonly Gate[], { id }: PolicyRef): void {
  for (const gate of gates)
    gate.hold((sql) => sql.startsWith('INSERT INTO') && sql.includes(`points_${id}`));
}
