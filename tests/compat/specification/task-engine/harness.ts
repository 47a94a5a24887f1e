// The harness of the tests of the specification's sections: one engine per file, a database that
// gives every query the same result, and factories of tasks, recordings, replays, topics and
// handlers with unique ids. Requests and responses of a sentence are compared with the stored ones
// (exchanges.ts), so that no response changes unnoticed.
import { resolveEngineConfig, startEngine } from '@tidemark/engine';
import type { EngineService } from '@tidemark/engine';
import { eventually } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestServer } from '@tidemark/testkit';
import { startPeer } from '../../../soak/engine-api/peer.ts';
import { startInProcess } from '../../../soak/engine-api/subject.ts';
import type { Subject } from '../../../soak/engine-api/subject.ts';
import { hashOf } from '../document.ts';
import type { Sentences } from '../document.ts';
import { Exchanges } from './exchanges.ts';
import hashes from './sentences.json' with { type: 'json' };

export const STREAM =
  "stream|from().measurement('m')|httpOut('out')|alert().id('{{ .TaskName }}').crit(lambda: \"v\" > 5).topic('spec')";
export const BATCH = `batch|query('SELECT v FROM "d"."r"."m1"').period(10s).every(1h)|httpOut('out')`;
export const DBRPS = [{ db: 'd', rp: 'r' }];
export const PAST = { start: '2020-01-01T00:00:00Z', stop: '2020-01-01T02:00:01Z' };
export const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;

const ALL: Sentences = hashes;

let peer: TestServer;
let engine: Subject;
let lastId = 0;
const exchanges = new Exchanges();

/** Starts both before the tests of a file and stops them after. */
export function useEngine(): void {
  beforeAll(async () => {
    peer = await startPeer();
    engine = await startInProcess(peer.url);
  });

  afterAll(async () => {
    await engine.close();
    await peer.close();
  });
}

/** Address of the database that gives every query the same answer. */
export const peerUrl = (): string => peer.url;

type Answer = { readonly status: number; readonly json: any; readonly headers: Headers };

/** Below `/engine/v1/` unless the path begins with a slash. */
export async function call(method: string, path: string, body?: unknown): Promise<Answer> {
  const url = engine.url + (path.startsWith('/') ? path : `/engine/v1/${path}`);
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(url, { method, ...(body === undefined ? {} : { body: text }) });
  const answer = Buffer.from(await response.arrayBuffer()).toString();
  let json: unknown = answer;
  try {
    json = JSON.parse(answer);
  } catch {
    // Backups, logs and refused writes are no JSON.
  }
  exchanges.note(method, path, { status: response.status, body: json });
  return { status: response.status, json, headers: response.headers };
}

export const get = (path: string): Promise<Answer> => call('GET', path);
export const newId = (): string => `row-${++lastId}`;

export async function define(more: object = {}): Promise<any> {
  const id = newId();
  const { status, json } = await call('POST', 'tasks', {
    id,
    script: STREAM,
    dbrps: DBRPS,
    ...more,
  });
  expect({ status, json }).toMatchObject({ status: 200 });
  return json;
}

export async function template(
  script = 'var x = 1\nstream|from()|where(lambda: x > 0)',
): Promise<any> {
  return (await call('POST', 'templates', { id: newId(), script })).json;
}

export async function ended(path: string): Promise<any> {
  return eventually(
    path,
    async () => {
      const { status, json } = await get(path);
      return status === 202 ? undefined : json;
    },
    60_000,
  );
}

export async function record(kind: string, body: object): Promise<any> {
  const { status, json } = await call('POST', `recordings/${kind}`, { id: newId(), ...body });
  expect({ status, json }).toMatchObject({ status: 201, json: { status: 'running' } });
  return json;
}

export const recordQuery = (type = 'stream'): Promise<any> =>
  record('query', { type, query: 'SELECT v FROM "d"."r".m1' }).then(({ id }) =>
    ended(`recordings/${id}`),
  );

export async function replay(kind: string, body: object): Promise<any> {
  const { status, json } = await call('POST', `replays/${kind}`, { id: newId(), ...body });
  expect({ status, json }).toMatchObject({ status: 201, json: { status: 'running' } });
  return json;
}

/** A replay of a recorded answer to a task of its own, when it has ended. */
export async function replayed(more: object = {}): Promise<any> {
  const task = await define();
  const recording = await recordQuery();
  const { id } = await replay('', { task: task.id, recording: recording.id, ...more });
  return ended(`replays/${id}`);
}

export const topicPath = (topic: string): string => `/engine/v1preview/alerts/topics/${topic}`;
export const POST_ACTION = { kind: 'post', options: { url: 'http://127.0.0.1:1/' } };

export async function handler(topic: string): Promise<any> {
  const body = { id: newId(), actions: [POST_ACTION] };
  return (await call('POST', `${topicPath(topic)}/handlers`, body)).json;
}

/** A topic with one critical event. */
export async function event(): Promise<{ topic: string; id: string }> {
  const topic = newId();
  const task = await define({ status: 'enabled', script: STREAM.replace("'spec'", `'${topic}'`) });
  await call('POST', '/write?db=d&rp=r', 'm v=9 1500000000000000000');
  await eventually('the event', async () =>
    (await get(`${topicPath(topic)}/events/${task.id}`)).status === 200 ? true : undefined,
  );
  return { topic, id: task.id };
}

/** An engine of its own, with other settings, on a directory that its caller removes. */
export async function startOther(
  directory: string,
  settings: Readonly<Record<string, unknown>>,
): Promise<EngineService> {
  const values = {
    data_dir: directory,
    stats: { enabled: false },
    task: { hosts: '0' },
    http: { 'bind-address': '127.0.0.1:0' },
    ...settings,
  };
  const { config, problems } = resolveEngineConfig([{ source: 'test', values }]);
  expect(problems).toEqual([]);
  return startEngine(config, { log: QUIET });
}

const nothing = (): void => {};
const QUIET = { debug: nothing, info: nothing, warn: nothing, error: nothing };

/** Words of the specification: one sentence, or several that are shown together. */
type Quote = string | readonly string[];

/** Every sentence of a section, as it is written there, and what shows it. */
export function sentences(
  section: string,
  rows: readonly (readonly [quote: Quote, show: () => unknown])[],
): void {
  const titled = rows.map(([quote, show]) => [[quote].flat().join(' '), show] as const);
  describe(section, () => {
    test('is quoted sentence by sentence', () => {
      const quoted = rows.flatMap(([quote]) => [quote].flat().map(hashOf));
      expect([...new Set(quoted)].toSorted()).toEqual(ALL[section]?.toSorted());
    });

    test.each(titled)('%s', { timeout: 120_000 }, async (_quote, show) => {
      exchanges.begin();
      await show();
      expect(exchanges.taken()).toMatchSnapshot();
    });
  });
}
