import { Corruption } from '@tidemark/core';
import { expect, test } from 'vitest';

import { randomNumbers, SimulatedDisk } from '../testing/simulated-disk.ts';
import { decodeChecked, encodeChecked, readCheckedFile, writeCheckedFile } from './checked-file.ts';

const FORMAT = { magic: 'TDMXYZ', version: 2 };
const PATH = '/data/FILE';
const body = (text: string): Uint8Array => new TextEncoder().encode(text);

test('a flipped bit anywhere costs nothing and is noticed', () => {
  const bytes = encodeChecked(body('what counts'), FORMAT);
  for (let at = 0; at < bytes.length; at++) {
    for (let bit = 0; bit < 8; bit++) {
      const flipped = bytes.slice();
      flipped[at]! ^= 1 << bit;
      const read = decodeChecked(flipped, FORMAT, PATH);
      expect([Buffer.from(read.body).toString(), read.hasDamagedCopy], `byte ${at}`).toEqual([
        'what counts',
        true,
      ]);
    }
  }
  expect(decodeChecked(bytes, FORMAT, PATH).hasDamagedCopy).toBe(false);
});

test('a file that is cut off in its second half is read, a shorter one is Corruption', () => {
  const bytes = encodeChecked(body('what counts'), FORMAT);
  for (let length = 0; length < bytes.length; length++) {
    const cut = bytes.slice(0, length);
    if (length < bytes.length / 2) {
      expect(() => decodeChecked(cut, FORMAT, PATH), `${length}`).toThrow(Corruption);
    } else expect(decodeChecked(cut, FORMAT, PATH).hasDamagedCopy).toBe(true);
  }
});

test('bytes that were added are noticed', () => {
  const bytes = encodeChecked(body('what counts'), FORMAT);
  for (const added of [Uint8Array.of(0), bytes, bytes.slice(0, bytes.length / 2)]) {
    const read = decodeChecked(Buffer.concat([bytes, added]), FORMAT, PATH);
    expect([Buffer.from(read.body).toString(), read.hasDamagedCopy]).toEqual(['what counts', true]);
  }
});

test('a newer version is refused with its number', () => {
  const bytes = encodeChecked(body('x'), { ...FORMAT, version: 3 });
  expect(() => decodeChecked(bytes, FORMAT, PATH)).toThrow('it has format 3');
});

test('a power cut while it is written leaves the old contents or the new', async () => {
  const outcomes = new Set<string>();
  for (let crashAt = 0; crashAt < 12; crashAt++) {
    const disk = new SimulatedDisk();
    await writeCheckedFile(PATH, { format: FORMAT, body: body('old'), disk });
    disk.crashAt = disk.operations + crashAt;
    let isDone = true;
    await writeCheckedFile(PATH, { format: FORMAT, body: body('new'), disk }).catch(() => {
      isDone = false;
    });

    const after = disk.afterCrash(randomNumbers(crashAt + 1));
    const found = Buffer.from(readCheckedFile(PATH, FORMAT, after)!.body).toString();
    expect(isDone ? ['new'] : ['old', 'new']).toContain(found);
    outcomes.add(`${isDone} ${found}`);
  }
  expect(outcomes).toContain('false old');
  expect(outcomes).toContain('true new');
});
