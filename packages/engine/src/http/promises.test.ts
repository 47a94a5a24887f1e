// Details of requests and errors: paths of Kapacitor, unknown parameters, and messages that name
// what is wrong.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestEngine } from '@tidemark/testkit/engine';

const engine = new TestEngine();

beforeAll(() => engine.start());
afterAll(() => engine.close());

const error = async (method: string, path: string, body?: unknown): Promise<unknown> => {
  const { status, json } = await engine.call(method, `/engine/v1${path}`, body);
  return [status, json.error];
};

describe('the paths of Kapacitor keep what its clients rely on', () => {
  test('a change of the configuration is answered with 204, below the own path with 200', async () => {
    for (const [base, wanted] of [
      ['/kapacitor/v1', 204],
      ['/kapacitor/v1preview', 204],
      ['/engine/v1', 200],
    ] as const) {
      const set = { set: { global: true } };
      const answer = await engine.call('POST', `${base}/config/teams/`, set);
      expect([answer.status, answer.bytes.length === 0]).toEqual([wanted, wanted === 204]);
      expect(
        (await engine.call('POST', `${base}/config/teams/`, { delete: ['global'] })).status,
      ).toBe(wanted);
      const add = { add: { endpoint: 'e', url: 'http://127.0.0.1:1' } };
      expect((await engine.call('POST', `${base}/config/httppost`, add)).status).toBe(wanted);
      const remove = { remove: ['e'] };
      expect((await engine.call('POST', `${base}/config/httppost`, remove)).status).toBe(wanted);
    }
  });

  test('a write without a policy goes to the one with the empty name', async () => {
    await engine.startTask('empty', "stream|from()|httpOut('o')", { db: 'd', rp: '' });
    expect((await engine.call('POST', '/engine/v1/write?db=d', 'm v=1 1')).status).toBe(400);
    expect((await engine.call('POST', '/write?db=d', 'm v=1 1')).status).toBe(400);
    expect((await engine.call('POST', '/kapacitor/v1/write?db=d', 'm v=7 1')).status).toBe(204);
    const { json } = await engine.call('GET', '/engine/v1/tasks/empty/o');
    expect(json.series[0].values[0][1]).toBe(7);
  });
});

describe('parameters that mean nothing', () => {
  const warning = async (path: string, method = 'GET', body?: unknown): Promise<string | null> => {
    const { status, headers } = await engine.call(method, path, body);
    expect(status).toBeLessThan(300);
    return headers.get('warning');
  };

  test('are warned about, with what was meant', async () => {
    expect(await warning('/engine/v1/tasks?lmit=1')).toBe(
      '299 - "unknown query parameter \\"lmit\\"; did you mean limit?"',
    );
    expect(await warning('/engine/v1/tasks?zzz=1&offset=0&patern=a')).toBe(
      '299 - "unknown query parameter \\"zzz\\", unknown query parameter \\"patern\\"; did you mean pattern?"',
    );
    expect(await warning('/write?db=d&rp=r&precison=s', 'POST', 'm v=1 1')).toContain('precision?');
    expect(await warning('/engine/v1/ping?a%0Ab%C3%BC=1')).toBe(
      '299 - "unknown query parameter \\"a\\\\nb?\\""',
    );
  });

  test.each([
    '/engine/v1/tasks?limit=1&offset=0&pattern=*&fields=id&script-format=raw&dot-view=labels',
    '/engine/v1/tasks/empty?script-format=raw&dot-view=labels&diagnostics=true',
    '/engine/v1/templates?script-format=raw',
    '/engine/v1preview/alerts/topics?min-level=OK&pattern=*',
    '/engine/v1/ping?u=a&p=b&pretty=true',
    '/engine/v1/debug/pprof/profile?seconds=0.01',
  ])('%s has none', async (path) => {
    expect(await warning(path)).toBe(null);
  });
});

test.each(['tasks', 'templates', 'recordings', 'replays', 'service-tests'])(
  'a pattern that is none is refused in lists of %s',
  async (kind) => {
    const shown = 'invalid pattern "[": a bracket is not closed, or a backslash escapes nothing';
    expect(await error('GET', `/${kind}?pattern=[`)).toEqual([400, shown]);
    expect(await error('GET', `/${kind}?limit=x`)).toEqual([
      400,
      'invalid limit parameter "x": it must be an integer',
    ]);
  },
);

test.each(['topics', 'topics/t/events', 'topics/t/handlers'])(
  'a pattern that is none is refused in lists of alerts/%s',
  async (kind) => {
    const state = { level: 'OK', message: '', time: '2024-01-01T00:00:00Z', duration: '0s' };
    await engine.call('PUT', '/engine/v1preview/alerts/topics/t/events/e', { state });
    const { status } = await engine.call('GET', `/engine/v1preview/alerts/${kind}?pattern=[`);
    expect(status).toBe(400);
  },
);

const DBRPS = [{ db: 'd', rp: 'r' }];
const SCRIPT = 'stream|from()';

test.each<readonly [string, string, unknown, number, string | RegExp]>([
  ['POST', '/tasks', '{', 400, /^invalid JSON: /],
  ['POST', '/tasks', [], 400, 'invalid JSON: expected an object'],
  ['POST', '/tasks', { id: 1 }, 400, 'id must be text, not 1'],
  ['POST', '/tasks', { status: 'on' }, 400, 'status must be "enabled" or "disabled", not "on"'],
  ['POST', '/tasks', { type: 'x' }, 400, 'type must be "stream" or "batch", not "x"'],
  ['POST', '/tasks', { dbrps: 'd.r' }, 400, /^dbrps must be a list of objects .*, not "d.r"$/],
  ['POST', '/tasks', { vars: { x: { type: 'int', value: 'a' } } }, 400, /^invalid var x: .*"a"$/],
  ['PATCH', '/tasks/empty', { restart: 1 }, 400, 'restart must be true or false, not 1'],
  [
    'POST',
    '/tasks',
    { id: 'empty', script: SCRIPT, dbrps: DBRPS },
    400,
    'task "empty" already exists',
  ],
  ['POST', '/replays', { clock: 'slow' }, 400, 'clock must be "fast" or "real", not "slow"'],
  ['GET', '/tasks/none', undefined, 404, 'no task exists with the id "none"'],
  ['GET', '/templates/none', undefined, 404, 'no template exists with the id "none"'],
  ['GET', '/recordings/none', undefined, 404, 'no recording exists with the id "none"'],
  ['GET', '/replays/none', undefined, 404, 'no replay exists with the id "none"'],
  ['GET', '/tasks/empty?replay-id=none', undefined, 404, 'no running replay with the id "none"'],
  ['GET', '/tasks/empty/o?replay-id=none', undefined, 404, 'no running replay with the id "none"'],
  [
    'GET',
    '/debug/pprof/profile?seconds=abc',
    undefined,
    400,
    'seconds must be a number above 0 and up to 120, not "abc"',
  ],
  [
    'POST',
    '/config/smtp/',
    { set: { to: 1 } },
    400,
    /option to: expected a list of texts, got number 1$/,
  ],
  ['POST', '/config/tsdb/x', { add: {} }, 400, /an element is added at the path of its section/],
  [
    'POST',
    '/config/smtp/',
    { sett: {} },
    400,
    'a change has no member "sett"; it may have set, delete, add, remove',
  ],
  ['POST', '/write?rp=r', 'm v=1', 400, 'database is required'],
  ['POST', '/write?db=d&rp=r', 'm v=', 400, "unable to parse 'm v=': missing field value"],
])('%s %s %j is refused', async (method, path, body, status, message) => {
  expect(await error(method, path, body)).toEqual([
    status,
    typeof message === 'string' ? message : expect.stringMatching(message),
  ]);
});
