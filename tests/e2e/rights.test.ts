// Rights: every endpoint of all three listeners, requested by every kind of user. The endpoints are
// taken from the listeners; one without a row here fails, and so does a row without an endpoint.
// Authentication is on, everything else has its default.
import { readdir } from 'node:fs/promises';
import { request } from 'node:http';

import { query, removeDirectory, send, startTidemark } from '@tidemark/testkit';
import type { Tidemark } from '@tidemark/testkit';
import { UI_DIRECTORY } from '@tidemark/ui';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { PAGE_ROUTES } from '../../packages/cli/src/ui-server.ts';
import { ENDPOINTS, OPENAPI_ENDPOINT } from '../../packages/tsdb/src/http/endpoints.ts';

const TIMEOUT_MS = 120_000;

/**
 * Endpoint with the query that is asked, then statuses for: strangers (nobody, a wrong password,
 * made-up tokens), users without any right, with READ on database `d`, with WRITE on it, and
 * admins. A path's parameters are `x`.
 */
const DATABASE = `
POST   /write?db=d                               401 403 403 204 204
GET    /query?db=d&q=SELECT+*+FROM+m             401 403 200 403 200
GET    /query?db=d&q=SHOW+USERS                  401 403 403 403 200
POST   /query?db=d&q=SELECT+*+FROM+m             401 403 200 403 200
POST   /query?db=d&q=DELETE+FROM+m               401 403 403 200 200
POST   /query?q=DROP+DATABASE+none               401 403 403 403 200
POST   /query?q=SHOW+SUBSCRIPTIONS               401 403 403 403 200
GET    /ping                                     204 204 204 204 204
GET    /health                                   200 200 200 200 200
GET    /health/live                              200 200 200 200 200
GET    /metrics                                  200 200 200 200 200
GET    /status                                   204 204 204 204 204
GET    /openapi.json                             200 200 200 200 200
GET    /api/tokens                               401 403 403 403 200
POST   /api/tokens                               401 403 403 403 400
DELETE /api/tokens                               401 403 403 403 404
GET    /api/documents?kind=dashboards            401 403 200 200 200
GET    /api/documents?kind=queries               401 403 200 200 200
PUT    /api/documents?kind=dashboards            401 403 403 403 400
PUT    /api/documents?kind=queries               401 403 400 400 400
DELETE /api/documents?kind=dashboards            401 403 403 403 400
POST   /api/identity                             401 403 403 403 400
GET    /api/me                                   401 200 200 200 200
POST   /api/continuous-queries/run               401 403 403 403 400
POST   /api/backup                               401 403 403 403 200
POST   /api/restore                              401 403 403 403 201
PUT    /api/restore                              401 403 403 403 404
DELETE /api/restore                              401 403 403 403 404
GET    /debug/vars                               401 403 403 403 200
GET    /api/audit                                401 403 403 403 200
GET    /debug/replicas                           401 403 403 403 200
GET    /debug/slow-queries                       401 403 403 403 200
GET    /debug/requests?seconds=0                 401 403 403 403 200
GET    /debug/rejected                           401 403 403 403 200
POST   /debug/loglevel                           401 403 403 403 400
GET    /debug/pprof                              401 403 403 403 200
GET    /debug/pprof/profile?seconds=0.01         401 403 403 403 200
GET    /debug/pprof/heap                         401 403 403 403 200
POST   /api/v2/write?bucket=d/autogen            401 403 403 204 204
POST   /api/v1/prom/write?db=d                   401 403 403 400 400
POST   /api/v1/prom/read?db=d                    401 403 400 403 400
POST   /api/v2/query                             401 403 403 403 403
`;

const ENGINE = `
GET    /ping                                                          401 204 204 204 204
GET    /health                                                        200 200 200 200 200
GET    /health/live                                                   200 200 200 200 200
GET    /metrics                                                       401 403 200 200 200
GET    /openapi.json                                                  401 403 200 200 200
GET    /debug/vars                                                    401 403 200 200 200
POST   /write?db=d&rp=autogen                                         401 401 401 204 204
POST   /engine/v1/write?db=d&rp=autogen                               401 401 401 204 204
GET    /engine/v1/ping                                                401 204 204 204 204
GET    /engine/v1/:routes                                             401 403 200 200 200
GET    /engine/v1/audit                                               401 403 403 403 200
GET    /engine/v1/cluster/members                                      401 403 200 200 200
DELETE /engine/v1/cluster/members/:member                             401 403 403 403 404
POST   /engine/v1/cluster/members/:member/drain                        401 403 403 403 404
GET    /engine/v1/cluster/tasks                                       401 403 200 200 200
GET    /engine/v1/config                                              401 403 200 200 200
POST   /engine/v1/config                                              401 403 403 403 400
GET    /engine/v1/config/                                             401 403 400 400 400
POST   /engine/v1/config/                                             401 403 403 403 400
GET    /engine/v1/config/:section                                     401 403 404 404 404
POST   /engine/v1/config/:section                                     401 403 403 403 400
GET    /engine/v1/config/:section/*                                   401 403 404 404 404
POST   /engine/v1/config/:section/*                                   401 403 403 403 400
GET    /engine/v1/debug/vars                                          401 403 200 200 200
GET    /engine/v1/debug/pprof/                                        401 403 403 403 200
GET    /engine/v1/debug/pprof/cmdline                                 401 403 403 403 200
GET    /engine/v1/debug/pprof/goroutine                               401 403 403 403 200
GET    /engine/v1/debug/pprof/heap                                    401 403 403 403 200
GET    /engine/v1/debug/pprof/profile?seconds=0.01                    401 403 403 403 200
GET    /engine/v1/documents?kind=dashboards                           401 403 200 200 200
GET    /engine/v1/documents?kind=queries                              401 403 200 200 200
PUT    /engine/v1/documents?kind=dashboards                           401 403 403 403 400
PUT    /engine/v1/documents?kind=queries                              401 403 400 400 400
DELETE /engine/v1/documents?kind=dashboards                           401 403 403 403 400
POST   /engine/v1/load/reload                                         401 403 403 403 204
POST   /engine/v1/loglevel                                            401 403 403 403 400
GET    /engine/v1/recordings                                          401 403 200 200 200
GET    /engine/v1/recordings/:id                                      401 403 404 404 404
DELETE /engine/v1/recordings/:id                                      401 403 403 403 204
POST   /engine/v1/recordings/batch                                    401 403 403 403 400
POST   /engine/v1/recordings/query                                    401 403 403 403 400
POST   /engine/v1/recordings/stream                                   401 403 403 403 400
GET    /engine/v1/replays                                             401 403 200 200 200
POST   /engine/v1/replays                                             401 403 403 403 400
GET    /engine/v1/replays/                                            401 403 200 200 200
POST   /engine/v1/replays/                                            401 403 403 403 400
GET    /engine/v1/replays/:id                                         401 403 404 404 404
DELETE /engine/v1/replays/:id                                         401 403 403 403 204
POST   /engine/v1/replays/batch                                       401 403 403 403 400
POST   /engine/v1/replays/query                                       401 403 403 403 400
GET    /engine/v1/service-tests                                       401 403 200 200 200
GET    /engine/v1/service-tests/:service                              401 403 404 404 404
POST   /engine/v1/service-tests/:service                              401 403 403 403 404
POST   /engine/v1/sideload/reload                                     401 403 403 403 204
GET    /engine/v1/storage/backup                                      401 403 403 403 200
GET    /engine/v1/storage/restore                                     401 403 200 200 200
POST   /engine/v1/storage/restore                                     401 403 403 403 201
PUT    /engine/v1/storage/restore                                     401 403 403 403 404
DELETE /engine/v1/storage/restore                                     401 403 403 403 404
GET    /engine/v1/storage/stores                                      401 403 200 200 200
GET    /engine/v1/storage/stores/:store                               401 403 404 404 404
POST   /engine/v1/storage/stores/:store                               401 403 403 403 404
POST   /engine/v1/subscriptions                                       401 403 403 403 400
GET    /engine/v1/taps/:id/:node                                      401 403 404 404 404
GET    /engine/v1/task-versions/:id                                   401 403 404 404 404
GET    /engine/v1/tasks                                               401 403 200 200 200
POST   /engine/v1/tasks                                               401 403 403 403 400
GET    /engine/v1/tasks/:id                                           401 403 404 404 404
PATCH  /engine/v1/tasks/:id                                           401 403 403 403 400
DELETE /engine/v1/tasks/:id                                           401 403 403 403 204
GET    /engine/v1/tasks/:id/*                                         401 403 404 404 404
GET    /engine/v1/templates                                           401 403 200 200 200
POST   /engine/v1/templates                                           401 403 403 403 400
GET    /engine/v1/templates/:id                                       401 403 404 404 404
PATCH  /engine/v1/templates/:id                                       401 403 403 403 400
DELETE /engine/v1/templates/:id                                       401 403 403 403 204
POST   /engine/v1/try-outs                                            401 403 403 403 400
POST   /engine/v1/try-outs/task-test                                  401 403 403 403 400
GET    /engine/v1preview/logs                                         401 403 200 200 200
GET    /engine/v1preview/alerts/dead-letters                          401 403 200 200 200
POST   /engine/v1preview/alerts/dead-letters                          401 403 403 403 400
GET    /engine/v1preview/alerts/groups/:id/:node                      401 403 404 404 404
GET    /engine/v1preview/alerts/history                               401 403 200 200 200
GET    /engine/v1preview/alerts/topics                                401 403 200 200 200
GET    /engine/v1preview/alerts/topics/:topic                         401 403 404 404 404
DELETE /engine/v1preview/alerts/topics/:topic                         401 403 403 403 204
GET    /engine/v1preview/alerts/topics/:topic/events                  401 403 404 404 404
GET    /engine/v1preview/alerts/topics/:topic/events/*                401 403 404 404 404
PUT    /engine/v1preview/alerts/topics/:topic/events/*                401 403 403 403 400
GET    /engine/v1preview/alerts/topics/:topic/handlers                401 403 200 200 200
POST   /engine/v1preview/alerts/topics/:topic/handlers                401 403 403 403 400
POST   /engine/v1preview/alerts/topics/:topic/handler-tests           401 403 403 403 400
GET    /engine/v1preview/alerts/topics/:topic/handlers/:handler       401 403 404 404 404
PUT    /engine/v1preview/alerts/topics/:topic/handlers/:handler       401 403 403 403 400
PATCH  /engine/v1preview/alerts/topics/:topic/handlers/:handler       401 403 403 403 404
DELETE /engine/v1preview/alerts/topics/:topic/handlers/:handler       401 403 403 403 204
GET    /engine/v1preview/alerts/topics/:topic/handlers/:handler/state 401 403 404 404 404
`;

/** Files are for everybody; what is forwarded is decided by the service. */
const PAGE = `
GET    /health                                   200 200 200 200 200
GET    /api/session                              401 401 401 401 401
DELETE /api/session                              200 200 200 200 200
GET    /api/addresses                            200 200 200 200 200
GET    /api/import                               401 403 403 403 200
POST   /api/import                               401 403 403 403 400
DELETE /api/import                               401 403 403 403 200
GET    /api/tsdb/ping                            204 204 204 204 204
GET    /api/tsdb/query?q=SHOW+USERS              401 403 403 403 200
POST   /api/tsdb/write?db=d                      401 403 403 204 204
GET    /api/engine/engine/v1/tasks               401 403 200 200 200
DELETE /api/engine/engine/v1/tasks/x             401 403 403 403 204
`;

type Row = {
  readonly method: string;
  /** As the listener registers it. */
  readonly path: string;
  readonly url: string;
  /** For strangers, nobody, reader, writer, admin. */
  readonly statuses: readonly number[];
};

function readTable(text: string): readonly Row[] {
  return text
    .trim()
    .split('\n')
    .map((line) => {
      const [method = '', target = '', ...statuses] = line.split(/ +/);
      const [path = '', search] = target.split('?');
      const filled = path.endsWith('/:routes') ? path : path.replaceAll(/:\w+|\*$/g, 'x');
      const url = search === undefined ? filled : `${filled}?${search}`;
      return { method, path, url, statuses: statuses.map(Number) };
    });
}

const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');
const basic = (user: string, password = `of-${user}`) => ({
  Authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
});
const forged = (alg: string): string =>
  `Bearer ${encode({ alg })}.${encode({ username: 'admin', exp: 9_999_999_999 })}.${encode({})}`;

const STRANGERS: readonly Readonly<Record<string, string>>[] = [
  {},
  { Authorization: 'Token tmk_made-up' },
  { Authorization: forged('none') },
  { Authorization: forged('HS256') },
  { Authorization: forged('__proto__') },
];
/** A password takes 50 ms to check, so that endpoints take turns with these. */
const WRONG_PASSWORDS = [basic('admin', 'wrong'), basic('unknown')];
const USERS = ['nobody', 'reader', 'writer', 'admin'];
/** Not even with the credentials of an admin. */
const PAGES: readonly (readonly [number, Readonly<Record<string, string>>])[] = [
  [403, { ...basic('admin'), Origin: 'http://evil.example' }],
  [403, { ...basic('admin'), 'Sec-Fetch-Site': 'cross-site' }],
  [421, { ...basic('admin'), Host: 'evil.example' }],
];

let count = 0;

/**
 * Each request comes from another address of this machine, so that wrong passwords brake nobody.
 */
function statusOf(
  method: string,
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<number> {
  count++;
  const localAddress = `127.${1 + (count >> 14)}.${(count >> 7) & 127}.${1 + (count & 127)}`;
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method, headers, localAddress, agent: false }, (response) => {
      resolve(response.statusCode ?? 0);
      // Some answers have no end.
      outgoing.destroy();
    });
    outgoing.on('error', reject);
    outgoing.end();
  });
}

let server: Tidemark;

beforeAll(async () => {
  server = await startTidemark({
    args: ['--database-http-auth-enabled', 'true', '--engine-http-auth-enabled', 'true'],
  });
  await query(server.tsdb, "CREATE USER admin WITH PASSWORD 'of-admin' WITH ALL PRIVILEGES");
  const q = `CREATE DATABASE d;
    CREATE USER nobody WITH PASSWORD 'of-nobody';
    CREATE USER reader WITH PASSWORD 'of-reader'; GRANT READ ON d TO reader;
    CREATE USER writer WITH PASSWORD 'of-writer'; GRANT WRITE ON d TO writer`;
  const body = new URLSearchParams({ q });
  const made = await send(`${server.tsdb}/query`, {
    method: 'POST',
    headers: basic('admin'),
    body,
  });
  expect(made.text).not.toContain('error');
}, TIMEOUT_MS);
afterAll(async () => {
  await server.stop();
  await removeDirectory(server.directory);
});

/** With one stranger for all where the rows are other ways to write those that have been walked. */
async function walk(base: string, rows: readonly Row[], areAll = true): Promise<void> {
  for (const [i, { method, url, statuses }] of rows.entries()) {
    const ask = (headers: Readonly<Record<string, string>>): Promise<number> =>
      statusOf(method, base + url, headers);
    const strangers = areAll ? [...STRANGERS, WRONG_PASSWORDS[i % 2]!] : STRANGERS.slice(0, 1);
    const refused = await Promise.all(strangers.map(ask));
    const users: number[] = [];
    // One after the other: some endpoints do one thing at a time.
    for (const user of USERS) users.push(await ask(basic(user)));
    const pages = await Promise.all(PAGES.map(([, headers]) => ask(headers)));

    const [stranger] = refused;
    const found = [stranger, ...users];
    expect.soft(found, `${method} ${url}`).toEqual(statuses);
    expect.soft(new Set(refused), `${method} ${url} for strangers`).toEqual(new Set([stranger]));
    expect.soft(pages, `${method} ${url} for pages`).toEqual(PAGES.map(([status]) => status));
  }
}

/** HEAD is as GET wherever it is served. */
const headRows = (rows: readonly Row[], served: ReadonlySet<string>): readonly Row[] =>
  rows.flatMap((row) =>
    row.method === 'GET' && served.has(`HEAD ${row.path}`) ? [{ ...row, method: 'HEAD' }] : [],
  );

function expectEveryEndpoint(rows: readonly Row[], served: ReadonlySet<string>): void {
  const inTable = new Set(rows.map(({ method, path }) => `${method} ${path}`));
  const withoutRow = [...served].filter((key) => !key.startsWith('HEAD ') && !inTable.has(key));
  const withoutEndpoint = [...inTable].filter((key) => !served.has(key));
  expect({ withoutRow, withoutEndpoint }).toEqual({ withoutRow: [], withoutEndpoint: [] });
}

describe('rights', () => {
  test(
    'of the database',
    async () => {
      const rows = readTable(DATABASE);
      const served = new Set(
        [...ENDPOINTS, OPENAPI_ENDPOINT].flatMap(({ path, methods }) =>
          methods.map((method) => `${method} ${path}`),
        ),
      );
      expectEveryEndpoint(rows, served);
      await walk(server.tsdb, rows);
      await walk(server.tsdb, headRows(rows, served), false);
    },
    TIMEOUT_MS,
  );

  test(
    'of the engine',
    async () => {
      const rows = readTable(ENGINE);
      const { text } = await send(`${server.engine}/engine/v1/:routes`, {
        headers: basic('admin'),
      });
      const routes = JSON.parse(text) as Readonly<Record<string, readonly string[]>>;
      const served = new Set(
        Object.entries(routes).flatMap(([path, methods]) =>
          methods.map((method) => `${method} ${path}`),
        ),
      );
      expectEveryEndpoint(rows, served);
      await walk(server.engine, rows);
      await walk(server.engine, headRows(rows, served), false);
      // The older name of the same endpoints.
      const older = rows.filter(({ path }) => path.startsWith('/engine/'));
      const renamed = older.map((row) => ({
        ...row,
        url: row.url.replace('/engine/', '/kapacitor/'),
      }));
      await walk(server.engine, renamed, false);
    },
    TIMEOUT_MS * 2,
  );

  test(
    'of the server of the page',
    async () => {
      const rows = readTable(PAGE);
      const walked = new Set(rows.map(({ path }) => path.replace(/^(\/api\/\w+\/).*/, '$1*')));
      expect(walked).toEqual(new Set(PAGE_ROUTES.map(({ path }) => path)));
      const files = await readdir(UI_DIRECTORY, { recursive: true, withFileTypes: true });
      expect(files.length).toBeGreaterThan(1);
      const inFolder = files
        .filter((file) => file.isFile())
        .map((file) => `${file.parentPath}/${file.name}`.slice(UI_DIRECTORY.pathname.length - 1))
        .map((name) => `GET /ui/${name.replace(/^\/+/, '')} 200 200 200 200 200`);
      inFolder.push('GET /ui/ 200 200 200 200 200', 'GET / 302 302 302 302 302');
      await walk(server.ui, [...rows, ...readTable(inFolder.join('\n'))]);
      // Nothing but files answers where no prefix is.
      for (const path of [
        '/api',
        '/api/',
        '/index.html',
        '/api/other/x',
        '/engine/v1/tasks',
        '/query',
      ]) {
        expect(await statusOf('GET', server.ui + path, basic('admin')), path).toBe(404);
      }
    },
    TIMEOUT_MS,
  );
});
