// kafka: sends the event, or what a template makes of it, to a Kafka topic.
import { crc32 } from 'node:zlib';
import { InvalidRequest, messageOf, own, Unavailable } from '@tidemark/core';
import { readFileSync } from 'node:fs';
import type { ICustomPartitioner, KafkaConfig, Producer, SASLOptions } from 'kafkajs';
import {
  durationMs,
  flag,
  strings,
  text,
  bool,
  enabled,
  INSECURE_SKIP_VERIFY,
  list,
  secret,
  str,
  template,
  TLS_FILES,
} from '@tidemark/settings';
import type { SectionSpec, Options } from '@tidemark/settings';
import { printEventJson } from '../event.ts';
import type { Closable, HandlerContext, HandlerKind } from '../handler.ts';
import { templateScope } from '../handler.ts';
import { enabledSection } from './service.ts';
import { fnv1a, murmur2, murmur3 } from '../hash.ts';

const IDLE_MS = 60_000;

const HASHES: Readonly<Record<string, (bytes: Uint8Array) => number>> = {
  crc32: (bytes) => crc32(bytes),
  murmur2,
  murmur3,
  'fnv-1a': fnv1a,
};

const section: SectionSpec = {
  name: 'kafka',
  doc: 'Kafka clusters.',
  elementKey: 'id',
  options: [
    enabled(),
    str('id', 'Name of this element.', 'default'),
    list('brokers', 'Brokers, host:port.'),
    {
      name: 'timeout',
      type: 'duration',
      default: 10_000_000_000n,
      doc: 'Longest time of a request.',
    },
    {
      name: 'batch-size',
      type: 'integer',
      default: 100,
      doc: 'Accepted; every event is sent at once.',
    },
    {
      name: 'batch-timeout',
      type: 'duration',
      default: 1_000_000_000n,
      doc: 'Accepted; every event is sent at once.',
    },
    bool('use-ssl', 'Speak TLS.'),
    ...TLS_FILES,
    INSECURE_SKIP_VERIFY,
    str('sasl-username', 'User.'),
    secret('sasl-password', 'Password of the user.'),
    str('sasl-mechanism', '`PLAIN`, `SCRAM-SHA-256`, `SCRAM-SHA-512` or `OAUTHBEARER`.'),
    secret('sasl-access-token', 'Token for OAUTHBEARER.'),
  ],
  validate: (options) =>
    flag(options, 'enabled') && strings(options, 'brokers').length === 0
      ? 'no brokers specified, must provide at least one broker URL'
      : undefined,
};

export const kafka: HandlerKind = {
  kind: 'kafka',
  doc: 'Sends to a Kafka topic.',
  options: [
    str('cluster', 'Element of the configuration; empty is the only one.'),
    str('topic', 'Topic.'),
    template('template', 'Template of the value; empty sends the event as JSON.'),
    bool('disablePartitionById', 'Do not choose the partition by the event’s id.'),
    str('partitionAlgorithm', '`crc32`, `murmur2`, `murmur3` or `fnv-1a`.', 'crc32'),
  ],
  section,
  element: 'cluster',
  validate: (options, context) => {
    if (text(options, 'topic') === '') return 'topic must not be empty';
    const cluster = text(options, 'cluster');
    const isUnknown = cluster !== '' && context.section('kafka', cluster) === undefined;
    if (isUnknown) return unknownCluster(cluster);
    const algorithm = text(options, 'partitionAlgorithm');
    return algorithm === '' || algorithm in HASHES
      ? undefined
      : `invalid partition algorithm: ${JSON.stringify(algorithm)}`;
  },
  send: (event, options, context) => {
    const template = text(options, 'template');
    const isById = !flag(options, 'disablePartitionById');
    return produce(context, {
      cluster: text(options, 'cluster'),
      topic: text(options, 'topic'),
      key: event.id,
      value:
        template === '' ? printEventJson(event) : context.render(template, templateScope(event)),
      algorithm: isById ? text(options, 'partitionAlgorithm') || 'crc32' : '',
    });
  },
  tests: [
    {
      name: 'kafka',
      options: [
        str('cluster', 'Element of the configuration.', 'example'),
        str('topic', 'Topic.', 'test'),
        str('key', 'Key.', 'key'),
        str('message', 'Value.', 'test kafka message'),
      ],
      run: (options, context) =>
        produce(context, {
          cluster: text(options, 'cluster'),
          topic: text(options, 'topic'),
          key: text(options, 'key'),
          value: text(options, 'message'),
          algorithm: 'crc32',
        }),
    },
  ],
};

function unknownCluster(cluster: string): string {
  return `unknown cluster ${JSON.stringify(cluster)}`;
}

type KafkaConnection = Closable & { readonly producer: Producer };

async function produce(
  context: HandlerContext,
  record: {
    readonly cluster: string;
    readonly topic: string;
    readonly key: string;
    readonly value: string;
    /** '' leaves the choice of the partition to the client. */
    readonly algorithm: string;
  },
): Promise<void> {
  const { cluster, topic, key, value, algorithm } = record;
  const unknown = cluster === '' ? 'service is not enabled' : unknownCluster(cluster);
  const config = enabledSection(context, 'kafka', { id: cluster, unknown });
  const name = `kafka ${algorithm} ${JSON.stringify(config, (_key, item: unknown) => (typeof item === 'bigint' ? String(item) : item))}`;
  try {
    const { producer } = await context.connections.use<KafkaConnection>(name, IDLE_MS, () =>
      connect(config, algorithm, context),
    );
    await producer.send({ topic, messages: [{ key, value }] });
  } catch (cause) {
    await context.connections.discard(name);
    if (cause instanceof InvalidRequest) throw cause;
    throw new Unavailable(`kafka: ${messageOf(cause)}`, {
      cause,
    });
  }
}

async function connect(
  config: Options,
  algorithm: string,
  context: HandlerContext,
): Promise<KafkaConnection> {
  const { Kafka, logLevel, Partitioners } = await import('kafkajs');
  const timeoutMs = durationMs(config, 'timeout');
  const settings: KafkaConfig = {
    clientId: context.server.hostname,
    brokers: [...strings(config, 'brokers')],
    requestTimeout: timeoutMs,
    connectionTimeout: timeoutMs,
    // The handler's own queue repeats.
    retry: { retries: 0 },
    logLevel: logLevel.NOTHING,
    ...(flag(config, 'use-ssl') ? { ssl: tlsSettings(config) } : {}),
    ...saslSettings(config),
  };
  const hash = own(HASHES, algorithm);
  const producer = new Kafka(settings).producer({
    createPartitioner: hash === undefined ? Partitioners.DefaultPartitioner : partitioner(hash),
  });
  await producer.connect();
  return { producer, close: () => producer.disconnect() };
}

function partitioner(hash: (bytes: Uint8Array) => number): ICustomPartitioner {
  return () =>
    ({ message, partitionMetadata }) => {
      const key = Buffer.from(message.key ?? '');
      return (hash(key) >>> 0) % partitionMetadata.length;
    };
}

function tlsSettings(config: Options): {
  rejectUnauthorized: boolean;
  ca?: Buffer[];
  cert?: Buffer;
  key?: Buffer;
} {
  const read = (name: string): Buffer | undefined => {
    const path = text(config, name);
    return path === '' ? undefined : readFileSync(path);
  };
  const [ca, cert, key] = [read('ssl-ca'), read('ssl-cert'), read('ssl-key')];
  return {
    rejectUnauthorized: !flag(config, 'insecure-skip-verify'),
    ...(ca === undefined ? {} : { ca: [ca] }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  };
}

function saslSettings(config: Options): { sasl?: SASLOptions } {
  const username = text(config, 'sasl-username');
  const password = text(config, 'sasl-password');
  switch (text(config, 'sasl-mechanism').toUpperCase()) {
    case 'OAUTHBEARER': {
      const value = text(config, 'sasl-access-token');
      return {
        sasl: { mechanism: 'oauthbearer', oauthBearerProvider: () => Promise.resolve({ value }) },
      };
    }
    case 'SCRAM-SHA-256':
      return { sasl: { mechanism: 'scram-sha-256', username, password } };
    case 'SCRAM-SHA-512':
      return { sasl: { mechanism: 'scram-sha-512', username, password } };
    case 'PLAIN':
      return { sasl: { mechanism: 'plain', username, password } };
    default:
      return username === '' ? {} : { sasl: { mechanism: 'plain', username, password } };
  }
}
