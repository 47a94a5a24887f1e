import { expect, test } from 'vitest';

import { insertion } from './insertion.ts';

const DETAILS = {
  fields: [
    { name: 'celsius', type: 'float' },
    { name: 'doors', type: 'integer' },
    { name: 'state', type: 'string' },
  ],
  tags: [
    { name: 'name', valueCount: 3 },
    { name: 'site', valueCount: 1 },
    { name: 'device', valueCount: 5000 },
  ],
};
const room = { policy: '', measurement: 'room' } as const;
const MEANS =
  'SELECT mean(celsius), mean(doors) FROM room WHERE $timeFilter GROUP BY time($interval), "name"';

test('the first click answers: means of the numbers by interval and by what tells series apart', () => {
  expect(insertion('', { ...room, kind: 'measurement' }, DETAILS)).toBe(MEANS);
  expect(insertion('SHOW DATABASES', { ...room, kind: 'field', name: 'doors' }, DETAILS)).toBe(
    'SELECT mean(doors) FROM room WHERE $timeFilter GROUP BY time($interval), "name"',
  );
  const texts = { fields: [{ name: 'text', type: 'string' }], tags: [] };
  expect(insertion('', { ...room, kind: 'measurement' }, texts)).toBe(
    'SELECT text FROM room WHERE $timeFilter',
  );
});

test('further clicks add names, and take them away again', () => {
  const click = (text: string, chosen: object): string =>
    insertion(text, { ...room, ...chosen } as Parameters<typeof insertion>[1], DETAILS);
  const one = click(MEANS, { kind: 'field', name: 'doors' });
  expect(one).toContain('SELECT mean(celsius) FROM');
  // The last field stays.
  expect(click(one, { kind: 'field', name: 'celsius' })).toBe(one);
  expect(click(one, { kind: 'field', name: 'state' })).toContain('mean(celsius), last(state)');
  const filtered = click(one, { kind: 'value', name: 'name', value: 'attic' });
  expect(filtered).toContain(`"name" = 'attic'`);
  expect(click(filtered, { kind: 'value', name: 'name', value: 'attic' })).toBe(one);
  const whole = click(one, { kind: 'tag', name: 'name' });
  expect(whole).toMatch(/GROUP BY time\(\$interval\)$/);
  expect(click(whole, { kind: 'tag', name: 'name' })).toBe(one);
});
