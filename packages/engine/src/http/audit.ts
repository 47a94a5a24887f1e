// Records who changed what over the API, and who was refused: in the service log with `"audit":
// true`, and in the audit record of the data directory, which `/audit` shows. For a body it records
// only the names of what it sets, never the values, because they may be secrets.
import { join } from 'node:path';
import { formatRfc3339 } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import { openAuditRecord, parseAuditQuestion } from '@tidemark/process';
import type { AuditRecord } from '@tidemark/process';
import { BASE } from './routes.ts';
import type { Api } from './api.ts';
import type { ServerLog } from './server.ts';

/** A request that was answered. */
export type AnsweredRequest = {
  readonly method: string;
  /** Pattern of its endpoint; empty if there is none. */
  readonly route: string;
  readonly path: string;
  readonly status: number;
  /** Empty without authentication, and if the user is unknown. */
  readonly user: string;
  readonly address: string;
  readonly requestId: string;
  readonly body: Uint8Array;
};

export type AuditOptions = {
  /** The engine's directory. */
  readonly directory: string;
  /** 0 keeps nothing on disk. */
  readonly keepBytes: number;
  readonly clock: Clock;
  readonly log: ServerLog;
};

/** Requests to these are data, not changes. */
const DATA_ROUTES: ReadonlySet<string> = new Set(['/write', `${BASE}/write`]);
const READING: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
const REFUSED: ReadonlySet<number> = new Set([401, 403, 429]);

/** Larger bodies are not definitions; their names are not recorded. */
const BODY_BYTES_MAX = 1 << 20;
const FIELDS_MAX = 50;

/** Whether a successful request is recorded: it may change something. */
export function changesSomething(method: string, route: string): boolean {
  return !READING.has(method) && !DATA_ROUTES.has(route);
}

export class Audit {
  readonly #options: AuditOptions;
  readonly #record: AuditRecord | undefined;

  constructor(options: AuditOptions) {
    this.#options = options;
    this.#record = openAuditRecord({
      directory: join(options.directory, 'audit'),
      maxBytes: options.keepBytes,
      onError: (err) => options.log('error', 'the audit record cannot be written', { err }),
    });
  }

  /** Called for every request; records those that have changed something or were refused. */
  note(request: AnsweredRequest): void {
    const { method, route, path, status, user, address, requestId } = request;
    const isRefused = REFUSED.has(status);
    if (!isRefused && !changesSomething(method, route)) return;
    const { clock, log } = this.#options;
    const event = isRefused ? 'request refused' : 'change';
    const details = { method, path, status, ...(isRefused ? {} : describeBody(request.body)) };
    log('info', event, { audit: true, user, address, ...details });
    const time = formatRfc3339(clock.now());
    const entry = { time, event, user, address, requestId, ...details };
    if (isRefused) this.#record?.addRefusal(entry);
    else this.#record?.add(entry);
  }

  /** `GET /audit`: the newest first. */
  addRoute(api: Api): void {
    api.on('GET', '/audit', async ({ query }) => {
      const question = parseAuditQuestion((name) => query.get(name));
      const entries = (await this.#record?.read(question)) ?? [];
      return { status: 200, json: { isKept: this.#record !== undefined, entries } };
    });
  }

  async close(): Promise<void> {
    await this.#record?.close();
  }
}

/** The subject of a definition: its id, and the names of what it sets. */
function describeBody(body: Uint8Array): object {
  if (body.length === 0 || body.length > BODY_BYTES_MAX) return {};
  try {
    const value: unknown = JSON.parse(Buffer.from(body).toString('utf8'));
    if (typeof value !== 'object' || value === null) return {};
    const fields = Object.entries(value).flatMap(([name, inner]) => namesOf(name, inner));
    const { id, status } = value as { readonly id?: unknown; readonly status?: unknown };
    return {
      ...(typeof id === 'string' ? { id } : {}),
      ...(typeof status === 'string' ? { to: status } : {}),
      fields: fields.slice(0, FIELDS_MAX),
    };
  } catch {
    // Not JSON: it was refused, or has no names.
    return {};
  }
}

/** For overrides also the names of the options. */
function namesOf(name: string, inner: unknown): readonly string[] {
  const isChange = name === 'set' || name === 'add';
  if (!isChange || typeof inner !== 'object' || inner === null) return [name];
  return Object.keys(inner).map((option) => `${name}.${option}`);
}
