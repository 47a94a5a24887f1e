// The environment of a try-out: everything that a task would do outside of itself is recorded
// instead. What it reads (user-defined functions, sideloaded files) is available as for a running
// task.
import type { HandlerSpec } from '@tidemark/pipeline';
import { Inhibitions, printPoints } from '@tidemark/runtime';
import type {
  AlertEvent,
  AlertLevelName,
  DatabaseWrite,
  HttpRequest,
  OutputPoint,
} from '@tidemark/runtime';
import { recordedPoints } from '../jobs/points.ts';
import type { EngineServices } from '../services/task-services.ts';

/** An event as it would be published, with the handlers that would be called. */
export type TriedEvent = {
  readonly kind: 'event';
  readonly event: AlertEvent;
  readonly previous: AlertLevelName;
  /** '' stands for the handlers of the script. */
  readonly topics: string[];
  readonly handlers: string[];
};

/** An effect that was suppressed. */
export type TriedEffect = {
  readonly kind: 'effect';
  readonly what: 'write' | 'loopback' | 'request' | 'statement';
  /** Its target. */
  readonly target: string;
  readonly text: string;
};

export type TriedLog = {
  readonly kind: 'log';
  readonly level: string;
  readonly node: string;
  readonly message: string;
  readonly context: Readonly<Record<string, unknown>>;
};

export type Tried = TriedEvent | TriedEffect | TriedLog;

export type OutsideOptions = {
  /** The services for a task of that name. */
  readonly real: EngineServices;
  /** Kinds of the handlers that a named topic has. */
  readonly handlersOf: (topic: string) => readonly string[];
  readonly record: (tried: Tried) => void;
};

/** Services that record. */
export function recordingServices({ real, handlersOf, record }: OutsideOptions): EngineServices {
  const effect = (what: TriedEffect['what'], target: string, text: string): void =>
    record({ kind: 'effect', what, target, text });
  return {
    ...real,
    alerts: new TriedAlerts(handlersOf, record),
    database: {
      write: ({ points, ...target }) => {
        effect('write', writeTarget(target), printPoints(points, target.precision));
        return Promise.resolve();
      },
      writeLines: (target, body) => {
        effect('write', writeTarget(target), body);
        return Promise.resolve();
      },
      execute: (cluster, statement) => {
        effect('statement', cluster, statement);
        return Promise.resolve();
      },
      query: () => Promise.resolve([]),
    },
    loopback: {
      write: (database: string, retentionPolicy: string, points: readonly OutputPoint[]) =>
        effect('loopback', `${database}.${retentionPolicy}`, printPoints(points, 'n')),
      writeBatch: (batch) => {
        const lines = Array.from(recordedPoints(batch, new Set()), ({ line }) => line);
        effect('loopback', `${batch.database}.${batch.retentionPolicy}`, lines.join('\n'));
      },
    },
    http: {
      send: ({ method, url, body }: HttpRequest) => {
        effect('request', `${method} ${url}`, body);
        return Promise.resolve({ status: 200, body: '' });
      },
      endpoint: (name) => real.http.endpoint(name),
    },
    log: {
      log: (level, node, message, context = {}) =>
        record({ kind: 'log', level, node, message, context }),
    },
  };
}

function writeTarget({
  database,
  retentionPolicy,
  precision,
}: Omit<DatabaseWrite, 'points'>): string {
  const unit = precision === '' || precision === 'n' || precision === 'ns' ? '' : ` (${precision})`;
  return `${database}.${retentionPolicy}${unit}`;
}

/** Topics that begin empty and have no handlers. */
class TriedAlerts {
  readonly inhibitions = new Inhibitions();
  readonly #handlersOf: OutsideOptions['handlersOf'];
  readonly #record: OutsideOptions['record'];
  readonly #anonymous = new Map<string, readonly string[]>();
  readonly #states = new Map<string, AlertEvent>();
  #last: TriedEvent | undefined;

  constructor(handlersOf: OutsideOptions['handlersOf'], record: OutsideOptions['record']) {
    this.#handlersOf = handlersOf;
    this.#record = record;
  }

  openAnonymousTopic(topic: string, handlers: readonly HandlerSpec[]): void {
    this.#anonymous.set(
      topic,
      handlers.map(({ kind }) => kind),
    );
  }

  // Its events may still come from a task that ends.
  closeAnonymousTopic(): void {}

  openTopic(): void {}

  publish(topic: string, event: AlertEvent): void {
    const key = `${topic}\u0000${event.id}`;
    const previous = this.#states.get(key)?.level ?? 'OK';
    this.#states.set(key, event);
    const own = this.#anonymous.get(topic);
    const topics = own === undefined ? [topic] : [''];
    const handlers = own ?? this.#handlersOf(topic);
    const last = this.#last;
    // A node sends the same event to its own topic and to the named one.
    if (last !== undefined && isSame(last.event, event) && !last.topics.includes(topics[0] ?? '')) {
      last.topics.push(...topics);
      last.handlers.push(...handlers);
      return;
    }
    this.#last = { kind: 'event', event, previous, topics, handlers: [...handlers] };
    this.#record(this.#last);
  }

  updateEvent(topic: string, event: AlertEvent): void {
    this.#states.set(`${topic}\u0000${event.id}`, event);
  }

  lastCause(): undefined {
    return undefined;
  }

  eventState(topic: string, id: string): AlertEvent | undefined {
    return this.#states.get(`${topic}\u0000${id}`);
  }

  eventStates(): Iterable<never> {
    return [];
  }
}

function isSame(a: AlertEvent, b: AlertEvent): boolean {
  return a.id === b.id && a.time === b.time && a.level === b.level && a.message === b.message;
}
