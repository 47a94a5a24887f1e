// Handlers that hand events on: HTTP, TCP, brokers, files, programs, traps.
import { parameter, variadic } from '../evaluate/parameter.ts';
import {
  appended,
  boolean,
  duration,
  entry,
  flag,
  integer,
  text,
} from '../definition/handler-definition.ts';
import type { HandlerProperty, HandlerRow } from '../definition/handler-definition.ts';

const OWNER_WRITE = 0o200;

/** `.data('1.3.6.1.4.1.1', 's', '{{ .ID }}')`, repeatable. */
const trapData: HandlerProperty = {
  name: 'data',
  summary: 'adds a value: its oid, type (c i n s t) and template',
  style: 'call',
  parameters: [
    parameter('oid', 'string'),
    parameter('type', 'string'),
    parameter('value', 'string'),
  ],
  apply: (options, values) =>
    appended(options, 'data-list', [
      { oid: values.string(0), type: values.string(1), value: values.string(2) },
    ]),
};

const MQTT_QUALITIES = ['at-most-once', 'at-least-once', 'exactly-one'];

const mqttQuality: HandlerProperty = {
  ...integer('qos', 'qos', 'quality of service: 0, 1 or 2'),
  apply: (options, values) => {
    const level = values.integer(0);
    const name = MQTT_QUALITIES[Number(level)];
    if (name === undefined) {
      values.refuseLater(`invalid MQTT quality of service ${level}`, {
        found: String(level),
        expected: ['0', '1', '2'],
      });
    }
    return { ...options, qos: name ?? '' };
  },
};

const post: HandlerRow = {
  name: 'post',
  aliases: [],
  kind: 'post',
  className: 'AlertHTTPPostHandler',
  summary: 'posts the event as JSON to a URL or a configured endpoint',
  parameters: [variadic('url', 'string')],
  create: (values) => {
    const url = values.strings(0)[0];
    return url === undefined ? {} : { url };
  },
  properties: [
    text('endpoint', 'endpoint', 'configured endpoint to use instead of a URL'),
    entry('header', 'headers', 'adds a header'),
    flag('captureResponse', 'capture-response', 'report the answer when it is an error'),
    duration('timeout', 'timeout', 'time to wait for the answer'),
    flag('skipSSLVerification', 'skip-ssl-verification', 'accept any certificate'),
  ],
  validate: ({ headers }) =>
    typeof headers === 'object' &&
    Object.keys(headers).some((each) => each.toLowerCase() === 'authenticate')
      ? {
          text: "cannot set 'authenticate' header",
          properties: ['header'],
          hint: 'credentials belong to a configured endpoint: .endpoint(name)',
        }
      : undefined,
};

const log: HandlerRow = {
  name: 'log',
  aliases: [],
  kind: 'log',
  className: 'LogHandler',
  summary: 'appends the event as a line of JSON to a file',
  parameters: [parameter('path', 'string')],
  create: (values) => ({ path: values.string(0) }),
  properties: [integer('mode', 'mode', 'permissions of a new file, 0600 if not given')],
  checkStart: ({ path, mode }) => {
    const failed = 'failed to create log alert handler: ';
    if (!String(path).startsWith('/')) {
      return {
        text: `${failed}log path must be absolute: ${String(path)} is not absolute`,
        found: String(path),
        expected: ['an absolute path'],
        hint: "write the whole path: .log('/var/log/alerts.log')",
      };
    }
    if (typeof mode === 'number' && (mode & OWNER_WRITE) === 0) {
      return {
        text: `${failed}invalid file mode ${formatMode(mode)}, must be user writable`,
        properties: ['mode'],
        found: formatMode(mode),
        hint: 'write the permissions with a leading zero: .mode(0600)',
      };
    }
    return undefined;
  },
};

export const TRANSPORT_HANDLERS: readonly HandlerRow[] = [
  {
    name: 'exec',
    aliases: [],
    kind: 'exec',
    className: 'ExecHandler',
    summary: 'runs a program with the event as JSON on its standard input',
    parameters: [parameter('program', 'string'), variadic('arguments', 'string')],
    create: (values) => ({ prog: values.string(0), args: values.strings(1) }),
    properties: [],
  },
  {
    name: 'kafka',
    aliases: [],
    kind: 'kafka',
    className: 'KafkaHandler',
    summary: 'sends the event to a Kafka topic',
    parameters: [],
    create: () => ({}),
    properties: [
      text('cluster', 'cluster', 'configured cluster; the default one if not given'),
      text('kafkaTopic', 'topic', 'topic'),
      text('template', 'template', 'template of the message; JSON of the event if not given'),
      flag(
        'disablePartitionById',
        'disablePartitionById',
        'do not choose the partition by event id',
      ),
      text('partitionHashAlgorithm', 'partitionAlgorithm', 'crc32, murmur2, murmur3 or fnv-1a'),
    ],
  },
  log,
  {
    name: 'mqtt',
    aliases: [],
    kind: 'mqtt',
    className: 'MQTTHandler',
    summary: 'publishes the message to an MQTT topic',
    parameters: [parameter('topic', 'string')],
    create: (values) => ({ topic: values.string(0) }),
    properties: [
      text('brokerName', 'broker-name', 'configured broker; the default one if not given'),
      mqttQuality,
      boolean('retained', 'retained', 'the broker keeps the message'),
    ],
  },
  post,
  {
    name: 'snmpTrap',
    aliases: [],
    kind: 'snmptrap',
    className: 'SNMPTrapHandler',
    summary: 'sends an SNMP trap',
    parameters: [parameter('trapOid', 'string')],
    create: (values) => ({ 'trap-oid': values.string(0) }),
    properties: [trapData],
    validate: (options) =>
      options['trap-oid'] === ''
        ? {
            text: 'invalid SNMP trap "": you must supply a trap Oid',
            hint: "name the trap: .snmpTrap('1.3.6.1.4.1.1')",
          }
        : undefined,
  },
  {
    name: 'tcp',
    aliases: [],
    kind: 'tcp',
    className: 'TcpHandler',
    summary: 'writes the event as JSON to a TCP connection',
    parameters: [parameter('address', 'string')],
    create: (values) => ({ address: values.string(0) }),
    properties: [],
  },
];

/** `-rw-r--r--`, as recorded texts print permissions. */
function formatMode(mode: number): string {
  const bits = 'rwxrwxrwx';
  const letters = [...bits].map((letter, index) => ((mode >> (8 - index)) & 1 ? letter : '-'));
  return `-${letters.join('')}`;
}
