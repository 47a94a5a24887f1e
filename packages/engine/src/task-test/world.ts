// The environment of a task test: virtual time, alerts with the real topics and handlers, and a
// record of everything that would leave the process.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '@tidemark/core';
import { AlertService, AlertStore, findHandlerKind, HANDLER_KINDS } from '@tidemark/alerting';
import type { HandlerKind, HandlerSpec } from '@tidemark/alerting';
import { Inhibitions } from '@tidemark/runtime';
import type {
  AlertEvent,
  AlertLevelName,
  AlertSink,
  OutputPoint,
  TaskServices,
  VirtualTimers,
} from '@tidemark/runtime';
import { ALLOW_EVERYTHING, defaultOptions } from '@tidemark/settings';
import type { Sections } from '@tidemark/settings';
import { checkTemplate, renderTemplate } from '../services/render.ts';
import { alertTables } from '../store/alert-tables.ts';
import { Metadata } from '../store/metadata.ts';
import { eventLine, pointLine } from './lines.ts';

/**
 * Kinds that a test runs: those that only reach topics and files. All others are accepted and do
 * nothing.
 */
function isInside({ section, options }: HandlerKind): boolean {
  const reached = Object.values(options).map(({ reaches }) => reaches);
  return section === undefined && reached.every((each) => each === undefined || each === 'file');
}

const NO_FILE = 'ENOENT';

/**
 * Every service with its defaults: nothing is sent, and tests have no configuration that could name
 * elements.
 */
const configured: Sections['section'] = ({ options }) => defaultOptions(options);

/** A clock that moves with the timers. */
export function virtualClock(timers: VirtualTimers): Clock {
  const start = timers.now();
  return {
    now: () => timers.now(),
    monotonicMs: () => Number(timers.now() - start) / 1e6,
    sleep: (delayMs, signal) =>
      new Promise((resolve, reject) => {
        const cancel = timers.at(timers.now() + BigInt(Math.ceil(delayMs * 1e6)), resolve);
        signal?.addEventListener('abort', () => {
          cancel();
          reject(signal.reason);
        });
      }),
  };
}

/**
 * Alerts of one test. Events are recorded when they are published; topics and handlers exist once
 * one is added.
 */
export class TestAlerts implements AlertSink {
  readonly inhibitions = new Inhibitions();
  readonly #clock: Clock;
  readonly #states = new Map<string, AlertEvent>();
  #events: string[] = [];
  #details: string[] = [];
  #lastEvent: AlertEvent | undefined;
  #topics: { readonly service: AlertService; readonly metadata: Metadata } | undefined;
  #folder: string | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  openAnonymousTopic(): void {}

  closeAnonymousTopic(): void {}

  openTopic(): void {}

  publish(topic: string, event: AlertEvent): void {
    const key = `${topic}\u0000${event.id}`;
    const previousLevel: AlertLevelName = this.#states.get(key)?.level ?? 'OK';
    this.#states.set(key, event);
    // The same event goes to the anonymous and to the named topic: recorded once.
    if (event !== this.#lastEvent) {
      this.#events.push(eventLine(event, previousLevel));
      this.#details.push(event.details.trim());
    }
    this.#lastEvent = event;
    this.#topics?.service.publish(topic, event);
  }

  lastCause(): undefined {
    return undefined;
  }

  eventState(topic: string, id: string): AlertEvent | undefined {
    return this.#states.get(`${topic}\u0000${id}`);
  }

  updateEvent(topic: string, event: AlertEvent): void {
    this.#states.set(`${topic}\u0000${event.id}`, event);
    this.#topics?.service.updateEvent(topic, event);
  }

  /** Events since the last call, as lines. */
  takeEvents(): string[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  /** Details of the events since the last call. */
  takeDetails(): string[] {
    const details = this.#details;
    this.#details = [];
    return details;
  }

  /** The service behind the topics; created for the first section that needs it. */
  async service(): Promise<AlertService> {
    if (this.#topics !== undefined) return this.#topics.service;
    this.#folder = await mkdtemp(join(tmpdir(), 'tidemark-task-test-'));
    const metadata = await Metadata.open(this.#folder);
    const service = new AlertService({
      store: new AlertStore(alertTables(metadata), { clock: this.#clock, log: () => undefined }),
      context: {
        section: configured,
        http: {
          send: () => Promise.reject(new Error('task tests send nothing')),
          close: () => Promise.resolve(),
        },
        clock: this.#clock,
        render: renderTemplate,
        checkTemplate,
        access: ALLOW_EVERYTHING,
        resolveSecret: (text) => text,
        server: { hostname: 'localhost', url: 'http://localhost:9092', product: 'tidemark' },
        connections: {
          use: (_key, _idleMs, make) => make(),
          discard: () => Promise.resolve(),
        },
      },
      clock: this.#clock,
      log: () => undefined,
      random: () => 0.5,
      isPersistent: false,
      disabledKinds: new Set(
        HANDLER_KINDS.filter((each) => !isInside(each)).map(({ kind }) => kind),
      ),
    });
    this.#topics = { service, metadata };
    return service;
  }

  /** Adds a handler. Files that it writes lie below a folder of the test. */
  async addHandler(topic: string, spec: HandlerSpec): Promise<void> {
    const service = await this.service();
    const actions = spec.actions.map((action) => {
      const table = findHandlerKind(action.kind)?.options ?? {};
      const options = Object.entries(action.options).map(([name, value]) => {
        const isFile = table[name]?.reaches === 'file' && typeof value === 'string';
        return [name, isFile && value !== '' ? this.#fileOf(value) : value] as const;
      });
      return { ...action, options: Object.fromEntries(options) };
    });
    await service.createHandler(topic, { ...spec, actions });
  }

  /** The lines that handlers have written to a file since the last call. */
  async takeLog(path: string): Promise<readonly string[]> {
    await this.#topics?.service.drained();
    try {
      const text = await readFile(this.#fileOf(path), 'utf8');
      await rm(this.#fileOf(path));
      return text.split('\n').filter((line) => line !== '');
    } catch (cause) {
      // Nothing has been written.
      if (cause instanceof Error && 'code' in cause && cause.code === NO_FILE) return [];
      throw cause;
    }
  }

  /** Resolves when all handlers are idle, before the time moves. */
  async drained(): Promise<void> {
    await this.#topics?.service.drained();
  }

  async close(): Promise<void> {
    await this.#topics?.service.close(0);
    await this.#topics?.metadata.close();
    if (this.#folder !== undefined) await rm(this.#folder, { recursive: true });
  }

  #fileOf(path: string): string {
    return join(this.#folder ?? tmpdir(), encodeURIComponent(path));
  }
}

/** The output of a task to databases, other tasks and HTTP servers. */
export class Outbox {
  #writes: string[] = [];
  #requests: string[] = [];

  takeWrites(): string[] {
    const writes = this.#writes;
    this.#writes = [];
    return writes;
  }

  takeRequests(): string[] {
    const requests = this.#requests;
    this.#requests = [];
    return requests;
  }

  services(alerts: AlertSink): TaskServices {
    const write = (target: string, points: readonly OutputPoint[]): void => {
      for (const point of points) this.#writes.push(`${target} ${pointLine(point)}`);
    };
    return {
      alerts,
      database: {
        write: ({ database, retentionPolicy, points }) => {
          write(`${database}.${retentionPolicy}`, points);
          return Promise.resolve();
        },
        execute: () => Promise.resolve(),
        query: () => Promise.resolve([]),
      },
      loopback: {
        write: (database, retentionPolicy, points) =>
          write(`${database}.${retentionPolicy}`, points),
      },
      http: {
        send: ({ method, url, body }) => {
          this.#requests.push(`${method} ${url} ${body.trim()}`);
          return Promise.resolve({ status: 200, body: '' });
        },
        endpoint: () => undefined,
      },
      log: { log: () => undefined },
      scalerCluster: () => undefined,
      server: { hostname: 'localhost', clusterId: '', serverId: '' },
    };
  }
}
