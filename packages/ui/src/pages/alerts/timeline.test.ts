// Changes of levels as bars.
import { expect, test } from 'vitest';
import { timelineOf } from './timeline.ts';

const change = (minute: number, id: string, previous: string, level: string) => ({
  topic: 't',
  id,
  level,
  previous,
  time: `2026-01-01T00:${String(minute).padStart(2, '0')}:00Z`,
  duration: '0s',
});

const span = (from: number, to: number) => ({
  fromMs: Date.UTC(2026, 0, 1, 0, from),
  toMs: Date.UTC(2026, 0, 1, 0, to),
});

const minutes = (ms: number): number => (ms - Date.UTC(2026, 0, 1)) / 60_000;

test('bars lie between changes, begin with the level before and end with the present one', () => {
  const changes = [
    change(30, 'a', 'CRITICAL', 'OK'),
    change(25, 'b', 'OK', 'WARNING'),
    change(10, 'a', 'OK', 'CRITICAL'),
  ];
  const rows = timelineOf(changes, span(0, 40));

  expect(
    rows.map(({ id, changeCount, bars }) => [
      id,
      changeCount,
      bars.map((bar) => [bar.level, minutes(bar.fromMs), minutes(bar.toMs)].join(' ')),
    ]),
  ).toEqual([
    ['a', 2, ['OK 0 10', 'CRITICAL 10 30', 'OK 30 40']],
    ['b', 1, ['OK 0 25', 'WARNING 25 40']],
  ]);
});

test('events changed before the span appear with their levels, those that were always OK do not', () => {
  const changes = [
    change(12, 'well', 'CRITICAL', 'OK'),
    change(11, 'ill', 'OK', 'CRITICAL'),
    change(10, 'well', 'OK', 'CRITICAL'),
  ];
  const rows = timelineOf(changes, span(20, 40));

  expect(rows.map(({ id, bars }) => [id, bars])).toEqual([
    ['ill', [{ level: 'CRITICAL', ...span(20, 40) }]],
  ]);
});
