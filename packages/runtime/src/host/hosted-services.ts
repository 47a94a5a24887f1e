// The engine thread's services for a task in a task host. Such a task sends its writes as text and
// columns, and keeps copies of data that it needs without waiting.
import type { HandlerSpec } from '@tidemark/pipeline';
import type { PointBatch } from '../point-batch.ts';
import type { EventCause } from '../event-cause.ts';
import type { Inhibitions } from '../inhibitions.ts';
import type { RememberedState } from '../remembered-state.ts';
import type {
  AlertEvent,
  DatabaseClient,
  DatabaseWrite,
  HttpClient,
  ScalerClusters,
  TaskLog,
} from '../services.ts';

/** Topics of the engine. */
export interface HostedAlerts {
  readonly inhibitions: Inhibitions;
  openAnonymousTopic(topic: string, handlers: readonly HandlerSpec[]): void;
  closeAnonymousTopic(topic: string): void;
  openTopic(topic: string): void;
  publish(topic: string, event: AlertEvent): void;
  updateEvent(topic: string, event: AlertEvent): void;
  /** As in `AlertSink`. */
  lastCause(unit: string): EventCause | undefined;
  /**
   * All remembered states of a topic; requested for the first task of a host that publishes to it.
   */
  eventStates(topic: string): Iterable<readonly [eventId: string, state: RememberedState]>;
}

/**
 * Called for every change of a topic's remembered state; without an event id the whole topic is
 * gone.
 */
export type StateListener = (
  topic: string,
  eventId: string | undefined,
  state: RememberedState | undefined,
) => void;

/** Returns a function that stops following. */
export type FollowStates = (listener: StateListener) => () => void;

export interface HostedDatabase extends Pick<DatabaseClient, 'execute' | 'query'> {
  /** Points as line protocol whose times have the write's precision. */
  writeLines(write: Omit<DatabaseWrite, 'points'>, body: string): Promise<void>;
}

export interface HostedLoopback {
  /** `cause` as in `Loopback`. */
  writeBatch(batch: PointBatch, cause: EventCause | undefined): void;
}

/** Values by path and key. */
export type SideloadDocuments = ReadonlyMap<
  string,
  ReadonlyMap<string, string | number | bigint | boolean>
>;

/** A sideload source that can be copied. */
export interface HostedSideloadTree {
  /** All documents of the source, at once and again whenever the source was reloaded. */
  follow(listener: (documents: SideloadDocuments) => void): void;
  close(): void;
}

export interface HostedSideloadSources {
  open(source: string): Promise<HostedSideloadTree>;
}

/** The services of one task. */
export type HostedTaskServices = {
  readonly alerts: HostedAlerts;
  readonly database: HostedDatabase;
  readonly loopback: HostedLoopback;
  readonly http: HttpClient;
  readonly log: TaskLog;
  readonly scalerCluster: ScalerClusters;
  readonly sideload: HostedSideloadSources | undefined;
};
