// The coordinator: a NATS server or cluster with JetStream. Streams hold a register of small
// values, which are changed by compare-and-set on their revision, and logs
// (docs/adr/0020-engine-cluster.md).
import { jetstream, JetStreamApiCodes, jetstreamManager, StorageType } from '@nats-io/jetstream';
import type { JetStreamClient, JetStreamManager, StreamConfig } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import type { NatsConnection } from '@nats-io/transport-node';
import { InvalidRequest, messageOf, Unavailable } from '@tidemark/core';

import { isApiError, isWithoutJetStream } from './answered.ts';
import type { Coordinator } from './coordinator.ts';
import { LIMITS, MESSAGE_FRAME_BYTES } from './limits.ts';
import { MessageLog } from './message-log.ts';
import { Register } from './register.ts';

export type CoordinatorOptions = {
  /** `nats://host:port` or `tls://host:port`. */
  readonly urls: readonly string[];
  /** `user:password`; '' if the coordinator requires none. */
  readonly login: string;
  /** Name of the cluster; its instances share their work. */
  readonly name: string;
  /** Number of NATS servers that store each value. */
  readonly replicas: number;
};

const NAME = /^[A-Za-z0-9_-]{1,64}$/;

export class NatsCoordinator implements Coordinator {
  readonly register: Register;
  /** The log of changes to the definitions and other stored data of the instances. */
  readonly changes: MessageLog;
  /** The log of accepted points. */
  readonly points: MessageLog;
  readonly #connection: NatsConnection;

  private constructor(
    connection: NatsConnection,
    parts: Pick<NatsCoordinator, 'register' | 'changes' | 'points'>,
  ) {
    this.#connection = connection;
    this.register = parts.register;
    this.changes = parts.changes;
    this.points = parts.points;
  }

  /** Throws `Unavailable` if no server answers, or the server has no JetStream. */
  static async open(options: CoordinatorOptions): Promise<NatsCoordinator> {
    const { urls, name } = options;
    if (!NAME.test(name))
      throw new InvalidRequest(
        `cluster.name must be letters, digits, _ and -, at most 64: ${JSON.stringify(name)}`,
      );
    if (urls.length === 0)
      throw new InvalidRequest('cluster.coordinator must name at least one server');
    const connection = await connectTo({ ...options, isPatient: true });
    try {
      const manager = await jetstreamManager(connection, { timeout: LIMITS.requestMs.value });
      const client = jetstream(connection, { timeout: LIMITS.requestMs.value });
      const [register, changes, points] = await openStreams(manager, options);
      const payloadBytesMax = connection.info?.max_payload ?? 1_048_576;
      const access: StreamAccess = {
        client,
        manager,
        bytesMax: payloadBytesMax - MESSAGE_FRAME_BYTES,
        purgesExactly: options.replicas === 1 || purgesExactly(connection.info?.version ?? ''),
      };
      return new NatsCoordinator(connection, {
        register: new Register(access, register),
        changes: new MessageLog(access, changes),
        points: new MessageLog(access, points),
      });
    } catch (error) {
      await connection.close();
      throw unavailable(urls, error);
    }
  }

  /** Checks that the server at a URL answers and has JetStream. Throws `Unavailable` if not. */
  static async check(url: string): Promise<void> {
    const connection = await connectTo({ urls: [url], login: '', isPatient: false });
    try {
      const manager = await jetstreamManager(connection, { timeout: LIMITS.requestMs.value });
      await manager.getAccountInfo();
    } catch (error) {
      throw unavailable([url], error);
    } finally {
      await connection.close();
    }
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }
}

/** A stream and the subject of its messages. */
export type StreamNames = { readonly stream: string; readonly subject: string };

export type StreamAccess = {
  readonly client: JetStreamClient;
  readonly manager: JetStreamManager;
  /** The largest payload of a message. */
  readonly bytesMax: number;
  /**
   * Whether a server that was restarted purges what it was asked to. Replicated streams of versions
   * before 2.9.18 repeat a purge as one of all messages that they had then
   * (https://github.com/nats-io/nats-server/issues/4196).
   */
  readonly purgesExactly: boolean;
};

async function connectTo({
  urls,
  login,
  isPatient,
}: Pick<CoordinatorOptions, 'urls' | 'login'> & {
  /** Reconnects whenever the connection is lost. */
  readonly isPatient: boolean;
}): Promise<NatsConnection> {
  const [first = ''] = urls;
  const [user = '', ...password] = login.split(':');
  try {
    return await connect({
      servers: urls.map(serverOf),
      ...(user === '' ? {} : { user, pass: password.join(':') }),
      ...(first.startsWith('tls:') ? { tls: {} } : {}),
      reconnect: isPatient,
      maxReconnectAttempts: -1,
      reconnectTimeWait: 200,
      reconnectJitter: 100,
      // A cut network closes no connection; pings notice it after this time.
      pingInterval: 1000,
      maxPingOut: 2,
      timeout: LIMITS.requestMs.value,
    });
  } catch (error) {
    throw unavailable(urls, error);
  }
}

/** The first version whose replicated streams do, see `StreamAccess`. */
const PURGES_EXACTLY_FROM = [2, 9, 18];

/** `version` is that of a server, such as `2.9.10`. */
export function purgesExactly(version: string): boolean {
  const parts = version.split(/[.-]/).map(Number);
  const at = PURGES_EXACTLY_FROM.findIndex((least, i) => parts[i] !== least);
  return at < 0 || (parts[at] ?? 0) > (PURGES_EXACTLY_FROM[at] ?? 0);
}

function serverOf(url: string): string {
  const { hostname, port } = parse(url);
  return `${hostname}:${port === '' ? '4222' : port}`;
}

function parse(url: string): URL {
  if (!/^(?:nats|tls):\/\//.test(url) || !URL.canParse(url))
    throw new InvalidRequest(
      `cluster.coordinator must be URLs like nats://host:4222 or tls://host:4222, the user in cluster.login`,
    );
  return new URL(url);
}

function unavailable(urls: readonly string[], error: unknown): Unavailable {
  const servers = urls.map(serverOf).join(', ');
  const hint = isWithoutJetStream(error) ? ': it has no JetStream, start it with --jetstream' : '';
  return new Unavailable(
    `the coordinator of the cluster cannot be used at ${servers}: ${messageOf(error)}${hint}`,
    { cause: error },
  );
}

async function openStreams(
  manager: JetStreamManager,
  { name, replicas }: CoordinatorOptions,
): Promise<readonly [StreamNames, StreamNames, StreamNames]> {
  const stream = `TIDEMARK_${name}`;
  const subject = `tidemark.${name}`;
  const common = { storage: StorageType.File, num_replicas: replicas };
  const register = { stream: `${stream}_register`, subject: `${subject}.register` };
  const changes = { stream: `${stream}_changes`, subject: `${subject}.changes` };
  const points = { stream: `${stream}_points`, subject: `${subject}.points` };
  await ensure(manager, {
    ...common,
    name: register.stream,
    subjects: [`${register.subject}.>`],
    max_msgs_per_subject: 1,
  });
  for (const log of [changes, points])
    await ensure(manager, {
      ...common,
      name: log.stream,
      subjects: [log.subject, `${log.subject}.>`],
    });
  return [register, changes, points];
}

async function ensure(
  manager: JetStreamManager,
  config: Partial<StreamConfig> & Pick<StreamConfig, 'name' | 'subjects'>,
): Promise<void> {
  const { name, subjects } = config;
  try {
    const { config: existing } = await manager.streams.info(name);
    // Logs of earlier versions have one subject.
    if (!subjects.every((subject) => existing.subjects.includes(subject)))
      await manager.streams.update(name, { subjects });
  } catch (error) {
    if (!isApiError(error, JetStreamApiCodes.StreamNotFound)) throw error;
    // Another instance may create the same stream at this moment; the server treats both alike.
    await manager.streams.add(config);
  }
}
