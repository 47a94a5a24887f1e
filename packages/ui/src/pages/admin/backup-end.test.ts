import { expect, test } from 'vitest';

import { encodeFailure } from '@tidemark/storage';

import { faultOf } from './backup-end.ts';

/** A frame as docs/formats/backup.md has it; nobody looks at its checksum. */
function frame(...payload: readonly number[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(12 + payload.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, 0x9e4c4157, true);
  view.setUint32(4, payload.length, true);
  bytes.set(payload, 12);
  return bytes;
}

const join = (...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> =>
  new Uint8Array(Buffer.concat(parts));

test('a backup with its end is whole', () => {
  expect(faultOf(join(frame(2, 1, 2, 3), frame(3, 1, 3)))).toBeUndefined();
});

test('one that the server gave up tells why', () => {
  const reason = 'a segment is damaged. file=`7.seg`';
  expect(faultOf(join(frame(2, 1, 2, 3), encodeFailure(reason)))).toBe(reason);
});

test('one that was cut off is not whole', () => {
  expect(faultOf(frame(2, 1, 2, 3))).toBe('');
  expect(faultOf(join(frame(3, 1, 3)).slice(0, -1))).toBe('');
  expect(faultOf(new Uint8Array(0))).toBe('');
});
