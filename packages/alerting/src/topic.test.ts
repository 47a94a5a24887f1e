// Topics: levels, order, paging, and storage of texts.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { EventState } from './event.ts';
import { LEVELS, levelRank } from './level.ts';
import { Topic } from './topic.ts';

function state(level: EventState['level'], message = ''): EventState {
  return { message, details: '', time: 1n, durationNanos: 2n, level };
}

describe('topics', () => {
  test('texts that are on disk are read from there, newer ones are not forgotten', () => {
    const onDisk = new Map([['a', { message: 'from disk', details: 'd' }]]);
    const topic = new Topic('t', (_topic, id) => onDisk.get(id));

    const first = topic.set('a', state('WARNING', 'first'));
    expect(topic.event('a')?.message).toBe('first');

    const second = topic.set('a', state('WARNING', 'second'));
    topic.settle(first);
    expect(topic.event('a')?.message).toBe('second');

    topic.settle(second);
    expect(topic.event('a')).toEqual({ ...state('WARNING', 'from disk'), details: 'd' });
  });

  test('an event that was loaded has its times and level without any text in memory', () => {
    const topic = new Topic('t');

    topic.load('a', { level: 'CRITICAL', time: 5n, durationNanos: 7n });

    expect(topic.summary('a')).toEqual({ level: 'CRITICAL', time: 5n, durationNanos: 7n });
    expect(topic.event('a')).toMatchObject({ message: '', details: '' });
    expect(topic.collected).toBe(0);
  });

  test('lists and levels agree with those of a plain map', () => {
    const change = fc.record({
      id: fc.string({ maxLength: 3 }),
      level: fc.constantFrom(...LEVELS),
      isListed: fc.boolean(),
    });
    const page = fc.record({
      minLevel: fc.constantFrom(...LEVELS),
      offset: fc.nat(20),
      limit: fc.nat(20),
      part: fc.string({ maxLength: 1 }),
    });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 60 }), page, (changes, { part, ...filter }) => {
        const topic = new Topic('t');
        const model = new Map<string, EventState>();
        for (const { id, level, isListed } of changes) {
          topic.set(id, state(level, id));
          model.set(id, state(level, id));
          if (isListed) topic.events({ minLevel: 'OK', limit: 1 });
        }
        const matches = (id: string): boolean => id.includes(part);

        const expected = [...model]
          .filter(
            ([id, each]) => levelRank(each.level) >= levelRank(filter.minLevel) && matches(id),
          )
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .slice(filter.offset, filter.offset + filter.limit);
        expect(topic.events({ ...filter, matches })).toEqual(expected);
        const highest = Math.max(0, ...[...model.values()].map(({ level }) => levelRank(level)));
        expect(topic.level).toBe(LEVELS[highest]);
        expect(topic.eventCount).toBe(model.size);
      }),
    );
  });
});
