// servicenow: ServiceNow's event management.
import { InvalidRequest, own } from '@tidemark/core';
import {
  map,
  text,
  checkUrl,
  enabled,
  GLOBAL,
  receiver,
  requireWhenEnabled,
  secret,
  STATE_CHANGES_ONLY,
  str,
  template,
} from '@tidemark/settings';
import type { SectionSpec, Options } from '@tidemark/settings';
import type { HandlerContext, HandlerKind, TemplateScope } from '../handler.ts';
import { templateScope } from '../handler.ts';
import { enabledSection, postJson } from './service.ts';

const section: SectionSpec = {
  name: 'servicenow',
  doc: 'ServiceNow event management.',
  options: [
    enabled(),
    str('url', 'URL of the API.', 'https://instance.service-now.com/api/global/em/jsonv2'),
    str('source', 'Source when a handler names none.'),
    str('username', 'User.'),
    secret('password', 'Password of the user.'),
    GLOBAL,
    STATE_CHANGES_ONLY,
  ],
  validate: (options) =>
    requireWhenEnabled(options, { url: 'must specify url', source: 'must specify source' }) ??
    checkUrl(options, 'url'),
};

const SEVERITIES: Readonly<Record<string, string>> = {
  OK: '5',
  INFO: '5',
  WARNING: '4',
  CRITICAL: '1',
};

/** Longest values of the service's table. */
const LENGTHS: Readonly<Record<string, number>> = { message_key: 1024, description: 4000 };
const LENGTH_DEFAULT = 100;

export const servicenow: HandlerKind = {
  kind: 'servicenow',
  doc: 'Sends an event to ServiceNow.',
  options: [
    receiver('url', 'URL of the API; empty is the configured one.'),
    str('username', 'User; empty is the configured one.'),
    secret('password', 'Password.'),
    str('source', 'Source; empty is the configured one.'),
    template('node', 'Template of the node.'),
    template('type', 'Template of the type.'),
    template('resource', 'Template of the resource.'),
    template('metric_name', 'Template of the name of the metric.'),
    template(
      'message_key',
      'Template of the key that tells alerts apart; empty is the event’s id.',
    ),
    {
      name: 'additional_info',
      type: 'string-map',
      default: null,
      doc: 'Further information, as templates.',
    },
  ],
  section,
  send: (event, options, context) => {
    const scope = templateScope(event);
    const render = (name: string): string => context.render(text(options, name), scope);
    return send(options, context, {
      source: text(options, 'source'),
      node: render('node'),
      type: render('type'),
      resource: render('resource'),
      metric_name: render('metric_name'),
      message_key: render('message_key') || event.id,
      severity: SEVERITIES[event.level] ?? '5',
      description: event.message,
      additional_info: additional(options, context, scope),
    });
  },
  tests: [
    {
      name: 'servicenow',
      configured: ['source'],
      options: [
        str('alert_id', 'Key of the alert.', '1001'),
        str('message', 'Text.', 'test servicenow message'),
        str('level', 'Level.', 'CRITICAL'),
        str('source', 'Source.'),
        str('node', 'Node.'),
        str('type', 'Type.'),
        str('resource', 'Resource.'),
        str('metric_name', 'Name of the metric.'),
        str('message_key', 'Key; empty is alert_id.'),
        { name: 'additional_info', type: 'string-map', default: {}, doc: 'Further information.' },
      ],
      run: (options, context) =>
        send({}, context, {
          source: text(options, 'source'),
          node: text(options, 'node'),
          type: text(options, 'type'),
          resource: text(options, 'resource'),
          metric_name: text(options, 'metric_name'),
          message_key: text(options, 'message_key') || text(options, 'alert_id'),
          severity: SEVERITIES[text(options, 'level').toUpperCase()] ?? '1',
          description: text(options, 'message'),
          additional_info: JSON.stringify(map(options, 'additional_info')),
        }),
    },
  ],
};

function additional(options: Options, context: HandlerContext, scope: TemplateScope): string {
  const entries = Object.entries(map(options, 'additional_info'));
  if (entries.length === 0) return '';
  const rendered = entries.map(([name, template]) => [name, context.render(template, scope)]);
  return JSON.stringify(Object.fromEntries(rendered));
}

async function send(
  options: Options,
  context: HandlerContext,
  record: Readonly<Record<string, string>>,
): Promise<void> {
  const config = enabledSection(context, 'servicenow');
  const source = record['source'] || text(config, 'source');
  if (source === '') throw new InvalidRequest('must specify source');
  const cut = Object.entries({ ...record, source })
    .filter(([, value]) => value !== '')
    .map(([name, value]) =>
      name === 'additional_info'
        ? [name, value]
        : [name, value.slice(0, own(LENGTHS, name) ?? LENGTH_DEFAULT)],
    );
  const username = text(options, 'username') || text(config, 'username');
  const password = text(options, 'password') || text(config, 'password');
  const auth = Buffer.from(`${username}:${password}`).toString('base64');
  await postJson(context, {
    service: 'ServiceNow',
    url: text(options, 'url') || text(config, 'url'),
    headers: username === '' ? {} : { Authorization: `Basic ${auth}` },
    json: { records: [Object.fromEntries(cut)] },
    expect: [200],
  });
}
