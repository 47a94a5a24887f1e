// The journal on a simulated disk that crashes at every step, fails, and is damaged.
import { Corruption } from '@tidemark/core';
import { describe, expect, test } from 'vitest';

import { randomNumbers, SimulatedDisk } from '../testing/simulated-disk.ts';
import { NewerFormat } from '../damage.ts';
import { encodeChecked } from './checked-file.ts';
import { Journal, readState, stateFiles } from './journal.ts';
import type { JournalPlace } from './journal.ts';

const FORMAT = { magic: 'TDMTST', version: 3, firstVersion: 3 };
const PATH = '/data/STATE';
/** Large enough for three changes in a journal. */
const CHANGE_BYTES = 10_000;

type Numbers = readonly number[];

/** A state that is a list of numbers; a change appends one. */
class Subject {
  readonly #journal: Journal;
  readonly hasDamagedCopy: boolean;
  numbers: Numbers;

  private constructor(journal: Journal, numbers: Numbers, hasDamagedCopy: boolean) {
    this.#journal = journal;
    this.numbers = numbers;
    this.hasDamagedCopy = hasDamagedCopy;
  }

  static async open(disk: SimulatedDisk): Promise<Subject> {
    const state = readState(placeOn(disk));
    const journal = new Journal(placeOn(disk), state);
    await journal.settle();
    return new Subject(journal, numbersOn(disk), state?.hasDamagedCopy ?? false);
  }

  async append(number: number): Promise<void> {
    const change = text(String(number).padEnd(CHANGE_BYTES));
    await this.#journal.append(change, () => text(JSON.stringify(this.numbers)));
    this.numbers = [...this.numbers, number];
  }
}

function placeOn(disk: SimulatedDisk): JournalPlace {
  return { disk, path: PATH, format: FORMAT };
}

function numbersOn(disk: SimulatedDisk): Numbers {
  const state = readState(placeOn(disk));
  if (state === undefined) return [];
  const before = JSON.parse(Buffer.from(state.checkpoint).toString()) as Numbers;
  return [...before, ...state.changes.map((change) => Number(Buffer.from(change).toString()))];
}

function text(value: string): Uint8Array {
  return new TextEncoder().encode(value);
}

function newDisk(): SimulatedDisk {
  const disk = new SimulatedDisk();
  disk.makeDirectory('/data');
  return disk;
}

async function diskWith(count: number): Promise<SimulatedDisk> {
  const disk = newDisk();
  const subject = await Subject.open(disk);
  for (let number = 1; number <= count; number++) await subject.append(number);
  return disk;
}

function upTo(count: number): Numbers {
  return Array.from({ length: count }, (_, i) => i + 1);
}

/** The journal that counts. */
function journalOf(disk: SimulatedDisk): string {
  return stateFiles(placeOn(disk)).at(-1)!;
}

const CHANGES = 9;

describe('crashes', () => {
  test('a crash after any step keeps what was acknowledged, and nothing comes back later', async () => {
    const whole = await diskWith(CHANGES);
    let unfinished = 0;
    for (let step = 0; step < whole.operations; step++) {
      const disk = newDisk();
      disk.crashAt = step;
      let acknowledged = 0;
      await Subject.open(disk)
        .then(async (subject) => {
          while (acknowledged < CHANGES) {
            await subject.append(acknowledged + 1);
            acknowledged++;
          }
        })
        .catch(() => undefined);
      for (let seed = 0; seed < 12; seed++) {
        const random = randomNumbers(1 + step * 100 + seed);
        const left = seed % 4 === 0 ? disk.afterKill() : disk.afterCrash(random);

        const again = await Subject.open(left);

        const found = again.numbers;
        expect([upTo(acknowledged), upTo(acknowledged + 1)]).toContainEqual(found);
        if (found.length > acknowledged) unfinished++;
        expect(again.hasDamagedCopy).toBe(false);
        expect(numbersOn(left.afterCrash(random))).toEqual(found);
        await again.append(found.length + 1);
        await again.append(found.length + 2);
        expect(numbersOn(left.afterCrash(random))).toEqual(upTo(found.length + 2));
      }
    }
    expect(unfinished).toBeGreaterThan(0);
  });

  test('of the older journals none is left', async () => {
    const disk = await diskWith(CHANGES);

    expect(stateFiles(placeOn(disk))).toHaveLength(2);
    expect(numbersOn(disk)).toEqual(upTo(CHANGES));
  });

  test('a clean journal is continued after a start', async () => {
    const disk = await diskWith(1);
    const before = journalOf(disk);

    await (await Subject.open(disk)).append(2);

    expect(journalOf(disk)).toBe(before);
    expect(numbersOn(disk)).toEqual([1, 2]);
  });
});

describe('failures', () => {
  test.each(['failSyncs', 'failDirectorySyncs'] as const)(
    'a change that is refused because of %s is not there after a start, and later ones are',
    async (what) => {
      for (let failing = 1; failing <= CHANGES; failing++) {
        for (let count = 1; count <= 3; count++) {
          const disk = await diskWith(failing - 1);
          const subject = await Subject.open(disk);
          disk[what] = count;

          const results: boolean[] = [];
          for (let number = failing; results.at(-1) !== true; number++) {
            results.push(
              await subject.append(number).then(
                () => true,
                () => false,
              ),
            );
            expect(numbersOn(disk.afterKill())).toEqual(subject.numbers);
          }

          for (let seed = 1; seed <= 5; seed++) {
            const left = disk.afterCrash(randomNumbers(seed));
            expect(numbersOn(left)).toEqual(subject.numbers);
          }
        }
      }
    },
  );

  test('a change that reached the disk although its sync failed does not come back after later ones', async () => {
    const disk = await diskWith(2);
    const subject = await Subject.open(disk);
    disk.failSyncs = 2;
    disk.keepsFailed = true;
    await expect(subject.append(77)).rejects.toThrow('EIO');
    disk.failSyncs = 0;

    await subject.append(3);

    expect(numbersOn(disk.afterCrash(randomNumbers(1)))).toEqual([1, 2, 3]);
  });

  test('a checkpoint whose name was not synced is durable before changes follow it', async () => {
    const disk = await diskWith(3);
    const subject = await Subject.open(disk);
    disk.failDirectorySyncs = 1;
    await expect(subject.append(4)).rejects.toThrow('EIO');

    const again = await Subject.open(disk);
    await again.append(5);

    for (let seed = 1; seed <= 20; seed++) {
      expect(numbersOn(disk.afterCrash(randomNumbers(seed)))).toEqual([1, 2, 3, 5]);
    }
  });

  test('a crash after any step behind a checkpoint whose name was not synced loses nothing', async () => {
    for (let step = 0; step < 16; step++) {
      const disk = await diskWith(3);
      const subject = await Subject.open(disk);
      disk.failDirectorySyncs = 1;
      await expect(subject.append(4)).rejects.toThrow('EIO');
      disk.crashAt = disk.operations + step;
      const isDone = await subject.append(5).then(
        () => true,
        () => false,
      );

      for (let seed = 1; seed <= 20; seed++) {
        const found = numbersOn(disk.afterCrash(randomNumbers(seed)));
        expect(
          isDone
            ? [[1, 2, 3, 5]]
            : [
                [1, 2, 3],
                [1, 2, 3, 5],
              ],
        ).toContainEqual(found);
      }
    }
  });

  test('a change is acknowledged when only its mark does not fit', async () => {
    const disk = await diskWith(1);
    const framed = CHANGE_BYTES + 16;
    let acknowledged = 0;
    for (let room = framed - 30; room < framed + 30; room++) {
      const copy = disk.copy();
      const again = await Subject.open(copy);
      copy.fill();
      copy.capacityBytes += room;
      const isDone = await again.append(2).then(
        () => true,
        () => false,
      );
      if (isDone) acknowledged++;
      copy.capacityBytes = Number.POSITIVE_INFINITY;
      expect(numbersOn(copy.afterKill())).toEqual(isDone ? [1, 2] : [1]);
      await again.append(3);
      expect(numbersOn(copy.afterCrash(randomNumbers(1)))).toEqual(isDone ? [1, 2, 3] : [1, 3]);
    }
    expect(acknowledged).toBeGreaterThan(10);
    expect(acknowledged).toBeLessThan(50);
  });

  test('a full disk refuses changes, leaves no files behind, and takes changes when there is room', async () => {
    const disk = await diskWith(3);
    const subject = await Subject.open(disk);
    disk.fill();
    for (let i = 0; i < 5; i++) await expect(subject.append(4)).rejects.toThrow('ENOSPC');
    const files = stateFiles(placeOn(disk));
    disk.capacityBytes = Number.POSITIVE_INFINITY;

    await subject.append(4);

    expect(files.length).toBeLessThanOrEqual(3);
    expect(stateFiles(placeOn(disk))).toHaveLength(2);
    expect(numbersOn(disk.afterCrash(randomNumbers(1)))).toEqual([1, 2, 3, 4]);
  });
});

describe('damage', () => {
  test('a damaged byte anywhere costs nothing', async () => {
    const sound = await diskWith(3);
    let reported = 0;
    for (const path of [PATH, journalOf(sound)]) {
      const { length } = sound.bytes(path);
      for (let at = 0; at < length; at += 97) {
        const disk = sound.copy();
        disk.bytes(path)[at]! ^= 0xff;

        const subject = await Subject.open(disk);

        expect(subject.numbers).toEqual([1, 2, 3]);
        if (!subject.hasDamagedCopy) continue;
        reported++;
        await subject.append(4);
        expect((await Subject.open(disk)).hasDamagedCopy).toBe(false);
        expect(numbersOn(disk)).toEqual([1, 2, 3, 4]);
      }
    }
    expect(reported).toBeGreaterThan(500);
  });

  test('both copies of any acknowledged change damaged, also of the last one, is damage', async () => {
    const sound = await diskWith(2);
    const path = journalOf(sound);
    const half = sound.bytes(path).length - 2 * (CHANGE_BYTES + 60);
    for (const at of [100, CHANGE_BYTES + 100]) {
      const disk = sound.copy();
      const bytes = disk.bytes(path);
      const second = 32 << 10;
      expect(half).toBeGreaterThan(0);
      bytes[at]! ^= 1;
      bytes[second + at]! ^= 1;

      const failure = await Subject.open(disk).catch((error: unknown) => error);

      expect(failure).toBeInstanceOf(Corruption);
      expect(failure).toMatchObject({ file: path });
    }
  });

  test('a journal that is missing or cut to nothing is damage', async () => {
    const missing = await diskWith(2);
    missing.remove(journalOf(missing));
    const empty = await diskWith(2);
    empty.replace(journalOf(empty), new Uint8Array(0));

    await expect(Subject.open(missing)).rejects.toThrow('journal is missing');
    await expect(Subject.open(empty)).rejects.toThrow('journal is damaged');
  });

  test('a journal cut off in its second half is read from the first', async () => {
    const disk = await diskWith(2);
    const path = journalOf(disk);
    disk.replace(path, disk.bytes(path).slice(0, 32 << 10));

    const subject = await Subject.open(disk);

    expect(subject).toMatchObject({ numbers: [1, 2], hasDamagedCopy: true });
  });

  test('an end that was torn in both halves is not damage', async () => {
    const before = await diskWith(2);
    const after = await diskWith(3);
    const path = journalOf(before);
    expect(journalOf(after)).toBe(path);
    const end = before.bytes(path).length - (32 << 10);
    const bytes = new Uint8Array(after.bytes(path).length);
    bytes.set(before.bytes(path));
    for (const half of [0, 32 << 10]) {
      bytes.set(after.bytes(path).subarray(half + end, half + end + 5000), half + end);
    }
    const disk = before.copy();
    disk.replace(path, bytes);

    const subject = await Subject.open(disk);
    await subject.append(3);

    expect(subject).toMatchObject({ numbers: [1, 2, 3], hasDamagedCopy: false });
    expect(numbersOn(disk)).toEqual([1, 2, 3]);
  });
});

test('a state of a version without journals is taken over, and one of a later version refused', async () => {
  const disk = newDisk();
  disk.replace(PATH, encodeChecked(text('[5]'), { magic: 'TDMTST', version: 2 }));
  const subject = await Subject.open(disk);
  expect(subject.numbers).toEqual([5]);

  await subject.append(6);

  expect(numbersOn(disk)).toEqual([5, 6]);
  const older = { disk, path: PATH, format: { ...FORMAT, version: 2 } };
  expect(() => readState(older)).toThrow(NewerFormat);
});
