// For tests of this package: a real service on a free port with its own directory.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { systemClock } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import { resolveConfig } from '@tidemark/settings';
import { pino } from 'pino';

import { TSDB_CONFIG } from './config/schema.ts';
import { startTsdb } from './service.ts';
import type { TsdbDependencies, TsdbService } from './service.ts';

export type TestService = {
  readonly url: string;
  readonly directory: string;
  /** Lines that were logged, one JSON object each. */
  readonly logged: readonly string[];
  /** POST /query (or as `init` says); returns the parsed answer. */
  query(q: string, parameters?: Record<string, string>, init?: RequestInit): Promise<TestAnswer>;
  write(
    lines: string,
    parameters?: Record<string, string>,
    init?: RequestInit,
  ): Promise<TestAnswer>;
  get(path: string, init?: RequestInit): Promise<TestAnswer>;
  /** Does what SIGHUP does. */
  reload(): void;
  /** Stops the service, keeps the directory. */
  stop(): Promise<void>;
  /** Stops the service and removes the directory. */
  close(): Promise<void>;
};

type TestAnswer = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // eslint-disable-next-line typescript/no-explicit-any
  readonly json: any;
};

export type TestOptions = {
  /** Sections of a configuration file. */
  readonly config?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly directory?: string | undefined;
  readonly clock?: Clock | undefined;
  readonly sections?: Readonly<Record<string, unknown>>;
  readonly warmUp?: TsdbDependencies['warmUp'];
  /** `debug` by default. */
  readonly logLevel?: string | undefined;
};

export async function startTestService(options: TestOptions = {}): Promise<TestService> {
  const directory = options.directory ?? mkdtempSync(join(tmpdir(), 'tidemark-tsdb-'));
  const { config, problems } = resolveConfig(TSDB_CONFIG, [
    {
      source: 'test',
      values: {
        ...options.config,
        ...options.sections,
        data: { dir: directory, 'reserve-size': '0', ...options.config?.['data'] },
        http: { 'bind-address': '127.0.0.1:0', ...options.config?.['http'] },
        // A password of the default cost takes a tenth of a second.
        meta: { 'password-cost': 4, ...options.config?.['meta'] },
        monitor: { 'store-enabled': false, ...options.config?.['monitor'] },
      },
    },
  ]);
  if (problems.length > 0) throw new Error(JSON.stringify(problems));
  const logged: string[] = [];
  const level = options.logLevel ?? 'debug';
  const log = pino({ level }, { write: (line: string) => void logged.push(line) });
  const service: TsdbService = await startTsdb(config, {
    log,
    clock: options.clock ?? systemClock(),
    warmUp: options.warmUp,
  });
  const { url } = service;
  return {
    url,
    directory,
    logged,
    query: (q, parameters = {}, init = {}) =>
      send(`${url}/query?${new URLSearchParams({ ...parameters, q })}`, {
        method: 'POST',
        ...init,
      }),
    write: (lines, parameters = {}, init = {}) =>
      send(`${url}/write?${new URLSearchParams(parameters)}`, {
        method: 'POST',
        body: lines,
        ...init,
      }),
    get: (path, init = {}) => send(`${url}${path}`, init),
    reload: () => service.reload(),
    stop: () => service.close(),
    close: async () => {
      await service.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function send(url: string, init: RequestInit): Promise<TestAnswer> {
  const response = await fetch(url, init);
  const text = await response.text();
  const isJson = (response.headers.get('content-type') ?? '').startsWith('application/json');
  const json: unknown = isJson && text !== '' ? tryParse(text) : undefined;
  return { status: response.status, headers: response.headers, text, json };
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // A chunked answer is several documents.
  }
}

// Longer than anything takes on a busy machine, shorter than a test may take.
const WAIT_MS = 18_000;

/** Lets the event loop turn until `probe` returns a value. */
export async function untilDefined<T>(
  what: string,
  probe: () => T | undefined | Promise<T | undefined>,
): Promise<T> {
  const end = performance.now() + WAIT_MS;
  while (performance.now() < end) {
    const value = await probe();
    if (value !== undefined) return value;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  throw new Error(`gave up waiting for ${what}`);
}
