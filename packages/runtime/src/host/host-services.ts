// The services of a task inside a task host: synchronous requests of nodes are answered here,
// everything else is sent to the engine's thread.
import { PointBatchBuilder } from '../point-batch.ts';
import { printPoints } from '../data/print-points.ts';
import type { ScalerProvider } from '@tidemark/pipeline';
import type {
  AlertEvent,
  AlertSink,
  DatabaseClient,
  HttpClient,
  HttpRequest,
  HttpResponse,
  OutputPoint,
  ScalerCluster,
  SideloadSources,
  TaskServices,
  UdfConnector,
} from '../services.ts';
import type { Inhibitions } from '../inhibitions.ts';
import { rememberedState } from '../remembered-state.ts';
import type { RememberedState } from '../remembered-state.ts';
import type { SideloadDocuments } from './hosted-services.ts';
import type { HostItem, ServiceCall, TaskStart } from './protocol.ts';

/** What services need from their host. */
export interface HostCalls {
  tell(item: HostItem): void;
  /** Rejects with the reason from the services of the engine. */
  call(task: number, call: ServiceCall, signal?: AbortSignal): Promise<unknown>;
}

/** The remembered states of topics, copied for the topics that tasks of this host publish to. */
export class EventStates {
  readonly #topics = new Map<string, Map<string, RememberedState>>();

  /** Tasks use the topic from now on. */
  open(topic: string, states: Iterable<readonly [eventId: string, state: RememberedState]>): void {
    this.#topics.set(topic, new Map(states));
  }

  close(topic: string): void {
    this.#topics.delete(topic);
  }

  set(topic: string, eventId: string, state: RememberedState): void {
    this.#topics.get(topic)?.set(eventId, state);
  }

  get(topic: string, eventId: string): RememberedState | undefined {
    return this.#topics.get(topic)?.get(eventId);
  }

  /** The states of a topic were deleted. */
  clear(topic: string): void {
    this.#topics.get(topic)?.clear();
  }
}

/** Copies of sideload documents, read again when the engine does. */
export class Sideloaded {
  readonly #sources = new Map<string, SideloadDocuments>();

  set(source: string, documents: SideloadDocuments): void {
    this.#sources.set(source, documents);
  }

  lookup(
    source: string,
    path: string,
    key: string,
  ): string | number | bigint | boolean | undefined {
    return this.#sources.get(source)?.get(path)?.get(key);
  }
}

export type HostServicesOptions = {
  readonly task: number;
  /** Without the saved state, which would stay in memory as long as the task. */
  readonly start: Omit<TaskStart, 'state'>;
  readonly outside: HostCalls;
  readonly eventStates: EventStates;
  readonly inhibitions: Inhibitions;
  readonly sideloaded: Sideloaded;
  readonly udf: UdfConnector;
  readonly server: TaskServices['server'];
};

/** Makes the services of one task. Its topics are open in `eventStates`. */
export function hostServices(options: HostServicesOptions): TaskServices {
  const { task, start, outside, server } = options;
  const signers = new WeakMap<HttpRequest, Signer>();
  return {
    sideload: start.hasSideload ? sideloadSources(options) : undefined,
    udf: options.udf,
    scalerCluster: scalerClusters(start, signers),
    alerts: alertSink(options),
    database: database(task, outside),
    loopback: {
      write: (databaseName, retentionPolicy, points, cause) => {
        const batch = pointBatch(databaseName, retentionPolicy, points);
        if (batch.rowCount > 0) outside.tell({ kind: 'loopback', task, batch, cause });
      },
    },
    http: httpClient(options, signers),
    log: {
      log: (level, nodeName, message, context) =>
        outside.tell({ kind: 'log', task, level, nodeName, message, context }),
    },
    server,
  };
}

type Signer = { readonly kind: ScalerProvider; readonly name: string };

function alertSink(options: HostServicesOptions): AlertSink {
  const { task, start, outside, eventStates, inhibitions } = options;
  const remember = (topic: string, event: AlertEvent): void => {
    eventStates.set(topic, event.id, rememberedState(event));
  };
  return {
    inhibitions: {
      set: (inhibition, isActive) => {
        if (!inhibitions.set(inhibition, isActive)) return;
        outside.tell({ kind: 'inhibit', task, inhibition, isActive });
      },
      isInhibited: (category, tagOf) => inhibitions.isInhibited(category, tagOf),
    },
    openAnonymousTopic: (topic, handlers) =>
      outside.tell({ kind: 'open-topic', task, topic, handlers }),
    closeAnonymousTopic: (topic) => outside.tell({ kind: 'close-topic', task, topic }),
    // Topics of a pipeline are opened when it is sent to the host.
    openTopic: () => undefined,
    publish: (topic, event) => {
      remember(topic, event);
      outside.tell({ kind: 'publish', task, topic, event });
    },
    lastCause: () => start.lastCause,
    eventState: (topic, eventId) => eventStates.get(topic, eventId),
    updateEvent: (topic, event) => {
      remember(topic, event);
      outside.tell({ kind: 'update-event', task, topic, event });
    },
  };
}

function database(task: number, outside: HostCalls): DatabaseClient {
  return {
    write: async ({ points, ...target }) => {
      const { cluster, database: name, retentionPolicy, precision, consistency } = target;
      // Printed here: it costs more than the rest of the write, and text is sent as one value.
      const body = printPoints(points, precision);
      if (body === '') return;
      await outside.call(task, {
        name: 'write',
        cluster,
        database: name,
        retentionPolicy,
        precision,
        consistency,
        body,
      });
    },
    execute: async (cluster, statement) => {
      await outside.call(task, { name: 'execute', cluster, statement });
    },
    query: async (cluster, statement, signal) =>
      (await outside.call(task, { name: 'query', cluster, statement }, signal)) as Awaited<
        ReturnType<DatabaseClient['query']>
      >,
  };
}

function httpClient(
  { task, start, outside }: HostServicesOptions,
  signers: WeakMap<HttpRequest, Signer>,
): HttpClient {
  return {
    send: async (request, signal) => {
      const call = { name: 'http', request, signer: signers.get(request) } as const;
      return (await outside.call(task, call, signal)) as HttpResponse;
    },
    endpoint: (name) => start.endpoints.get(name),
  };
}

function sideloadSources({ task, outside, sideloaded }: HostServicesOptions): SideloadSources {
  return {
    open: async (source) => {
      const documents = await outside.call(task, { name: 'open-sideload', source });
      sideloaded.set(source, documents as SideloadDocuments);
      return {
        lookup: (path, key) => sideloaded.lookup(source, path, key),
        close: () => outside.tell({ kind: 'close-sideload', source }),
      };
    },
  };
}

/**
 * Clusters without their secrets: a request that has to be signed is marked, and signed where it is
 * sent.
 */
function scalerClusters(
  start: HostServicesOptions['start'],
  signers: WeakMap<HttpRequest, Signer>,
): TaskServices['scalerCluster'] {
  return (kind, name): ScalerCluster | undefined => {
    const entry = start.scalers.find((each) => each.kind === kind && each.name === name);
    if (entry === undefined) return undefined;
    const { url, headers, namespace } = entry;
    if (!entry.isSigned) return { url, headers, namespace };
    const sign = (request: HttpRequest): HttpRequest => {
      const marked = { ...request };
      signers.set(marked, { kind, name });
      return marked;
    };
    return { url, headers, namespace, sign };
  };
}

function pointBatch(
  databaseName: string,
  retentionPolicy: string,
  points: readonly OutputPoint[],
): ReturnType<PointBatchBuilder['build']> {
  const builder = new PointBatchBuilder(databaseName, retentionPolicy);
  for (const { name, tags, fields, time } of points) {
    const present = [...fields].flatMap(([field, value]) =>
      value === null ? [] : [[field, value] as const],
    );
    if (present.length > 0) builder.add({ name, tags, fields: present, time });
  }
  return builder.build();
}
