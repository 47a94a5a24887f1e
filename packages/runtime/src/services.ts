// The services that running nodes need from outside their task. The engine implements these; tests
// use recorders.
import type { InhibitionRegistry } from './inhibitions.ts';
import type { FieldValue, TagSet, Timestamp } from '@tidemark/core';
import type { HandlerSpec, ScalerProvider } from '@tidemark/pipeline';
import type { EventCause } from './event-cause.ts';
import type { RememberedState } from './remembered-state.ts';

/**
 * A point in the output of a task: output rows, events, writes. `null` is a field whose value is
 * null.
 */
export type OutputPoint = {
  readonly name: string;
  readonly tags: TagSet;
  readonly fields: ReadonlyMap<string, FieldValue | null>;
  readonly time: Timestamp;
};

/** A row of a result: the form in httpOut, httpPost and alert data. */
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
  /** The data of templates in handler options and match expressions. */
  readonly context: {
    readonly name: string;
    readonly taskName: string;
    readonly group: string;
    readonly category: string;
    readonly tags: Readonly<Record<string, string>>;
    readonly fields: Readonly<Record<string, FieldValue | null>>;
  };
  /** The row of the log of points that caused it, if one did. */
  readonly cause?: EventCause | undefined;
};

/**
 * Topics, as the alert node sees them. Calls cross a thread: they return at once and are ordered.
 */
export interface AlertSink {
  /** Inhibitions of events by all tasks. */
  readonly inhibitions: InhibitionRegistry;
  /**
   * Opens the anonymous topic of a node with the handlers of its script. Called before the first
   * event.
   */
  openAnonymousTopic(topic: string, handlers: readonly HandlerSpec[]): void;
  closeAnonymousTopic(topic: string): void;
  /** A script refers to a named topic: it exists from now on. */
  openTopic(topic: string): void;
  publish(topic: string, event: AlertEvent): void;
  /** The cause of the last event of a unit that had one. */
  lastCause(unit: string): EventCause | undefined;
  /** The topic's state, for restoring a group's state. */
  eventState(topic: string, eventId: string): RememberedState | undefined;
  /** Sets a topic's state without calling its handlers. */
  updateEvent(topic: string, event: AlertEvent): void;
}

/** The target of influxDBOut. */
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
  /** `cause` is the row of the log of points that caused the points, if there is one. */
  write(
    database: string,
    retentionPolicy: string,
    points: readonly OutputPoint[],
    cause?: EventCause,
  ): void;
}

export type HttpRequest = {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly timeoutMs?: number | undefined;
  /** Files and checks of an https connection. */
  readonly tls?:
    | {
        readonly caFile?: string | undefined;
        readonly certificateFile?: string | undefined;
        readonly keyFile?: string | undefined;
        readonly isVerificationSkipped?: boolean | undefined;
      }
    | undefined;
};
export type HttpResponse = { readonly status: number; readonly body: string };

/** Outgoing HTTP of nodes (httpPost, sideload, autoscalers). */
export interface HttpClient {
  send(request: HttpRequest, signal: AbortSignal): Promise<HttpResponse>;
  /** A configured `[[httppost]]` endpoint by name. */
  endpoint(name: string):
    | {
        readonly url: string;
        readonly headers: Readonly<Record<string, string>>;
        readonly rowTemplate?: string | undefined;
      }
    | undefined;
}

/** A tree of values by path, as sideload reads it: `host/a.yml` → `{limit: 5}`. */
export interface SideloadTree {
  /** Value of `key` in the document at `path`; `undefined` when either is absent. */
  lookup(path: string, key: string): string | number | bigint | boolean | undefined;
  close(): void;
}

/** Opens sideload sources: directories, URLs, configured endpoints. The opener reloads them. */
export interface SideloadSources {
  open(source: string): Promise<SideloadTree>;
}

/** A byte stream to a user-defined function: a child process or a unix socket. */
export interface UdfConnection {
  send(bytes: Uint8Array): void;
  onData(listener: (bytes: Uint8Array) => void): void;
  /** The other side closed; `reason` if that was unexpected. */
  onEnd(listener: (reason: string | undefined) => void): void;
  /** No more requests follow; the function finishes writing and exits. */
  end(): void;
  kill(): void;
}

export interface UdfConnector {
  connect(functionName: string): Promise<UdfConnection>;
  /** 0: no keep-alive. */
  timeoutMs(functionName: string): number;
}

/** A configured cluster for autoscale nodes. */
export type ScalerCluster = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Default namespace (kubernetes) or region (ec2). */
  readonly namespace: string;
  /** Signs requests if the provider requires it. */
  readonly sign?: ((request: HttpRequest) => HttpRequest | Promise<HttpRequest>) | undefined;
};

export type ScalerClusters = (kind: ScalerProvider, name: string) => ScalerCluster | undefined;

/** The services that the nodes of a task use. */
export type TaskServices = {
  readonly sideload?: SideloadSources | undefined;
  readonly udf?: UdfConnector | undefined;
  /** A configured cluster of `k8s`, `swarm` or `ec2`; '' is the default. */
  readonly scalerCluster: ScalerClusters;
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
