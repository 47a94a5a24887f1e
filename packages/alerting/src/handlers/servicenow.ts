// servicenow: ServiceNow's event management.
import { servicenowHandler } from '@tidemark/pipeline';
import { InvalidRequest, own } from '@tidemark/core';
import {
  GLOBAL,
  STATE_CHANGES_ONLY,
  checkUrl,
  defineSection,
  enabled,
  requireWhenEnabled,
  secret,
  str,
  texts,
} from '@tidemark/settings';
import type { HandlerContext, TemplateScope } from '../handler.ts';
import { defineTest, deliver, templateScope } from '../handler.ts';
import { enabledSection, postJson } from './service.ts';

const section = defineSection({
  name: 'servicenow',
  doc: 'ServiceNow event management.',
  options: {
    ...enabled(),
    url: str('URL of the API.', 'https://instance.service-now.com/api/global/em/jsonv2'),
    source: str('Source when a handler names none.'),
    username: str('User.'),
    password: secret('Password of the user.'),
    ...GLOBAL,
    ...STATE_CHANGES_ONLY,
  },
  validate: (options) =>
    requireWhenEnabled(options, { url: 'must specify url', source: 'must specify source' }) ??
    checkUrl('url', options.url),
});

const SEVERITIES: Readonly<Record<string, string>> = {
  OK: '5',
  INFO: '5',
  WARNING: '4',
  CRITICAL: '1',
};

/** Longest values of the service's table. */
const LENGTHS: Readonly<Record<string, number>> = { message_key: 1024, description: 4000 };
const LENGTH_DEFAULT = 100;

export const servicenow = deliver(servicenowHandler, {
  section,
  send: (event, options, context) => {
    const scope = templateScope(event);
    const render = (name: 'node' | 'type' | 'resource' | 'metric_name' | 'message_key'): string =>
      context.render(options[name], scope);
    return send(options, context, {
      source: options.source,
      node: render('node'),
      type: render('type'),
      resource: render('resource'),
      metric_name: render('metric_name'),
      message_key: render('message_key') || event.id,
      severity: SEVERITIES[event.level] ?? '5',
      description: event.message,
      additional_info: additional(options.additional_info ?? {}, context, scope),
    });
  },
  tests: [
    defineTest({
      name: 'servicenow',
      configured: ['source'],
      options: {
        alert_id: str('Key of the alert.', '1001'),
        message: str('Text.', 'test servicenow message'),
        level: str('Level.', 'CRITICAL'),
        source: str('Source.'),
        node: str('Node.'),
        type: str('Type.'),
        resource: str('Resource.'),
        metric_name: str('Name of the metric.'),
        message_key: str('Key; empty is alert_id.'),
        additional_info: texts('Further information.', {}),
      },
      run: (options, context) =>
        send({ url: '', username: '', password: '' }, context, {
          source: options.source,
          node: options.node,
          type: options.type,
          resource: options.resource,
          metric_name: options.metric_name,
          message_key: options.message_key || options.alert_id,
          severity: SEVERITIES[options.level.toUpperCase()] ?? '1',
          description: options.message,
          additional_info: JSON.stringify(options.additional_info ?? {}),
        }),
    }),
  ],
});

function additional(
  templates: Readonly<Record<string, string>>,
  context: HandlerContext,
  scope: TemplateScope,
): string {
  const entries = Object.entries(templates);
  if (entries.length === 0) return '';
  const rendered = entries.map(([name, template]) => [name, context.render(template, scope)]);
  return JSON.stringify(Object.fromEntries(rendered));
}

async function send(
  options: { readonly url: string; readonly username: string; readonly password: string },
  context: HandlerContext,
  record: Readonly<Record<string, string>>,
): Promise<void> {
  const config = enabledSection(context, section);
  const source = record['source'] || config.source;
  if (source === '') throw new InvalidRequest('must specify source');
  const cut = Object.entries({ ...record, source })
    .filter(([, value]) => value !== '')
    .map(([name, value]) =>
      name === 'additional_info'
        ? [name, value]
        : [name, value.slice(0, own(LENGTHS, name) ?? LENGTH_DEFAULT)],
    );
  const username = options.username || config.username;
  const password = options.password || config.password;
  const auth = Buffer.from(`${username}:${password}`).toString('base64');
  await postJson(context, {
    service: 'ServiceNow',
    url: options.url || config.url,
    headers: username === '' ? {} : { Authorization: `Basic ${auth}` },
    json: { records: [Object.fromEntries(cut)] },
    expect: [200],
  });
}
