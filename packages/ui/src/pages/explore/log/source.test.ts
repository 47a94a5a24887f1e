import { expect, test } from 'vitest';

import { likeliest, NO_LEVEL, sourceOf, usualColumns } from './source.ts';

const DETAILS = {
  fields: [
    { name: 'code', type: 'integer' },
    { name: 'level', type: 'string' },
    { name: 'msg', type: 'string' },
    { name: 'note', type: 'string' },
  ],
  tags: [
    { name: 'dc', valueCount: 1 },
    { name: 'host', valueCount: 10 },
    { name: 'severity', valueCount: 4 },
  ],
};
const NAME = { policy: '', measurement: 'events' };

test('columns with usual names are the text and the level', () => {
  expect(sourceOf(NAME, DETAILS, {})).toMatchObject({ text: 'msg', level: 'level' });
});

test('columns that are wanted come first, if there are such', () => {
  const wanted = { text: 'note', level: 'severity' };

  expect(sourceOf(NAME, DETAILS, wanted)).toMatchObject(wanted);
  expect(sourceOf(NAME, DETAILS, { text: 'code', level: 'none' })).toMatchObject({
    text: 'msg',
    level: 'level',
  });
  expect(sourceOf(NAME, DETAILS, { level: NO_LEVEL })?.level).toBeUndefined();
});

test('any text will do, but one column is not both', () => {
  const fields = [{ name: 'level', type: 'string' }];

  expect(sourceOf(NAME, { fields, tags: [] }, {})).toMatchObject({
    text: 'level',
    level: undefined,
  });
  expect(sourceOf(NAME, { fields: [{ name: 'a', type: 'float' }], tags: [] }, {})).toBeUndefined();
});

test('tags that distinguish events are columns', () => {
  const source = sourceOf(NAME, DETAILS, { level: 'severity' });

  expect(source && usualColumns(source, DETAILS)).toEqual(['host']);
});

test('a measurement that is called a log, or has a message, is preferred', () => {
  const measurements = [
    { name: 'blogs', texts: ['title'] },
    { name: 'jobs', texts: ['message'] },
    { name: 'nginx_log', texts: ['uri'] },
  ];

  expect(likeliest(measurements)).toBe('nginx_log');
  expect(likeliest(measurements.slice(0, 2))).toBe('jobs');
  expect(likeliest([])).toBeUndefined();
});
