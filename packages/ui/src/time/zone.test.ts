import { expect, test } from 'vitest';

import { formatInstant, formatTime } from './zone.ts';

test('times are shown in a zone, with all digits', () => {
  expect(formatTime('2024-07-01T10:00:00.123456789Z', 'Europe/Berlin')).toBe(
    '2024-07-01 12:00:00.123456789',
  );
  expect(formatTime('2024-01-01T10:00:00Z', 'UTC')).toBe('2024-01-01 10:00:00');
  expect(formatTime('kitchen', 'UTC')).toBe('kitchen');
  expect(formatInstant(0, 'UTC')).toBe('1970-01-01 00:00:00');
});
