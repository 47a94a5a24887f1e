// A crash in every named step of flush, compaction, delete, drop, rebuild of the index, backup and
// restore: the process is killed (what it wrote stays in the page cache) or the power goes (only
// what was synced stays).
import { expect, test } from 'vitest';

import { joinBackups, storeBackup } from '../backup/chain.ts';
import { check, run, writeStep } from '../testing/crash-plan.ts';
import type { Expectation, Step } from '../testing/crash-plan.ts';
import { POLICY } from '../testing/fixtures.ts';
import { randomNumbers, SimulatedCrash, SimulatedDisk } from '../testing/simulated-disk.ts';

const POINTS = [
  'backup:segment',
  'compaction:committed',
  'compaction:segment-written',
  'delete:logged',
  'delete:selected',
  'drop:logged',
  'flush:index-written',
  'flush:segments-written',
  'manifest:after',
  'manifest:before',
  'rebuild:adopted',
  'rebuild:copied',
  'restore:index-written',
  'restore:segments-written',
];

/** Backs up, restores beside, drops the copy, and writes on. */
function operate(disk: SimulatedDisk): Step {
  return async (engine, expected) => {
    await storeBackup('/backup/full', engine.backup({}), { disk });
    const request = { databases: new Map([['db', 'copy']]), policies: new Map([[POLICY.id, 7]]) };
    await engine.restore(request, joinBackups(['/backup/full'], { disk }));
    await engine.dropPolicy(7);
    await writeStep(['z 9'], 9)(engine, expected);
  };
}

let known: Promise<Map<string, number>> | undefined;

/** How often each point is met. Found once for all tests. */
function meetings(): Promise<Map<string, number>> {
  known ??= countMeetings();
  return known;
}

async function countMeetings(): Promise<Map<string, number>> {
  const met = new Map<string, number>();
  const disk = new SimulatedDisk();
  const fault = (point: string): void => void met.set(point, (met.get(point) ?? 0) + 1);
  await run(disk, new Map(), { fault, more: operate(disk) });
  return met;
}

test('every named step is met by what the tests do', async () => {
  expect([...(await meetings()).keys()].sort()).toEqual(POINTS);
});

test.each(POINTS)(
  'a crash at %s loses nothing acknowledged and invents nothing',
  async (point) => {
    const count = (await meetings()).get(point) ?? 0;
    expect(count).toBeGreaterThan(0);
    for (let crashAt = 1; crashAt <= count; crashAt++) {
      for (const kind of ['kill', 'power cut']) {
        const disk = new SimulatedDisk();
        const expected: Expectation = new Map();
        let left: SimulatedDisk | undefined;
        let times = 0;
        const fault = (name: string): void => {
          if (name !== point || ++times !== crashAt) return;
          if (kind === 'kill') left = disk.copy();
          disk.crashAt = disk.operations;
          throw new SimulatedCrash('the process ends here');
        };

        // The last step's answer goes to a caller that no longer exists.
        await run(disk, expected, { fault, more: operate(disk) }).catch(() => undefined);

        expect(times, 'the step was met').toBeGreaterThanOrEqual(crashAt);
        left ??= disk.afterCrash(randomNumbers(crashAt));
        await check(left, expected, `${kind} at ${point} ${crashAt}`);
      }
    }
  },
  300_000,
);
