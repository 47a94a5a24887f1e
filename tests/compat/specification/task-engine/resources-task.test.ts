// The section “Task” of the specification of the task engine's HTTP API, sentence by sentence.
import { describe, expect, test } from 'vitest';
import {
  BATCH,
  DBRPS,
  STREAM,
  TIME,
  call,
  define,
  get,
  newId,
  sentences,
  template,
  useEngine,
} from './harness.ts';

useEngine();

sentences('Task', [
  [
    'id: unique',
    async () => {
      const { id } = await define();
      expect((await call('POST', 'tasks', { id, script: STREAM, dbrps: DBRPS })).status).toBe(400);
    },
  ],
  [
    'id: random when empty',
    async () => expect((await define({ id: '' })).id).toMatch(/^[0-9a-f-]{36}$/),
  ],
  [
    'template-id',
    async () => {
      const { id } = await template();
      const task = await define({ script: undefined, 'template-id': id });
      expect(task).toMatchObject({ 'template-id': id, type: 'stream' });
    },
  ],
  [
    'type',
    async () => {
      expect((await define()).type).toBe('stream');
      expect((await define({ script: BATCH })).type).toBe('batch');
    },
  ],
  [
    'dbrps: setting it on PATCH overwrites the whole list',
    async () => {
      const { id, dbrps } = await define({ dbrps: [...DBRPS, { db: 'e', rp: 'r' }] });
      expect(dbrps).toHaveLength(2);
      const other = [{ db: 'f', rp: 's' }];
      expect((await call('PATCH', `tasks/${id}`, { dbrps: other })).json.dbrps).toEqual(other);
    },
  ],
  ['script', async () => expect((await define()).script).toContain("|httpOut('out')")],
  [
    'status',
    async () => {
      expect((await define()).status).toBe('disabled');
      expect((await define({ status: 'enabled' })).status).toBe('enabled');
    },
  ],
  [
    'vars: setting on PATCH overwrites all stored vars',
    async () => {
      const { id } = await define({
        vars: { a: { type: 'int', value: 1 }, b: { type: 'int', value: 2 } },
      });
      const { json } = await call('PATCH', `tasks/${id}`, {
        vars: { c: { type: 'int', value: 3 } },
      });
      expect(json.vars).toEqual({ c: { type: 'int', value: 3, description: '' } });
    },
  ],
  [
    'link',
    async () => {
      const { id, link } = await define();
      expect(link).toEqual({ rel: 'self', href: `/engine/v1/tasks/${id}` });
    },
  ],
  ['dot', async () => expect((await define()).dot).toMatch(/^digraph .*from1 -> http_out2/s)],
  [
    'executing',
    async () => {
      expect((await define()).executing).toBe(false);
      expect((await define({ status: 'enabled' })).executing).toBe(true);
    },
  ],
  [
    'error: empty when none',
    async () => {
      expect((await define()).error).toBe('');
      const id = newId();
      const body = { id, script: BATCH, dbrps: [{ db: 'x', rp: 'y' }], status: 'enabled' };
      const { status, json } = await call('POST', 'tasks', body);
      expect({ status, json }).toMatchObject({
        status: 400,
        json: { error: expect.stringMatching(/not allowed/) },
      });
      expect((await get(`tasks/${id}`)).status).toBe(404);
    },
  ],
  [
    'stats',
    async () => {
      expect((await define()).stats).toEqual({});
      const { stats } = await define({ status: 'enabled' });
      expect(Object.keys(stats)).toEqual(['task-stats', 'node-stats']);
    },
  ],
  [
    'created: first creation time',
    async () => {
      const { id, created } = await define();
      expect(created).toMatch(TIME);
      expect((await call('PATCH', `tasks/${id}`, { status: 'enabled' })).json.created).toBe(
        created,
      );
    },
  ],
  [
    'modified: last modification time',
    async () => {
      const { id, created, modified } = await define();
      expect(modified).toBe(created);
      expect((await call('PATCH', `tasks/${id}`, {})).json.modified > modified).toBe(true);
    },
  ],
  [
    'last-enabled: last time status was set to enabled',
    async () => {
      const { id, 'last-enabled': never } = await define();
      expect(never).toBe('0001-01-01T00:00:00Z');
      const first = (await call('PATCH', `tasks/${id}`, { status: 'enabled' })).json[
        'last-enabled'
      ];
      expect(first).toMatch(TIME);
      expect(
        (await call('PATCH', `tasks/${id}`, { status: 'disabled' })).json['last-enabled'],
      ).toBe(first);
    },
  ],
]);

const goodVars: readonly (readonly [string, unknown, unknown])[] = [
  ['bool', true, true],
  ['int', -7, -7],
  ['float', 1.5, 1.5],
  ['duration', '10s', 10_000_000_000],
  ['duration', 5, 5],
  ['string', 'any', 'any'],
  ['regex', '^a+$', '^a+$'],
  ['lambda', '"a" > 1', '"a" > 1'],
  ['star', '', ''],
  [
    'list',
    [
      { type: 'string', value: 'a' },
      { type: 'star', value: '' },
    ],
    expect.any(Array),
  ],
];
const badVars: readonly (readonly [string, unknown])[] = [
  ['bool', 'true'],
  ['int', 1.5],
  ['float', 'one'],
  ['duration', 'ten'],
  ['string', 1],
  ['regex', '('],
  ['lambda', '"a" >'],
  ['list', [{ type: 'int', value: 1 }]],
];

describe('Var types', () => {
  test.each(goodVars)('%s accepts %j', async (type, value, shown) => {
    const { vars } = await define({ vars: { x: { type, value } } });
    expect(vars.x).toMatchObject({ type, value: shown });
  });
  test.each(badVars)('%s does not accept %j', async (type, value) => {
    const body = { id: newId(), script: STREAM, dbrps: DBRPS, vars: { x: { type, value } } };
    expect((await call('POST', 'tasks', body)).status).toBe(400);
  });
});
