import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { expect, test } from 'vitest';

import { ImportJobs, parseImportRequest } from './ui-import.ts';

const request = (url: string) =>
  parseImportRequest(JSON.stringify({ kind: 'influxdb', url, databases: ['d'] }));
const target = {
  tsdbUrl: 'http://127.0.0.1:1',
  engineUrl: undefined,
  authorization: undefined,
  pageKey: 'key',
  clientAddress: '127.0.0.1',
};

test('reads what is wanted, and takes credentials out of the address', () => {
  const text = JSON.stringify({ kind: 'kapacitor', url: 'http://a:b%40@host:9092/x' });
  expect(parseImportRequest(text)).toMatchObject({
    kind: 'kapacitor',
    url: 'http://host:9092',
    username: 'a',
    password: 'b@',
    databases: [],
  });
  for (const wrong of [
    '',
    '[1',
    '{"kind":"x"}',
    '{"kind":"influxdb","url":"file:///etc/passwd"}',
  ]) {
    expect(() => parseImportRequest(wrong)).toThrow(/must be/);
  }
});

test('one import at a time, which can be ended and forgotten', async () => {
  let isAsked: () => void = () => undefined;
  const asked = new Promise<void>((resolve) => (isAsked = resolve));
  // It never answers.
  const source = createServer(() => isAsked());
  await new Promise<void>((resolve) => source.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(source.address() as AddressInfo).port}`;
  const jobs = new ImportJobs();
  jobs.start(request(url), target);
  expect(() => jobs.start(request(url), target)).toThrow('another import is running');
  await asked;
  await jobs.remove();
  expect(jobs.view()?.state).toBe('cancelled');
  await jobs.remove();
  expect(jobs.view()).toBeUndefined();
  source.close();
  source.closeAllConnections();
});

test('a source that does not answer is said', async () => {
  const jobs = new ImportJobs();
  jobs.start(request('http://127.0.0.1:1'), target);
  await expect.poll(() => jobs.view()?.state).toBe('failed');
  expect(jobs.view()?.error).toContain('http://127.0.0.1:1 does not answer');
  await jobs.close();
});
