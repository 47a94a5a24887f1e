// The section “Configuration” of the specification of the task engine's HTTP API, sentence by
// sentence.
import { makeDirectory, removeDirectory } from '@tidemark/testkit';
import { expect } from 'vitest';
import { call, get, peerUrl, sentences, startOther, useEngine } from './harness.ts';

useEngine();

sentences('Configuration', [
  [
    'GET /engine/v1/config | - | `{link, sections:{<section>:{link, elements:[element...]}}}`',
    async () => {
      const { json } = await get('config');
      expect(json.link.href).toBe('/engine/v1/config');
      expect(json.sections).toMatchObject({ smtp: { elements: [{}] }, tsdb: { elements: [{}] } });
    },
  ],
  [
    'GET /engine/v1/config/<section> | - | `{link, elements:[element...]}`',
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
    'GET /engine/v1/config/<section>/<element> | - | element',
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
    [
      'POST on any of the section or element paths | JSON with any of the top-level keys `set` (object of option -> value), `delete` (array of option names), `add` (object describing a new list element), `remove` (array of element names) | 200',
      '`add` and `remove` apply to list sections on the section path; `set` and `delete` can be sent to an element path.',
    ],
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
  [
    'Path: `/engine/v1/config` (all overridable sections), `/engine/v1/config/<section>` , `/engine/v1/config/<section>/<element>`.',
    async () => {
      for (const path of ['config', 'config/smtp', 'config/tsdb/fake']) {
        expect([path, (await get(path)).status]).toEqual([path, 200]);
      }
    },
  ],
  [
    'A non-list section is addressed with an empty element name (trailing slash).',
    async () => {
      expect((await get('config/smtp/')).json).toHaveProperty('options');
      expect((await get('config/smtp')).json).toHaveProperty('elements');
      expect((await get('config/smtp/smtp')).status).toBe(404);
    },
  ],
  [
    [
      'The returned configuration is the merge of the configuration file and the stored overrides.',
      'Options not named in a request stay unchanged.',
    ],
    async () => {
      const before = (await get('config/smtp/')).json.options;
      await call('POST', 'config/smtp/', { set: { from: 'a@b' } });
      expect((await get('config/smtp/')).json.options).toEqual({ ...before, from: 'a@b' });
      await call('POST', 'config/smtp/', { delete: ['from'] });
      expect((await get('config/smtp/')).json.options).toEqual(before);
    },
  ],
  [
    'Only overrides can be removed; elements that exist in the configuration file cannot.',
    async () => {
      const { status, json } = await call('POST', 'config/tsdb', { remove: ['fake'] });
      expect({ status, json }).toMatchObject({ status: 400, json: { error: expect.any(String) } });
      expect((await get('config/tsdb/fake')).status).toBe(200);
    },
  ],
  [
    'Actions may be combined in one request.',
    async () => {
      const add = { name: 'first', urls: [peerUrl()], 'disable-subscriptions': true };
      await call('POST', 'config/tsdb', { add });
      const both = { add: { ...add, name: 'second' }, remove: ['first'] };
      expect((await call('POST', 'config/tsdb', both)).status).toBe(200);
      expect((await get('config/tsdb/first')).status).toBe(404);
      expect((await get('config/tsdb/second')).status).toBe(200);
      await call('POST', 'config/tsdb', { remove: ['second'] });
    },
  ],
  [
    'The overrides feature can be turned off by a `config-override` configuration section with `enabled = false`; a startup option `skip-config-overrides` (also settable by an environment variable) starts the service without applying stored overrides.',
    async () => {
      const directory = await makeDirectory();
      const hostWith = async (settings: object, change?: string): Promise<unknown> => {
        const other = await startOther(directory, { ...settings });
        try {
          const url = `${other.url}/engine/v1/config/smtp/`;
          if (change !== undefined) {
            const body = JSON.stringify({ set: { host: change } });
            expect((await fetch(url, { method: 'POST', body })).status).toBe(200);
          }
          const answer = await fetch(url);
          const { options } = (await answer.json()) as { options?: { host: string } };
          return options?.host ?? answer.status;
        } finally {
          await other.close();
        }
      };
      try {
        expect(await hostWith({}, 'mail.example')).toBe('mail.example');
        expect(await hostWith({ 'skip-config-overrides': true })).toBe('localhost');
        expect(await hostWith({ 'config-override': { enabled: false } })).toBe(403);
        expect(await hostWith({})).toBe('mail.example');
      } finally {
        await removeDirectory(directory);
      }
    },
  ],
]);
