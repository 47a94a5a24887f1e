import { afterAll, beforeAll, expect, test } from 'vitest';

import { startTestService } from '../testing.ts';
import type { TestService } from '../testing.ts';
import { precisionDoubt } from './precision-doubt.ts';

test.each([
  ['m f=1 1700000000', '1700000000', 's'],
  ['m f=1 1700000000000\nm f=1', '1700000000000', 'ms'],
  ['m f=1 1700000000000000 \r\n', '1700000000000000', 'u'],
])('%j: %s is no nanosecond but %s', (lines, time, precision) => {
  expect(precisionDoubt(Buffer.from(lines))).toEqual({ time, precision });
});

test.each(['m f=1 1700000000000000000', 'm f=1', 'm f=1700000000', 'm f=1 1', '', '1700000000'])(
  '%j is as it should be',
  (lines) => {
    expect(precisionDoubt(Buffer.from(lines))).toBeUndefined();
  },
);

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
  await service.query('CREATE DATABASE d');
});
afterAll(() => service.close());

test('seconds that were written as nanoseconds are stored, and told to sender and log', async () => {
  const answers = [
    await service.write('m f=1 1700000000', { db: 'd' }),
    await service.write('m f=1 1700000001', { db: 'd' }),
    await service.write('m f=1 1700000000', { db: 'd', precision: 's' }),
  ];

  expect(answers.map(({ status }) => status)).toEqual([204, 204, 204]);
  expect(answers.map(({ headers }) => headers.get('x-tsdb-diagnostics'))).toEqual([
    '[{"code":"WRITE_PRECISION","hint":"1700000000 is taken as nanoseconds since 1970; is precision=s missing?"}]',
    expect.stringContaining('1700000001') as string,
    null,
  ]);
  const warnings = service.logged.filter((line) => line.includes('lie in 1970'));
  expect(warnings).toHaveLength(1);
});
