// The section “Configuration element” of the specification of the task engine's HTTP API, sentence
// by sentence.
import { expect } from 'vitest';
import { call, get, sentences, useEngine } from './harness.ts';

useEngine();

sentences('Configuration element', [
  [
    '`{ link, options: <object>, redacted: [<option name>...] }`.',
    async () => {
      const { json } = await get('config/smtp/');
      expect(json).toEqual({
        link: { rel: 'self', href: '/engine/v1/config/smtp/' },
        options: expect.any(Object),
        redacted: ['password'],
      });
    },
  ],
  [
    'Sensitive options are not returned; a boolean stands in their place (true when a non-empty value is set) and their names are listed in `redacted`.',
    async () => {
      expect((await get('config/smtp/')).json.options.password).toBe(false);
      const changed = await call('POST', 'config/smtp/', { set: { password: 'a-password' } });
      const { json } = await get('config/smtp/');
      expect(json).toMatchObject({ options: { password: true }, redacted: ['password'] });
      expect(JSON.stringify([changed.json, json])).not.toContain('a-password');
      await call('POST', 'config/smtp/', { delete: ['password'] });
    },
  ],
  [
    'Overridable sections: the database-cluster section `tsdb` (list of elements, option names `name`, `urls`, `default`, `username`, `password`, `disable-subscriptions`) and alert handler sections such as `smtp` (non-list; options `enabled`, `host`, `port`, `username`, `password`, `no-verify`, `global`, `to`, `from`, `idle-timeout`).',
    async () => {
      const names = async (path: string): Promise<readonly string[]> =>
        Object.keys((await get(path)).json.options);
      const { sections } = (await get('config')).json;
      expect(Object.keys(sections)).toEqual(expect.arrayContaining(['tsdb', 'smtp']));
      const tsdb = ['name', 'urls', 'default', 'username', 'password', 'disable-subscriptions'];
      expect(await names('config/tsdb/fake')).toEqual(expect.arrayContaining(tsdb));
      const sender = ['username', 'password', 'no-verify', 'global', 'to', 'from', 'idle-timeout'];
      const smtp = ['enabled', 'host', 'port', ...sender];
      expect(await names('config/smtp/')).toEqual(expect.arrayContaining(smtp));
    },
  ],
]);
