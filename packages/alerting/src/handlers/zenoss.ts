// zenoss: Zenoss' event router.
import { zenossHandler } from '@tidemark/pipeline';
import {
  GLOBAL,
  STATE_CHANGES_ONLY,
  checkUrl,
  defineSection,
  enabled,
  integer,
  json,
  requireWhenEnabled,
  secret,
  str,
  texts,
} from '@tidemark/settings';
import type { JsonValue } from '@tidemark/settings';
import type { HandlerContext } from '../handler.ts';
import { defineTest, deliver, templateScope } from '../handler.ts';
import { enabledSection, postJson } from './service.ts';

const SEVERITY_MAP = { OK: 'Clear', Info: 'Info', Warning: 'Warning', Critical: 'Critical' };

const section = defineSection({
  name: 'zenoss',
  doc: 'Zenoss.',
  options: {
    ...enabled(),
    url: str('URL of the router.', 'https://tenant.zenoss.io:8080/zport/dmd/evconsole_router'),
    username: str('User.'),
    password: secret('Password of the user.'),
    action: str('Router.', 'EventsRouter'),
    method: str('Method of the router.', 'add_event'),
    type: str('Type of the request.', 'rpc'),
    tid: integer('Number of the transaction.', 1),
    collector: str('Collector.', 'Kapacitor'),
    'severity-map': json(
      'Severities of the levels OK, Info, Warning and Critical; texts or numbers.',
      SEVERITY_MAP,
    ),
    ...GLOBAL,
    ...STATE_CHANGES_ONLY,
  },
  validate: (options) =>
    requireWhenEnabled(options, { url: 'must specify url' }) ?? checkUrl('url', options.url),
});

const LEVEL_NAMES: Readonly<Record<string, string>> = {
  OK: 'OK',
  INFO: 'Info',
  WARNING: 'Warning',
  CRITICAL: 'Critical',
};

const SUMMARY_CHARS_MAX = 256;
const MESSAGE_CHARS_MAX = 4096;

export const zenoss = deliver(zenossHandler, {
  section,
  send: (event, options, context) => {
    const scope = templateScope(event);
    const render = (template: string): string => context.render(template, scope);
    const custom = Object.entries(options['custom_fields'] ?? {}).map(([name, value]) => [
      name,
      typeof value === 'string' ? render(value) : value,
    ]);
    return send(options, context, {
      summary: render(options.summary) || event.message,
      device: render(options.device),
      component: render(options.component),
      evclasskey: render(options.eventclasskey),
      evclass: render(options.eventclass),
      message: render(options.message),
      collector: render(options.collector),
      level: event.level,
      custom: Object.fromEntries(custom) as Readonly<Record<string, JsonValue>>,
    });
  },
  tests: [
    defineTest({
      name: 'zenoss',
      options: {
        alert_id: str('Not used.', '1001'),
        level: str('Level.', 'CRITICAL'),
        message: str('Message.', 'test zenoss message'),
        action: str('Router.'),
        method: str('Method.'),
        type: str('Type of the request.'),
        tid: integer('Number of the transaction.'),
        summary: str('Summary.'),
        device: str('Device.'),
        component: str('Component.'),
        eventclasskey: str('Key of the event class.'),
        eventclass: str('Event class.'),
        collector: str('Collector.'),
        custom_fields: texts('Further fields.', {}),
      },
      run: (options, context) =>
        send(options, context, {
          summary: options.summary || options.message,
          device: options.device,
          component: options.component,
          evclasskey: options.eventclasskey,
          evclass: options.eventclass,
          message: options.message,
          collector: options.collector,
          level: options.level.toUpperCase(),
          custom: options.custom_fields ?? {},
        }),
    }),
  ],
});

async function send(
  options: {
    readonly action: string;
    readonly method: string;
    readonly type: string;
    readonly tid: number;
  },
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
  const config = enabledSection(context, section);
  const { level, custom, ...fields } = event;
  const severities = {
    ...SEVERITY_MAP,
    ...(config['severity-map'] as Record<string, unknown> | null),
  };
  const severity = Object.entries(severities).find(([name]) => name === LEVEL_NAMES[level])?.[1];
  const pair = `${config.username}:${config.password}`;
  await postJson(context, {
    service: 'Zenoss',
    url: config.url,
    headers:
      config.username === ''
        ? {}
        : { Authorization: `Basic ${Buffer.from(pair).toString('base64')}` },
    json: {
      action: options.action || config.action,
      method: options.method || config.method,
      data: [
        {
          ...custom,
          ...fields,
          summary: fields.summary.slice(0, SUMMARY_CHARS_MAX),
          message: fields.message.slice(0, MESSAGE_CHARS_MAX),
          collector: fields.collector || config.collector,
          severity: severity ?? 'Critical',
        },
      ],
      type: options.type || config.type,
      tid: options.tid || config.tid,
    },
    expect: [200],
  });
}
