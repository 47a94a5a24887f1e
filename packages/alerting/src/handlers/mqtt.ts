// mqtt: publishes the message of an event to a broker.
import { mqttHandler } from '@tidemark/pipeline';
import { InvalidRequest, messageOf, Unavailable } from '@tidemark/core';
import { readFileSync } from 'node:fs';
import type { MqttClient } from 'mqtt';
import {
  INSECURE_SKIP_VERIFY,
  TLS_FILES,
  bool,
  defineSection,
  enabled,
  requireWhenEnabled,
  secret,
  str,
} from '@tidemark/settings';
import type { OptionsOf } from '@tidemark/settings';
import type { Closable, HandlerContext } from '../handler.ts';
import { defineTest, deliver, templateScope } from '../handler.ts';
import { enabledSection } from './service.ts';

const QUALITIES: readonly string[] = ['at-most-once', 'at-least-once', 'exactly-one'];
const IDLE_MS = 60_000;
const CONNECT_TIMEOUT_MS = 10_000;

const section = defineSection({
  name: 'mqtt',
  doc: 'MQTT brokers.',
  elementKey: 'name',
  options: {
    ...enabled(),
    name: str('Name of this element.', 'default'),
    default: bool('The broker that is used when a handler names none.'),
    url: str('URL of the broker, `tcp://host:1883` or `ssl://host:8883`.'),
    ...TLS_FILES,
    ...INSECURE_SKIP_VERIFY,
    'client-id': str('Id of the client; empty is the name.'),
    username: str('User.'),
    password: secret('Password of the user.'),
  },
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
    const used = elements.filter((options) => options.enabled);
    const defaults = used.filter((options) => options.default);
    if (defaults.length > 1) return 'more than one configuration is marked as the default';
    return used.length > 1 && defaults.length === 0
      ? 'no configuration is marked as the default'
      : undefined;
  },
});

type Config = OptionsOf<typeof section.options>;

export const mqtt = deliver(mqttHandler, {
  section,
  element: 'broker-name',
  validate: (options) => {
    if (options.topic === '') return 'missing MQTT topic';
    const qos = options.qos;
    return qos === '' || QUALITIES.includes(qos) ? undefined : `invalid qos ${JSON.stringify(qos)}`;
  },
  send: (event, options, context) => {
    const topic = context.render(options.topic, templateScope(event));
    return publish(context, { options, topic, message: event.message });
  },
  tests: [
    defineTest({
      name: 'mqtt',
      options: {
        'broker-name': str('Element of the configuration.'),
        topic: str('Topic.'),
        message: str('Text.', 'test MQTT message'),
        qos: str('Quality of service.', 'at-most-once'),
        retained: bool('The broker retains the message.'),
      },
      run: (options, context) =>
        publish(context, {
          options,
          topic: options.topic,
          message: options.message,
        }),
    }),
  ],
});

type MqttConnection = Closable & { readonly client: MqttClient };

async function publish(
  context: HandlerContext,
  {
    options,
    topic,
    message,
  }: {
    readonly options: OptionsOf<typeof mqttHandler.options>;
    readonly topic: string;
    readonly message: string;
  },
): Promise<void> {
  const broker = options['broker-name'];
  const unknown =
    broker === '' ? 'service is not enabled' : `unknown MQTT broker ${JSON.stringify(broker)}`;
  const config = enabledSection(context, section, { id: broker, unknown });
  if (topic === '') throw new InvalidRequest('missing MQTT topic');
  const key = `mqtt ${JSON.stringify(config)}`;
  const qos = Math.max(0, QUALITIES.indexOf(options.qos)) as 0 | 1 | 2;
  try {
    const { client } = await context.connections.use<MqttConnection>(key, IDLE_MS, () =>
      connect(config),
    );
    await client.publishAsync(topic, message, { qos, retain: options.retained });
  } catch (cause) {
    await context.connections.discard(key);
    if (cause instanceof InvalidRequest) throw cause;
    throw new Unavailable(`mqtt: ${messageOf(cause)}`, {
      cause,
    });
  }
}

async function connect(config: Config): Promise<MqttConnection> {
  const { connectAsync } = await import('mqtt');
  const url = config.url.replace(/^ssl:/, 'mqtts:').replace(/^tcp:/, 'mqtt:');
  const username = config.username;
  const client = await connectAsync(
    url,
    {
      clientId: config['client-id'] || config.name,
      rejectUnauthorized: !config['insecure-skip-verify'],
      connectTimeout: CONNECT_TIMEOUT_MS,
      // The handler's own queue retries; the client must not keep messages of its own.
      reconnectPeriod: 0,
      ...(username === '' ? {} : { username, password: config.password }),
      ...fileOption('ca', config['ssl-ca']),
      ...fileOption('cert', config['ssl-cert']),
      ...fileOption('key', config['ssl-key']),
    },
    false,
  );
  // A connection that breaks while it is idle is noticed by the next publish.
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
