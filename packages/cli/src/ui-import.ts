// Imports that the web application starts: this process copies from another server into its own
// services, as the user who requested it. One at a time; it continues when the page is closed.
import { randomUUID } from 'node:crypto';

import { TsdbClient } from '@tidemark/client';
import { Conflict, InvalidRequest, messageOf } from '@tidemark/core';
import type { ImportStep } from '@tidemark/engine';
import { PAGE_KEY_HEADER } from '@tidemark/process';

import { importServer } from './import-server/import-server.ts';
import type { ImportReport } from './import-server/import-server.ts';

/** The request of the page. */
export type ImportRequest = {
  readonly kind: 'influxdb' | 'kapacitor';
  /** Address of the source, without user and password. */
  readonly url: string;
  readonly username: string;
  readonly password: string;
  /** InfluxDB: only these databases; empty for all. */
  readonly databases: readonly string[];
  readonly hasUsers: boolean;
  /** Whether subscriptions, and so tasks, receive the points. */
  readonly notify: boolean;
  /** Kapacitor: tasks arrive disabled. */
  readonly isDisabled: boolean;
  readonly isOverwriting: boolean;
};

/** A job as shown to the page, without credentials of the source. */
export type ImportView = {
  readonly id: string;
  readonly kind: ImportRequest['kind'];
  readonly url: string;
  readonly state: 'running' | 'finished' | 'failed' | 'cancelled';
  /** Parts of the work; 0 of 0 while unknown. */
  readonly done: number;
  readonly total: number;
  /** The current part. */
  readonly label: string;
  readonly points: number;
  readonly error: string;
  /** InfluxDB: the report at the end. */
  readonly report?: ImportReport | undefined;
  /** Kapacitor: the steps so far. */
  readonly steps: readonly ImportStep[];
};

/** The target of the copy, and its user. */
export type ImportTarget = {
  readonly tsdbUrl: string | undefined;
  readonly engineUrl: string | undefined;
  readonly authorization: string | undefined;
  /** Key with which services accept the client address sent by this server. */
  readonly pageKey: string;
  readonly clientAddress: string;
};

/** Steps shown to the page; there may be thousands of alert events. */
const STEPS_MAX = 2000;

/** Timeout of one request of a copy. */
const TIMEOUT_MS = 600_000;

type Job = { view: ImportView; readonly abort: AbortController; readonly done: Promise<void> };

export class ImportJobs {
  #job: Job | undefined;

  /** The last job, running or finished. */
  view(): ImportView | undefined {
    return this.#job?.view;
  }

  /** Throws `Conflict` while another one runs. */
  start(request: ImportRequest, target: ImportTarget): ImportView {
    if (this.#job?.view.state === 'running')
      throw new Conflict('another import is running; wait for its end, or end it');
    const { kind, url } = request;
    const view: ImportView = {
      id: randomUUID(),
      kind,
      url,
      state: 'running',
      done: 0,
      total: 0,
      label: '',
      points: 0,
      error: '',
      steps: [],
    };
    const abort = new AbortController();
    const update = (more: Partial<ImportView>): void => {
      const job = this.#job;
      if (job?.view.id === view.id) job.view = { ...job.view, ...more };
    };
    const work = kind === 'influxdb' ? importPoints : importTasks;
    // In the next turn, when the job exists.
    const done = Promise.resolve()
      .then(() => work({ request, target, signal: abort.signal, update }))
      .then(
        (more) => update({ state: 'finished', ...more }),
        (error: unknown) =>
          update(
            abort.signal.aborted
              ? { state: 'cancelled' }
              : { state: 'failed', error: messageOf(error) },
          ),
      );
    this.#job = { view, abort, done };
    return view;
  }

  /** Cancels a running job and forgets a finished one: its report may contain new passwords. */
  async remove(): Promise<void> {
    const job = this.#job;
    if (job === undefined) return;
    if (job.view.state !== 'running') this.#job = undefined;
    job.abort.abort();
    await job.done;
  }

  async close(): Promise<void> {
    await this.remove();
    this.#job = undefined;
  }
}

type Work = {
  readonly request: ImportRequest;
  readonly target: ImportTarget;
  readonly signal: AbortSignal;
  readonly update: (more: Partial<ImportView>) => void;
};

async function importPoints({
  request,
  target,
  signal,
  update,
}: Work): Promise<Partial<ImportView>> {
  if (target.tsdbUrl === undefined) throw new InvalidRequest('the database is not run here');
  const { url, username, password, databases, hasUsers, notify } = request;
  const report = await importServer({
    from: new TsdbClient({
      url,
      username,
      password,
      timeoutMs: TIMEOUT_MS,
      fetch: (input, init = {}) => fetch(input, { ...init, signal: either(init.signal, signal) }),
    }),
    to: new TsdbClient({
      url: target.tsdbUrl,
      timeoutMs: TIMEOUT_MS,
      fetch: (input, init = {}) =>
        fetch(input, {
          ...init,
          headers: ownHeaders(target, init),
          signal: either(init.signal, signal),
        }),
    }),
    // Everything is copied again, which changes nothing.
    state: { isDone: () => false, finish: () => undefined },
    databases,
    hasUsers,
    notify,
    onProgress: update,
  });
  return { report };
}

async function importTasks({
  request,
  target,
  signal,
  update,
}: Work): Promise<Partial<ImportView>> {
  if (target.engineUrl === undefined) throw new InvalidRequest('the task engine is not run here');
  const { importDefinitions } = await import('@tidemark/engine');
  const from = new URL(request.url);
  from.username = encodeURIComponent(request.username);
  from.password = encodeURIComponent(request.password);
  const steps: ImportStep[] = [];
  await importDefinitions({
    from: from.href,
    to: target.engineUrl,
    toHeaders: Object.fromEntries(ownHeaders(target, {})),
    isDisabled: request.isDisabled,
    isOverwriting: request.isOverwriting,
    signal,
    onStep: (step) => {
      if (steps.length < STEPS_MAX) steps.push(step);
      update({ steps: [...steps], done: steps.length, label: step.id });
    },
  });
  return {};
}

const either = (own: AbortSignal | null | undefined, signal: AbortSignal): AbortSignal =>
  AbortSignal.any([...(own instanceof AbortSignal ? [own] : []), signal]);

function ownHeaders(target: ImportTarget, init: RequestInit): Headers {
  const headers = new Headers(init.headers);
  headers.set(PAGE_KEY_HEADER, target.pageKey);
  headers.set('X-Forwarded-For', target.clientAddress);
  if (target.authorization !== undefined) headers.set('Authorization', target.authorization);
  return headers;
}

/** Parses the page's request. Throws `InvalidRequest`. */
export function parseImportRequest(text: string): ImportRequest {
  const fields = objectOf(text);
  const { kind, url, databases = [] } = fields;
  if (kind !== 'influxdb' && kind !== 'kapacitor')
    throw new InvalidRequest('kind must be influxdb or kapacitor');
  if (typeof url !== 'string' || !/^https?:\/\/./.test(url) || !URL.canParse(url))
    throw new InvalidRequest('url must be an address such as http://host:8086');
  const { origin, username, password } = new URL(url);
  if (!Array.isArray(databases) || databases.some((name) => typeof name !== 'string'))
    throw new InvalidRequest('databases must be a list of names');
  return {
    kind,
    url: origin,
    username: String(fields['username'] ?? '') || decodeURIComponent(username),
    password: String(fields['password'] ?? '') || decodeURIComponent(password),
    databases: databases as readonly string[],
    hasUsers: fields['hasUsers'] === true,
    notify: fields['notify'] === true,
    isDisabled: fields['isDisabled'] === true,
    isOverwriting: fields['isOverwriting'] === true,
  };
}

function objectOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return { ...value };
  } catch {
    // Not JSON: the same message as for an invalid structure.
  }
  throw new InvalidRequest('the body must be JSON: {"kind", "url", …}');
}
