// The section “Configuration” of the specification of the task engine's HTTP API, sentence by
// sentence.
import { expect } from 'vitest';
import { call, get, peerUrl, sentences, useEngine } from './harness.ts';

useEngine();

sentences('Configuration', [
  [
    'GET config',
    async () => {
      const { json } = await get('config');
      expect(json.link.href).toBe('/engine/v1/config');
      expect(json.sections).toMatchObject({ smtp: { elements: [{}] }, tsdb: { elements: [{}] } });
    },
  ],
  [
    'GET config/<section>',
    async () => {
      const { json } = await get('config/tsdb');
      const [cluster] = json.elements;
      expect(Object.keys(cluster.options)).toEqual(
        expect.arrayContaining([
          'name',
          'urls',
          'default',
          'username',
          'password',
          'disable-subscriptions',
        ]),
      );
    },
  ],
  [
    'GET config/<section>/<element>',
    async () => {
      const { json } = await get('config/smtp/');
      expect(json).toMatchObject({
        link: { href: '/engine/v1/config/smtp/' },
        redacted: ['password'],
      });
      expect(Object.keys(json.options)).toEqual(
        expect.arrayContaining([
          'enabled',
          'host',
          'port',
          'username',
          'password',
          'no-verify',
          'global',
          'to',
          'from',
          'idle-timeout',
        ]),
      );
    },
  ],
  [
    'POST: set, delete, add, remove',
    async () => {
      const set = { host: 'mail', password: 'secret' };
      expect((await call('POST', 'config/smtp/', { set })).status).toBe(200);
      expect((await get('config/smtp/')).json.options).toMatchObject({
        host: 'mail',
        password: true,
        port: 25,
      });
      expect(
        (await call('POST', 'config/smtp/', { set: { port: 26 }, delete: ['host', 'password'] }))
          .status,
      ).toBe(200);
      expect((await get('config/smtp/')).json.options).toMatchObject({
        host: 'localhost',
        password: false,
        port: 26,
      });
      const add = { name: 'other', urls: [peerUrl()], 'disable-subscriptions': true };
      expect((await call('POST', 'config/tsdb', { add })).status).toBe(200);
      expect((await get('config/tsdb/other')).json.options.urls).toEqual([peerUrl()]);
      expect((await call('POST', 'config/tsdb', { remove: ['other'] })).status).toBe(200);
      expect((await get('config/tsdb/other')).status).toBe(404);
    },
  ],
]);
