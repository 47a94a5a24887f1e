// Requests that Node refuses to send are reported as the caller's mistake, not as a bug.
import { expect, test } from 'vitest';
import { httpSender } from './http-sender.ts';

test.each([
  ['a line break in a header', { headers: { Authorization: 'Token a\nb' } }],
  ['a negative time-out', { timeoutMs: -1 }],
  ['a method that is none', { method: 'G T' }],
])('%s', async (_what, more) => {
  const sender = httpSender();
  const request = { method: 'GET', url: 'http://127.0.0.1:1', ...more };
  const answer = sender.send(request, new AbortController().signal);
  await expect(answer).rejects.toMatchObject({ name: 'InvalidRequest' });
  await sender.close();
});
