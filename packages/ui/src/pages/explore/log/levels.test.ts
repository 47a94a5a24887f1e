import { expect, test } from 'vitest';

import { lookOfLevels } from './levels.ts';

test('levels are in the order of their severity, in any spelling', () => {
  const looks = lookOfLevels(['debug', '', 'INFO', 'Error', 'warn', 'fatal', 'TRACE']);

  expect([...looks.keys()]).toEqual(['fatal', 'Error', 'warn', 'INFO', 'debug', 'TRACE', '']);
  expect([...looks.values()].map(({ isSevere }) => isSevere)).toEqual([
    true,
    true,
    true,
    false,
    false,
    false,
    false,
  ]);
  expect(looks.get('Error')?.colour).toBe('level-error');
});

test('values that are no levels have colours of their own, the same for the same values', () => {
  const looks = lookOfLevels(['queued', 'error', 'done']);

  expect([...looks.keys()]).toEqual(['error', 'done', 'queued']);
  expect(looks.get('done')).not.toEqual(looks.get('queued'));
  expect(lookOfLevels(['done', 'queued', 'done'])).toEqual(lookOfLevels(['queued', 'done']));
});
