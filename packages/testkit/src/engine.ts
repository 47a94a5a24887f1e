// An engine in this process with a directory of its own, for tests: started, restarted and queried
// over its socket.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { resolveEngineConfig, startEngine } from '@tidemark/engine';
import type { EngineService, StartEngineOptions } from '@tidemark/engine';

import { EVERYTHING_ALLOWED } from './allowed.ts';

export type Answer = {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
  /** The body's JSON; bare text if it is none. Tests define its type. */
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly json: any;
};

type Values = Readonly<Record<string, unknown>>;

export class TestEngine {
  readonly directory = mkdtempSync(join(tmpdir(), 'engine-test-'));
  /** Log lines with their fields as JSON. */
  readonly log: string[] = [];
  #service: EngineService | undefined;

  get isStarted(): boolean {
    return this.#service !== undefined;
  }

  /** URL of the API. */
  get url(): string {
    if (this.#service === undefined) throw new Error('the engine is not started');
    return this.#service.url;
  }

  /**
   * Starts with the contents of the directory. The values are those of a configuration file; by
   * default the engine keeps no statistics, has no threads for tasks, permits everything and
   * listens on a free port of loopback.
   */
  async start(values: Values = {}, options: Partial<StartEngineOptions> = {}): Promise<void> {
    const section = (name: string): Values => (values[name] ?? {}) as Values;
    const { config, problems } = resolveEngineConfig([
      {
        source: 'test',
        values: {
          hostname: '127.0.0.1',
          data_dir: this.directory,
          ...values,
          stats: { enabled: false, ...section('stats') },
          task: { hosts: '0', ...section('task') },
          http: { 'bind-address': '127.0.0.1:0', ...section('http') },
          alert: { ...EVERYTHING_ALLOWED, ...section('alert') },
        },
      },
    ]);
    if (problems.length > 0) throw new Error(JSON.stringify(problems));
    const keep = (fields: object, message: string): void => {
      this.log.push(`${message} ${JSON.stringify(fields, withIntegers)}`);
    };
    const log = { debug: keep, info: keep, warn: keep, error: keep };
    this.#service = await startEngine(config, { log, ...options });
  }

  /** As when the process fails unexpectedly. */
  async fail(): Promise<void> {
    this.#service?.abandon?.();
    await this.stop();
  }

  /** Stops gracefully; the directory stays. */
  async stop(): Promise<void> {
    await this.#service?.close();
    this.#service = undefined;
  }

  /** Stops and removes the directory. */
  async close(): Promise<void> {
    await this.stop();
    rmSync(this.directory, { recursive: true, force: true });
  }

  /**
   * Sends a request to a path such as `/engine/v1/tasks`; a body that is no text is sent as JSON.
   */
  async call(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const init = body === undefined ? { method, headers } : { method, headers, body: text };
    const response = await fetch(this.url + path, init);
    const bytes = Buffer.from(await response.arrayBuffer());
    return { status: response.status, headers: response.headers, bytes, json: parsed(bytes) };
  }

  /** Defines a task of a stream and starts it. */
  startTask(id: string, script: string, place = { db: 'd', rp: 'r' }): Promise<Answer> {
    const task = { id, type: 'stream', dbrps: [place], script, status: 'enabled' };
    return this.call('POST', '/engine/v1/tasks', task);
  }
}

/** A script that counts the points of measurement `m`; `countedBy` reads the count. */
export const COUNTING = `stream|from().measurement('m')|stateCount(lambda: TRUE)|httpOut('counted')`;

/** Number of points that a task with the script `COUNTING` was given; 0 before the first. */
export async function countedBy(engine: TestEngine, task: string): Promise<number> {
  const { json } = await engine.call('GET', `/engine/v1/tasks/${task}/counted`);
  const [series] = json.series ?? [];
  return series?.values[0][series.columns.indexOf('state_count')] ?? 0;
}

/** Integers of points as JSON, which has none. */
const withIntegers = (_key: string, value: unknown): unknown =>
  typeof value === 'bigint' ? String(value) : value;

function parsed(bytes: Buffer): unknown {
  const text = bytes.toString('utf8');
  try {
    return JSON.parse(text);
  } catch {
    // Backups, logs and refused writes are no JSON.
    return text;
  }
}
