// zenoss: Zenoss' event router.
import {
  integer,
  map,
  text,
  checkUrl,
  enabled,
  GLOBAL,
  requireWhenEnabled,
  secret,
  STATE_CHANGES_ONLY,
  str,
  template,
} from '@tidemark/settings';
import type { SectionSpec, JsonValue, Options } from '@tidemark/settings';
import type { HandlerContext, HandlerKind } from '../handler.ts';
import { templateScope } from '../handler.ts';
import { enabledSection, postJson } from './service.ts';

const SEVERITY_MAP = { OK: 'Clear', Info: 'Info', Warning: 'Warning', Critical: 'Critical' };

const section: SectionSpec = {
  name: 'zenoss',
  doc: 'Zenoss.',
  options: [
    enabled(),
    str('url', 'URL of the router.', 'https://tenant.zenoss.io:8080/zport/dmd/evconsole_router'),
    str('username', 'User.'),
    secret('password', 'Password of the user.'),
    str('action', 'Router.', 'EventsRouter'),
    str('method', 'Method of the router.', 'add_event'),
    str('type', 'Type of the request.', 'rpc'),
    { name: 'tid', type: 'integer', default: 1, doc: 'Number of the transaction.' },
    str('collector', 'Collector.', 'Kapacitor'),
    {
      name: 'severity-map',
      type: 'json',
      default: SEVERITY_MAP,
      doc: 'Severities of the levels OK, Info, Warning and Critical; texts or numbers.',
    },
    GLOBAL,
    STATE_CHANGES_ONLY,
  ],
  validate: (options) =>
    requireWhenEnabled(options, { url: 'must specify url' }) ?? checkUrl(options, 'url'),
};

const LEVEL_NAMES: Readonly<Record<string, string>> = {
  OK: 'OK',
  INFO: 'Info',
  WARNING: 'Warning',
  CRITICAL: 'Critical',
};

const SUMMARY_CHARS_MAX = 256;
const MESSAGE_CHARS_MAX = 4096;

export const zenoss: HandlerKind = {
  kind: 'zenoss',
  doc: 'Sends an event to Zenoss.',
  options: [
    str('action', 'Router; empty is the configured one.'),
    str('method', 'Method; empty is the configured one.'),
    str('type', 'Type of the request; empty is the configured one.'),
    {
      name: 'tid',
      type: 'integer',
      default: 0,
      doc: 'Number of the transaction; 0 is the configured one.',
    },
    template('summary', 'Template of the summary; empty is the message.'),
    template('device', 'Template of the device.'),
    template('component', 'Template of the component.'),
    template('eventclasskey', 'Template of the key of the event class.'),
    template('eventclass', 'Template of the event class.'),
    template('message', 'Template of the message.'),
    template('collector', 'Template of the collector; empty is the configured one.'),
    {
      name: 'custom_fields',
      type: 'json',
      default: {},
      doc: 'Further fields; texts are templates.',
    },
  ],
  section,
  send: (event, options, context) => {
    const scope = templateScope(event);
    const render = (template: string): string => context.render(template, scope);
    const custom = Object.entries(options['custom_fields'] ?? {}).map(([name, value]) => [
      name,
      typeof value === 'string' ? render(value) : value,
    ]);
    return send(options, context, {
      summary: render(text(options, 'summary')) || event.message,
      device: render(text(options, 'device')),
      component: render(text(options, 'component')),
      evclasskey: render(text(options, 'eventclasskey')),
      evclass: render(text(options, 'eventclass')),
      message: render(text(options, 'message')),
      collector: render(text(options, 'collector')),
      level: event.level,
      custom: Object.fromEntries(custom) as Readonly<Record<string, JsonValue>>,
    });
  },
  tests: [
    {
      name: 'zenoss',
      options: [
        str('alert_id', 'Not used.', '1001'),
        str('level', 'Level.', 'CRITICAL'),
        str('message', 'Message.', 'test zenoss message'),
        str('action', 'Router.'),
        str('method', 'Method.'),
        str('type', 'Type of the request.'),
        { name: 'tid', type: 'integer', default: 0, doc: 'Number of the transaction.' },
        str('summary', 'Summary.'),
        str('device', 'Device.'),
        str('component', 'Component.'),
        str('eventclasskey', 'Key of the event class.'),
        str('eventclass', 'Event class.'),
        str('collector', 'Collector.'),
        { name: 'custom_fields', type: 'string-map', default: {}, doc: 'Further fields.' },
      ],
      run: (options, context) =>
        send(options, context, {
          summary: text(options, 'summary') || text(options, 'message'),
          device: text(options, 'device'),
          component: text(options, 'component'),
          evclasskey: text(options, 'eventclasskey'),
          evclass: text(options, 'eventclass'),
          message: text(options, 'message'),
          collector: text(options, 'collector'),
          level: text(options, 'level').toUpperCase(),
          custom: map(options, 'custom_fields'),
        }),
    },
  ],
};

async function send(
  options: Options,
  context: HandlerContext,
  event: {
    readonly summary: string;
    readonly device: string;
    readonly component: string;
    readonly evclasskey: string;
    readonly evclass: string;
    readonly message: string;
    readonly collector: string;
    readonly level: string;
    readonly custom: Readonly<Record<string, JsonValue>>;
  },
): Promise<void> {
  const config = enabledSection(context, 'zenoss');
  const { level, custom, ...fields } = event;
  const severities = {
    ...SEVERITY_MAP,
    ...(config['severity-map'] as Record<string, unknown> | null),
  };
  const severity = Object.entries(severities).find(([name]) => name === LEVEL_NAMES[level])?.[1];
  const pair = `${text(config, 'username')}:${text(config, 'password')}`;
  await postJson(context, {
    service: 'Zenoss',
    url: text(config, 'url'),
    headers:
      text(config, 'username') === ''
        ? {}
        : { Authorization: `Basic ${Buffer.from(pair).toString('base64')}` },
    json: {
      action: text(options, 'action') || text(config, 'action'),
      method: text(options, 'method') || text(config, 'method'),
      data: [
        {
          ...custom,
          ...fields,
          summary: fields.summary.slice(0, SUMMARY_CHARS_MAX),
          message: fields.message.slice(0, MESSAGE_CHARS_MAX),
          collector: fields.collector || text(config, 'collector'),
          severity: severity ?? 'Critical',
        },
      ],
      type: text(options, 'type') || text(config, 'type'),
      tid: integer(options, 'tid') || integer(config, 'tid'),
    },
    expect: [200],
  });
}
