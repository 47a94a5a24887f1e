import { expect, test } from 'vitest';

import { bindUrl, isLoopback, listenError, parseBind } from './bind-address.ts';

test.each([
  ['127.0.0.1:8086', { host: '127.0.0.1', port: 8086 }, true, 'http://127.0.0.1:8086'],
  ['127.8.9.1:1', { host: '127.8.9.1', port: 1 }, true, 'http://127.8.9.1:1'],
  [' :8086', { host: '', port: 8086 }, false, 'http://127.0.0.1:8086'],
  ['0.0.0.0:1', { host: '0.0.0.0', port: 1 }, false, 'http://127.0.0.1:1'],
  ['[::1]:0', { host: '::1', port: 0 }, true, 'http://[::1]:0'],
  ['localhost:1', { host: 'localhost', port: 1 }, true, 'http://localhost:1'],
  ['example.org:80', { host: 'example.org', port: 80 }, false, 'http://example.org:80'],
  ['127.example.org:80', { host: '127.example.org', port: 80 }, false, 'http://127.example.org:80'],
])('%s', (text, bind, loopback, url) => {
  expect(parseBind(text, 's')).toEqual({ ...bind, setting: 's' });
  expect(isLoopback(bind.host)).toBe(loopback);
  expect(bindUrl('http', bind)).toBe(url);
});

test.each(['8086', 'a:b', ':70000', '::1:80', ''])('%j is no address', (text) => {
  expect(() => parseBind(text, 'http.bind-address')).toThrow(
    /^http.bind-address must be HOST:PORT/,
  );
});

test.each([
  ['EADDRINUSE', { host: 'h', port: 1 }, 'h:1 is already in use'],
  ['EADDRINUSE', { host: 'h', port: 1, setting: 'a.b' }, 'or choose another with a.b'],
  ['EACCES', { host: '', port: 80 }, 'not allowed to listen on all addresses:80'],
  ['EADDRNOTAVAIL', { path: '/run/s' }, '/run/s is not an address of this machine'],
  ['ENOTDIR', { path: '/run/s' }, 'as it was'],
])('%s is explained', (code, place, text) => {
  const cause = Object.assign(new Error('as it was'), { code });

  expect(listenError(cause, place).message).toContain(text);
});
