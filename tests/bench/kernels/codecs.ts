// Codecs: bytes per value, and rates of encoding and decoding blocks of 8,192 values (copies in and
// out included). packages/cli/bin/node --conditions=source tests/bench/kernels/codecs.ts
import { textsOf } from '@tidemark/core';
import { Codecs } from '@tidemark/kernels';
import { seededRandom } from '@tidemark/testkit';
import { measure, normalFrom } from './measure.ts';

const COUNT = 8192;
const codecs = new Codecs();
const random = seededRandom(3);
const unit = 'values';

const walk = new BigInt64Array(COUNT);
const counter = new BigInt64Array(COUNT);
for (let i = 0, x = 50, y = 0; i < COUNT; i++) {
  walk[i] = BigInt(Math.floor(x));
  counter[i] = BigInt(Math.floor(y));
  x = Math.min(100, Math.max(0, x + normalFrom(random)));
  y += Math.max(0, 50 + normalFrom(random));
}
const steady = BigInt64Array.from({ length: COUNT }, (_, i) => 10_000_000_000n * BigInt(i));
const jitter = steady.map((time) => time + BigInt(Math.floor(random() * 1e9)));
const decimals = Float64Array.from({ length: COUNT }, () => Math.round(random() * 10_000) / 100);
const full = Float64Array.from({ length: COUNT }, () => random() * 1000);
const flags = Uint8Array.from({ length: COUNT }, () => (random() < 0.97 ? 1 : 0));
const levels = {
  codes: Uint32Array.from({ length: COUNT }, () => (random() < 0.9 ? 0 : Math.floor(random() * 4))),
  texts: textsOf(['info', 'warn', 'error', 'debug']),
};
const rows = Uint32Array.from({ length: COUNT }, (_, i) => i);
const closed = Array.from(
  { length: COUNT },
  () => `connection to "db" closed after ${Math.floor(random() * 500)} ms`,
);
const messages = { codes: rows, texts: textsOf(closed) };

const distinct = {
  codes: rows,
  texts: textsOf(closed.map((text, i) => `id=${(i * 2_654_435_761).toString(16)} ${text}`)),
};

function report(
  name: string,
  encode: () => Uint8Array,
  decode: (block: Uint8Array) => unknown,
): void {
  const block = encode();
  console.log(`${name}: ${(block.length / COUNT).toFixed(3)} bytes/value`);
  measure('  encode', { count: COUNT, unit, roundMs: 150 }, encode);
  measure('  decode', { count: COUNT, unit, roundMs: 150 }, () => decode(block));
}

const integers = (block: Uint8Array): unknown => codecs.decodeIntegers(block);
const floats = (block: Uint8Array): unknown => codecs.decodeFloats(block);
report('integers, walk, fast', () => codecs.encodeIntegers(walk), integers);
report('integers, walk, small', () => codecs.encodeIntegers(walk, 'small'), integers);
report('integers, counter, fast', () => codecs.encodeIntegers(counter), integers);
report('times, steady', () => codecs.encodeTimes(steady), integers);
report('times, jitter of a second', () => codecs.encodeTimes(jitter), integers);
report('floats, two decimals', () => codecs.encodeFloats(decimals), floats);
report('floats, all digits', () => codecs.encodeFloats(full), floats);
report(
  'booleans',
  () => codecs.encodeBooleans(flags),
  (block) => codecs.decodeBooleans(block),
);
report(
  'strings, four levels',
  () => codecs.texts.encode(levels),
  (block) => codecs.texts.decode(block),
);
report(
  'strings, messages',
  () => codecs.texts.encode(messages),
  (block) => codecs.texts.decode(block),
);

report(
  'strings, all distinct',
  () => codecs.texts.encode(distinct),
  (block) => codecs.texts.decode(block),
);

const large = new Uint8Array(1 << 20);
measure('crc32c', { count: large.length, unit: 'bytes' }, () => codecs.crc32c(large));
