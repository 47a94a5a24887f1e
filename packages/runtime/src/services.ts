// What running nodes need from the world outside their task. The engine implements these; tests use recorders.
import type { FieldValue, TagSet, Timestamp } from '@tidemark/core';
import type { HandlerSpec } from '@tidemark/pipeline';

/** A point as it leaves a task: output rows, events, writes. `null` is a field whose value is null. */
export type OutputPoint = {
  readonly name: string;
  readonly tags: TagSet;
  readonly fields: ReadonlyMap<string, FieldValue | null>;
  readonly time: Timestamp;
};

/** A row of a result: what httpOut, httpPost and alert data contain. */
export type ResultRow = {
  readonly name: string;
  readonly tags?: Readonly<Record<string, string>> | undefined;
  readonly columns?: readonly string[] | undefined;
  /** First column is the time in nanoseconds. */
  readonly values?: readonly (readonly (FieldValue | null)[])[] | undefined;
};

export type AlertLevelName = 'OK' | 'INFO' | 'WARNING' | 'CRITICAL';

/** An event as the alert node emits it. `group` is the raw group id, '' when ungrouped. */
export type AlertEvent = {
  readonly id: string;
  readonly message: string;
  readonly details: string;
  readonly time: Timestamp;
  readonly durationNanos: bigint;
  readonly level: AlertLevelName;
  readonly isRecoverable: boolean;
  readonly data: readonly ResultRow[];
  /** What templates of handler options and match expressions can see. */
  readonly context: {
    readonly name: string;
    readonly taskName: string;
    readonly group: string;
    readonly category: string;
    readonly tags: Readonly<Record<string, string>>;
    readonly fields: Readonly<Record<string, FieldValue | null>>;
  };
};

/** Topics, as the alert node sees them. Calls cross a thread: they return at once and are ordered. */
export interface AlertSink {
  /** Opens the anonymous topic of a node with the handlers of its script. Called before the first event. */
  openAnonymousTopic(topic: string, handlers: readonly HandlerSpec[]): void;
  closeAnonymousTopic(topic: string): void;
  publish(topic: string, event: AlertEvent): void;
  /** Level, time and duration of an event that the topic remembers, for restoring a group's state. */
  eventState(
    topic: string,
    eventId: string,
  ):
    | { readonly level: AlertLevelName; readonly time: Timestamp; readonly durationNanos: bigint }
    | undefined;
  /** Sets a topic's remembered state without telling its handlers. */
  updateEvent(topic: string, event: AlertEvent): void;
}

/** Where influxDBOut sends points. */
export type DatabaseWrite = {
  readonly cluster: string;
  readonly database: string;
  readonly retentionPolicy: string;
  readonly precision: string;
  readonly consistency: string;
  readonly points: readonly OutputPoint[];
};

export type QueryResultSeries = {
  readonly name: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly columns: readonly string[];
  /** First column is the time in nanoseconds. */
  readonly values: readonly (readonly (FieldValue | null)[])[];
};

export interface DatabaseClient {
  write(write: DatabaseWrite): Promise<void>;
  execute(cluster: string, statement: string): Promise<void>;
  query(
    cluster: string,
    statement: string,
    signal: AbortSignal,
  ): Promise<readonly QueryResultSeries[]>;
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** A node's log line; the engine adds service and task. */
export interface TaskLog {
  log(
    level: LogLevel,
    nodeName: string,
    message: string,
    context?: Readonly<Record<string, unknown>>,
  ): void;
}

/** Sends points into the engine's own write path (kapacitorLoopback). */
export interface Loopback {
  write(database: string, retentionPolicy: string, points: readonly OutputPoint[]): void;
}

export type HttpRequest = {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly timeoutMs?: number | undefined;
};
export type HttpResponse = { readonly status: number; readonly body: string };

/** Outgoing HTTP of nodes (httpPost, sideload, autoscalers). */
export interface HttpClient {
  send(request: HttpRequest, signal: AbortSignal): Promise<HttpResponse>;
  /** A configured `[[httppost]]` endpoint by name. */
  endpoint(
    name: string,
  ):
    | {
        readonly url: string;
        readonly headers: Readonly<Record<string, string>>;
        readonly rowTemplate?: string | undefined;
      }
    | undefined;
}

export type TaskServices = {
  readonly alerts: AlertSink;
  readonly database: DatabaseClient;
  readonly loopback: Loopback;
  readonly http: HttpClient;
  readonly log: TaskLog;
  readonly server: {
    readonly hostname: string;
    readonly clusterId: string;
    readonly serverId: string;
  };
};
