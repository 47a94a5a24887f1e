// Small values: levels, hashes, definitions of handlers.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeEvent, encodeEvent } from './event.ts';
import type { TopicEvent } from './event.ts';
import { readHandlerSpec } from './handler-spec.ts';
import { fnv1a, murmur2, murmur3 } from './hash.ts';
import { parseLevel } from './level.ts';
import { findHandlerKind, HANDLER_KINDS } from './registry.ts';
import { HANDLERS } from '@tidemark/pipeline';

describe('events in the outbox', () => {
  const text = fc.string({ unit: 'grapheme' });
  const value = fc.oneof(
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    fc.double().map((number) => number + 0),
    fc.boolean(),
    text,
    fc.constant(null),
  );
  const tags = fc.dictionary(text, text, { noNullPrototype: true });
  const level = fc.constantFrom('OK', 'INFO', 'WARNING', 'CRITICAL');
  const nanos = fc.bigInt({ min: 0n, max: 2n ** 63n - 1n });
  const event = fc.record({
    id: text,
    message: text,
    details: text,
    topic: text,
    time: nanos,
    durationNanos: nanos,
    level,
    previousLevel: level,
    isRecoverable: fc.boolean(),
    hops: fc.nat(16),
    data: fc.array(
      fc.record({ name: text, tags, columns: fc.array(text), values: fc.array(fc.array(value)) }),
      { maxLength: 2 },
    ),
    context: fc.record({
      name: text,
      taskName: text,
      group: text,
      category: text,
      tags,
      fields: fc.dictionary(text, value, { noNullPrototype: true }),
    }),
  });

  test('are read as they were written', () => {
    fc.assert(
      fc.property(event, (given) => {
        const written = encodeEvent(given as TopicEvent);

        expect(decodeEvent(written)).toEqual(given);
      }),
    );
  });
});

describe('levels', () => {
  test.each([
    ['', 'OK'],
    ['warning', 'WARNING'],
    ['CRIT', 'CRITICAL'],
    ['I', 'INFO'],
    ['LOUD', undefined],
  ])('%j means %s', (text, level) => {
    expect(parseLevel(text)).toBe(level);
  });
});

describe('hashes', () => {
  test.each([
    ['21', -973932308],
    ['foobar', -790332482],
    ['a-little-bit-long-string', -985981536],
    ['a-little-bit-longer-string', -1486304829],
  ])('murmur2 of %s is that of the clients of Kafka', (text, expected) => {
    expect(murmur2(Buffer.from(text))).toBe(expected & 0x7fffffff);
  });

  test('murmur3 and fnv-1a agree with their published vectors', () => {
    expect(murmur3(Buffer.from(''))).toBe(0);
    expect(murmur3(Buffer.from('hello'))).toBe(0x248bfa47);
    expect(murmur3(Buffer.from('hello, world'))).toBe(0x149bbb7f);
    expect(fnv1a(Buffer.from(''))).toBe(0x811c9dc5);
    expect(fnv1a(Buffer.from('foobar'))).toBe(0xbf9cf968);
  });
});

describe('definitions of handlers', () => {
  test('the form with one kind is a chain of one action', () => {
    const spec = readHandlerSpec({ id: 'h', kind: 'log', options: { path: '/x' } });

    expect(spec.actions).toEqual([{ kind: 'log', options: { path: '/x' } }]);
  });

  test.each([
    [{}, 'handler ID must contain only'],
    [{ id: 'a b', kind: 'log' }, 'handler ID must contain only'],
    [{ id: 'h', options: {} }, 'handler Kind must not be empty'],
    [{ id: 'h' }, 'must provide at least one action'],
    [{ id: 'h', actions: [] }, 'must provide at least one action'],
    [{ id: 'h', actions: [{ options: {} }] }, 'handler Kind must not be empty'],
    [[], 'must be an object'],
  ])('%j is refused', (value, text) => {
    expect(() => readHandlerSpec(value)).toThrow(text);
  });
});

describe('the registry', () => {
  test('kinds and sections are named once', () => {
    for (const names of [
      HANDLER_KINDS.map(({ kind }) => kind),
      HANDLER_KINDS.flatMap(({ section }) => section?.name ?? []),
    ]) {
      expect(new Set(names).size).toBe(names.length);
    }
  });

  test.each(HANDLERS.map((row) => [row.name, row.kind] as const))(
    'the handler %s of scripts has the kind %s',
    (_name, kind) => {
      expect(findHandlerKind(kind)).toBeDefined();
    },
  );
});
