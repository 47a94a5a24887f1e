// The section “Task” of the specification of the task engine's HTTP API, sentence by sentence.
import { expect } from 'vitest';
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

/** Whether a var takes values, as they are shown then, and refuses others. */
async function takes(
  type: string,
  good: readonly (readonly [value: unknown, shown: unknown])[],
  bad: readonly unknown[],
): Promise<void> {
  for (const [value, shown] of good) {
    const { vars } = await define({ vars: { x: { type, value } } });
    expect([value, vars.x]).toMatchObject([value, { type, value: shown }]);
  }
  for (const value of bad) {
    const body = { id: newId(), script: STREAM, dbrps: DBRPS, vars: { x: { type, value } } };
    expect([value, (await call('POST', 'tasks', body)).status]).toEqual([value, 400]);
  }
}

sentences('Task', [
  [
    'id | string | client-settable | unique; random when empty',
    async () => {
      const { id } = await define();
      expect((await call('POST', 'tasks', { id, script: STREAM, dbrps: DBRPS })).status).toBe(400);
    },
  ],
  [
    'id | string | client-settable | unique; random when empty',
    async () => expect((await define({ id: '' })).id).toMatch(/^[0-9a-f-]{36}$/),
  ],
  [
    'template-id | string | client-settable | optional; use a template instead of giving script and type',
    async () => {
      const { id } = await template();
      const task = await define({ script: undefined, 'template-id': id });
      expect(task).toMatchObject({ 'template-id': id, type: 'stream' });
    },
  ],
  [
    'type | `stream` or `batch` | client-settable |',
    async () => {
      expect((await define()).type).toBe('stream');
      expect((await define({ script: BATCH })).type).toBe('batch');
    },
  ],
  [
    'dbrps | array of `{db: <string>, rp: <string>}` | client-settable | pairs the task may access; setting it on PATCH overwrites the whole stored list',
    async () => {
      const { id, dbrps } = await define({ dbrps: [...DBRPS, { db: 'e', rp: 'r' }] });
      expect(dbrps).toHaveLength(2);
      const other = [{ db: 'f', rp: 's' }];
      expect((await call('PATCH', `tasks/${id}`, { dbrps: other })).json.dbrps).toEqual(other);
    },
  ],
  [
    'script | string | client-settable | script content',
    async () => expect((await define()).script).toContain("|httpOut('out')"),
  ],
  [
    'status | `enabled` or `disabled` | client-settable |',
    async () => {
      expect((await define()).status).toBe('disabled');
      expect((await define({ status: 'enabled' })).status).toBe('enabled');
    },
  ],
  [
    'vars | object: `<name>` -> `{value: <VALUE>, type: <TYPE>}` | client-settable | overrides variables defined in the script; setting on PATCH overwrites all stored vars',
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
    'link | link object | read-only |',
    async () => {
      const { id, link } = await define();
      expect(link).toEqual({ rel: 'self', href: `/engine/v1/tasks/${id}` });
    },
  ],
  [
    'dot | string | read-only | GraphViz DOT representation of the task graph',
    async () => expect((await define()).dot).toMatch(/^digraph .*from1 -> http_out2/s),
  ],
  [
    'executing | boolean | read-only | whether the task is currently executing',
    async () => {
      expect((await define()).executing).toBe(false);
      expect((await define({ status: 'enabled' })).executing).toBe(true);
    },
  ],
  [
    'error | string | read-only | any error encountered while executing; empty when none',
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
    'stats | object | read-only | map of statistics',
    async () => {
      expect((await define()).stats).toEqual({});
      const { stats } = await define({ status: 'enabled' });
      expect(Object.keys(stats)).toEqual(['task-stats', 'node-stats']);
    },
  ],
  [
    'created | timestamp string | read-only | first creation time',
    async () => {
      const { id, created } = await define();
      expect(created).toMatch(TIME);
      expect((await call('PATCH', `tasks/${id}`, { status: 'enabled' })).json.created).toBe(
        created,
      );
    },
  ],
  [
    'modified | timestamp string | read-only | last modification time',
    async () => {
      const { id, created, modified } = await define();
      expect(modified).toBe(created);
      expect((await call('PATCH', `tasks/${id}`, {})).json.modified > modified).toBe(true);
    },
  ],
  [
    'last-enabled | timestamp string | read-only | last time status was set to enabled',
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
  [
    'bool | true or false',
    () =>
      takes(
        'bool',
        [
          [true, true],
          [false, false],
        ],
        ['true', 1],
      ),
  ],
  [
    'int | any integer',
    () =>
      takes(
        'int',
        [
          [-7, -7],
          [0, 0],
        ],
        [1.5, '1'],
      ),
  ],
  [
    'float | any number',
    () =>
      takes(
        'float',
        [
          [1.5, 1.5],
          [2, 2],
        ],
        ['one'],
      ),
  ],
  [
    'duration | integer (nanoseconds) or a duration string of the query language such as `10s`',
    () =>
      takes(
        'duration',
        [
          ['10s', 10_000_000_000],
          [5, 5],
        ],
        ['ten', true],
      ),
  ],
  [
    'string | any string',
    () =>
      takes(
        'string',
        [
          ['any', 'any'],
          ['', ''],
        ],
        [1],
      ),
  ],
  [
    'regex | string that is a valid regular expression',
    () => takes('regex', [['^a+$', '^a+$']], ['(', 1]),
  ],
  [
    'lambda | string that is a valid lambda expression of the script language',
    () => takes('lambda', [['"a" > 1', '"a" > 1']], ['"a" >', 1]),
  ],
  [
    'star | empty string; stands for the literal `*` in the script',
    () => takes('star', [['', '']], ['x']),
  ],
  [
    'list | array of `{type, value}` objects; only string and star vars are allowed inside',
    () => {
      const list = [
        { type: 'string', value: 'a' },
        { type: 'star', value: '' },
      ];
      return takes('list', [[list, expect.any(Array)]], [[{ type: 'int', value: 1 }], 'a']);
    },
  ],
]);
