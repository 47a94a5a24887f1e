// Topics: levels, order, paging, and storage of texts.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { EventState } from './event.ts';
import { LEVELS, levelRank } from './level.ts';
import { Topic } from './topic.ts';

function state(level: EventState['level'], message = '', time = 1n): EventState {
  return { message, details: '', time, durationNanos: 2n, level };
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
      time: fc.bigInt(-5n, 5n),
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
        for (const { id, level, isListed, time } of changes) {
          topic.set(id, state(level, id, time));
          model.set(id, state(level, id, time));
          if (isListed) topic.events({ minLevel: 'OK', limit: 1 });
        }
        const matches = (id: string): boolean => id.includes(part);

        const chosen = [...model].filter(
          ([id, each]) => levelRank(each.level) >= levelRank(filter.minLevel) && matches(id),
        );
        const end = filter.offset + filter.limit;
        const severe = chosen.toSorted(
          ([, a], [, b]) =>
            levelRank(b.level) - levelRank(a.level) || Number(b.time) - Number(a.time),
        );
        const levels = LEVELS.map(
          (level) => [level, chosen.filter(([, each]) => each.level === level).length] as const,
        );
        expect(topic.mostSevere({ ...filter, matches })).toEqual({
          total: chosen.length,
          levels: new Map(levels),
          events: severe.slice(filter.offset, end),
        });
        const expected = chosen.sort(([a], [b]) => (a < b ? -1 : 1)).slice(filter.offset, end);
        expect(topic.events({ ...filter, matches })).toEqual(expected);
        const highest = Math.max(0, ...[...model.values()].map(({ level }) => levelRank(level)));
        expect(topic.level).toBe(LEVELS[highest]);
        expect(topic.eventCount).toBe(model.size);
      }),
    );
  });
});
