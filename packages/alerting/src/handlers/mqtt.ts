// mqtt: publishes the message of an event to a broker.
import { InvalidRequest, messageOf, Unavailable } from '@tidemark/core';
import { readFileSync } from 'node:fs';
import type { MqttClient } from 'mqtt';
import {
  flag,
  text,
  bool,
  enabled,
  INSECURE_SKIP_VERIFY,
  requireWhenEnabled,
  secret,
  str,
  template,
  TLS_FILES,
} from '@tidemark/settings';
import type { SectionSpec, Options } from '@tidemark/settings';
import type { Closable, HandlerContext, HandlerKind } from '../handler.ts';
import { templateScope } from '../handler.ts';
import { enabledSection } from './service.ts';

const QUALITIES: readonly string[] = ['at-most-once', 'at-least-once', 'exactly-one'];
const IDLE_MS = 60_000;
const CONNECT_TIMEOUT_MS = 10_000;

const section: SectionSpec = {
  name: 'mqtt',
  doc: 'MQTT brokers.',
  elementKey: 'name',
  options: [
    enabled(),
    str('name', 'Name of this element.', 'default'),
    bool('default', 'The broker that is used when a handler names none.'),
    str('url', 'URL of the broker, `tcp://host:1883` or `ssl://host:8883`.'),
    ...TLS_FILES,
    INSECURE_SKIP_VERIFY,
    str('client-id', 'Id of the client; empty is the name.'),
    str('username', 'User.'),
    secret('password', 'Password of the user.'),
  ],
  defaultElements: [
    {
      enabled: false,
      name: 'default',
      default: false,
      url: '',
      'ssl-ca': '',
      'ssl-cert': '',
      'ssl-key': '',
      'insecure-skip-verify': false,
      'client-id': '',
      username: '',
      password: '',
    },
  ],
  validate: (options) =>
    requireWhenEnabled(options, { url: 'must specify a url for mqtt service' }),
  validateAll: (elements) => {
    const used = elements.filter((options) => flag(options, 'enabled'));
    const defaults = used.filter((options) => flag(options, 'default'));
    if (defaults.length > 1) return 'more than one configuration is marked as the default';
    return used.length > 1 && defaults.length === 0
      ? 'no configuration is marked as the default'
      : undefined;
  },
};

const messageOptions = [
  str('broker-name', 'Element of the configuration; empty is the default one.'),
  template('topic', 'Template of the topic.'),
  str('qos', '`at-most-once`, `at-least-once` or `exactly-one`.', 'at-most-once'),
  bool('retained', 'The broker keeps the message for new subscribers.'),
];

export const mqtt: HandlerKind = {
  kind: 'mqtt',
  doc: 'Publishes the message to an MQTT topic.',
  options: messageOptions,
  section,
  element: 'broker-name',
  validate: (options) => {
    if (text(options, 'topic') === '') return 'missing MQTT topic';
    const qos = text(options, 'qos');
    return qos === '' || QUALITIES.includes(qos) ? undefined : `invalid qos ${JSON.stringify(qos)}`;
  },
  send: (event, options, context) => {
    const topic = context.render(text(options, 'topic'), templateScope(event));
    return publish(context, { options, topic, message: event.message });
  },
  tests: [
    {
      name: 'mqtt',
      options: [
        str('broker-name', 'Element of the configuration.'),
        str('topic', 'Topic.'),
        str('message', 'Text.', 'test MQTT message'),
        str('qos', 'Quality of service.', 'at-most-once'),
        bool('retained', 'The broker keeps the message.'),
      ],
      run: (options, context) =>
        publish(context, {
          options,
          topic: text(options, 'topic'),
          message: text(options, 'message'),
        }),
    },
  ],
};

type MqttConnection = Closable & { readonly client: MqttClient };

async function publish(
  context: HandlerContext,
  {
    options,
    topic,
    message,
  }: {
    readonly options: Options;
    readonly topic: string;
    readonly message: string;
  },
): Promise<void> {
  const broker = text(options, 'broker-name');
  const unknown =
    broker === '' ? 'service is not enabled' : `unknown MQTT broker ${JSON.stringify(broker)}`;
  const config = enabledSection(context, 'mqtt', { id: broker, unknown });
  if (topic === '') throw new InvalidRequest('missing MQTT topic');
  const key = `mqtt ${JSON.stringify(config)}`;
  const qos = Math.max(0, QUALITIES.indexOf(text(options, 'qos'))) as 0 | 1 | 2;
  try {
    const { client } = await context.connections.use<MqttConnection>(key, IDLE_MS, () =>
      connect(config),
    );
    await client.publishAsync(topic, message, { qos, retain: flag(options, 'retained') });
  } catch (cause) {
    await context.connections.discard(key);
    if (cause instanceof InvalidRequest) throw cause;
    throw new Unavailable(`mqtt: ${messageOf(cause)}`, {
      cause,
    });
  }
}

async function connect(config: Options): Promise<MqttConnection> {
  const { connectAsync } = await import('mqtt');
  const url = text(config, 'url').replace(/^ssl:/, 'mqtts:').replace(/^tcp:/, 'mqtt:');
  const username = text(config, 'username');
  const client = await connectAsync(
    url,
    {
      clientId: text(config, 'client-id') || text(config, 'name'),
      rejectUnauthorized: !flag(config, 'insecure-skip-verify'),
      connectTimeout: CONNECT_TIMEOUT_MS,
      // The handler's own queue repeats; the client must not keep messages of its own.
      reconnectPeriod: 0,
      ...(username === '' ? {} : { username, password: text(config, 'password') }),
      ...fileOption('ca', text(config, 'ssl-ca')),
      ...fileOption('cert', text(config, 'ssl-cert')),
      ...fileOption('key', text(config, 'ssl-key')),
    },
    false,
  );
  // A connection that breaks while it is idle is found by the next publish.
  client.on('error', () => undefined);
  return { client, close: () => client.endAsync(true) };
}

function fileOption(name: string, path: string): Record<string, Buffer> {
  if (path === '') return {};
  try {
    return { [name]: readFileSync(path) };
  } catch (cause) {
    throw new InvalidRequest(`cannot read TLS file. option=\`ssl-${name}\` file=\`${path}\``, {
      cause,
    });
  }
}
