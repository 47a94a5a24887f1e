// kafka: sends the event, or the output of a template, to a Kafka topic.
import { kafkaHandler } from '@tidemark/pipeline';
import { crc32 } from 'node:zlib';
import { InvalidRequest, messageOf, own, Unavailable } from '@tidemark/core';
import { readFileSync } from 'node:fs';
import type { ICustomPartitioner, KafkaConfig, Producer, SASLOptions } from 'kafkajs';
import {
  INSECURE_SKIP_VERIFY,
  TLS_FILES,
  bool,
  defineSection,
  duration,
  durationMs,
  enabled,
  integer,
  list,
  secret,
  str,
} from '@tidemark/settings';
import type { OptionsOf } from '@tidemark/settings';
import { printEventJson } from '../event.ts';
import type { Closable, HandlerContext } from '../handler.ts';
import { defineTest, deliver, templateScope } from '../handler.ts';
import { enabledSection } from './service.ts';
import { fnv1a, murmur2, murmur3 } from '../hash.ts';

const IDLE_MS = 60_000;

const HASHES: Readonly<Record<string, (bytes: Uint8Array) => number>> = {
  crc32: (bytes) => crc32(bytes),
  murmur2,
  murmur3,
  'fnv-1a': fnv1a,
};

const section = defineSection({
  name: 'kafka',
  doc: 'Kafka clusters.',
  elementKey: 'id',
  options: {
    ...enabled(),
    id: str('Name of this element.', 'default'),
    brokers: list('Brokers, host:port.'),
    timeout: duration('Longest time of a request.', '10s'),
    'batch-size': integer('Accepted; every event is sent at once.', 100),
    'batch-timeout': duration('Accepted; every event is sent at once.', '1s'),
    'use-ssl': bool('Speak TLS.'),
    ...TLS_FILES,
    ...INSECURE_SKIP_VERIFY,
    'sasl-username': str('User.'),
    'sasl-password': secret('Password of the user.'),
    'sasl-mechanism': str('`PLAIN`, `SCRAM-SHA-256`, `SCRAM-SHA-512` or `OAUTHBEARER`.'),
    'sasl-access-token': secret('Token for OAUTHBEARER.'),
  },
  validate: (options) =>
    options.enabled && (options.brokers ?? []).length === 0
      ? 'no brokers specified, must provide at least one broker URL'
      : undefined,
});

type Config = OptionsOf<typeof section.options>;

export const kafka = deliver(kafkaHandler, {
  section,
  element: 'cluster',
  validate: (options, context) => {
    if (options.topic === '') return 'topic must not be empty';
    const { cluster } = options;
    if (context.section(section, cluster)?.enabled !== true) return unknownCluster(cluster);
    const algorithm = options.partitionAlgorithm;
    return algorithm === '' || algorithm in HASHES
      ? undefined
      : `invalid partition algorithm: ${JSON.stringify(algorithm)}`;
  },
  send: (event, options, context) => {
    const template = options.template;
    const isById = !options.disablePartitionById;
    return produce(context, {
      cluster: options.cluster,
      topic: options.topic,
      key: event.id,
      value:
        template === '' ? printEventJson(event) : context.render(template, templateScope(event)),
      algorithm: isById ? options.partitionAlgorithm || 'crc32' : '',
    });
  },
  tests: [
    defineTest({
      name: 'kafka',
      options: {
        cluster: str('Element of the configuration.', 'example'),
        topic: str('Topic.', 'test'),
        key: str('Key.', 'key'),
        message: str('Value.', 'test kafka message'),
      },
      run: (options, context) =>
        produce(context, {
          cluster: options.cluster,
          topic: options.topic,
          key: options.key,
          value: options.message,
          algorithm: 'crc32',
        }),
    }),
  ],
});

function unknownCluster(cluster: string): string {
  return cluster === ''
    ? 'no kafka cluster is configured and enabled'
    : `unknown cluster ${JSON.stringify(cluster)}`;
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
  const config = enabledSection(context, section, {
    id: cluster,
    unknown: unknownCluster(cluster),
  });
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
  config: Config,
  algorithm: string,
  context: HandlerContext,
): Promise<KafkaConnection> {
  const { Kafka, logLevel, Partitioners } = await import('kafkajs');
  const timeoutMs = durationMs(config.timeout);
  const settings: KafkaConfig = {
    clientId: context.server.hostname,
    brokers: [...(config.brokers ?? [])],
    requestTimeout: timeoutMs,
    connectionTimeout: timeoutMs,
    // The handler's own queue retries.
    retry: { retries: 0 },
    logLevel: logLevel.NOTHING,
    ...(config['use-ssl'] ? { ssl: tlsSettings(config) } : {}),
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

function tlsSettings(config: Config): {
  rejectUnauthorized: boolean;
  ca?: Buffer[];
  cert?: Buffer;
  key?: Buffer;
} {
  const read = (name: keyof typeof TLS_FILES): Buffer | undefined => {
    const path = config[name];
    return path === '' ? undefined : readFileSync(path);
  };
  const [ca, cert, key] = [read('ssl-ca'), read('ssl-cert'), read('ssl-key')];
  return {
    rejectUnauthorized: !config['insecure-skip-verify'],
    ...(ca === undefined ? {} : { ca: [ca] }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  };
}

function saslSettings(config: Config): { sasl?: SASLOptions } {
  const username = config['sasl-username'];
  const password = config['sasl-password'];
  switch (config['sasl-mechanism'].toUpperCase()) {
    case 'OAUTHBEARER': {
      const value = config['sasl-access-token'];
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
