// alerta: the Alerta monitoring system.
import type { AlertLevelName } from '@tidemark/runtime';
import { InvalidRequest, formatClockDuration } from '@tidemark/core';
import {
  durationMs,
  map,
  strings,
  text,
  checkUrl,
  enabled,
  INSECURE_SKIP_VERIFY,
  list,
  requireWhenEnabled,
  secret,
  str,
  template,
  tlsOf,
} from '@tidemark/settings';
import type { SectionSpec, Options } from '@tidemark/settings';
import { printDataJson } from '../event.ts';
import type { HandlerContext, HandlerKind } from '../handler.ts';
import { templateScope } from '../handler.ts';
import { enabledSection, postJson } from './service.ts';

const section: SectionSpec = {
  name: 'alerta',
  doc: 'Alerta.',
  options: [
    enabled(),
    str('url', 'URL of the API.'),
    INSECURE_SKIP_VERIFY,
    secret('token', 'Token of the API.'),
    str('token-prefix', 'Word before the token; empty is Bearer.'),
    str('environment', 'Environment when a handler names none.'),
    str('origin', 'Origin when a handler names none.'),
    {
      name: 'timeout',
      type: 'duration',
      default: 0n,
      doc: 'Lifetime of an alert; 0 is the service’s own.',
    },
  ],
  validate: (options) =>
    requireWhenEnabled(options, { url: 'must specify url', token: 'must specify token' }) ??
    checkUrl(options, 'url'),
};

const SEVERITIES: Readonly<Record<AlertLevelName, string>> = {
  OK: 'ok',
  INFO: 'informational',
  WARNING: 'warning',
  CRITICAL: 'critical',
};

const DEFAULT_TIMEOUT_SECONDS = 86_400;

export const alerta: HandlerKind = {
  kind: 'alerta',
  doc: 'Sends to Alerta.',
  options: [
    secret('token', 'Token instead of the configured one.'),
    str('token-prefix', 'Word before the token.'),
    template('resource', 'Template of the resource.', '{{ .Name }}'),
    template('event', 'Template of the event.', '{{ .ID }}'),
    template('environment', 'Template of the environment.'),
    template('group', 'Template of the group.', '{{ .Group }}'),
    template('value', 'Template of the value.'),
    str('origin', 'Origin.'),
    list('service', 'Templates of the affected services; none means the measurement.'),
    list('correlate', 'Templates of related events; none means the measurement.'),
    {
      name: 'attributes',
      type: 'json',
      default: {},
      doc: 'Further attributes; texts are templates.',
    },
    {
      name: 'timeout',
      type: 'duration',
      default: 0n,
      doc: 'Lifetime of the alert; 0 is the configured one, and 24 h when none is.',
    },
  ],
  section,
  send: async (event, options, context) => {
    const config = enabledSection(context, 'alerta');
    const scope = templateScope(event);
    const render = (template: string): string => context.render(template, scope);
    const renderAll = (name: string): readonly string[] => {
      const templates = strings(options, name);
      return templates.length === 0 ? [event.context.name] : templates.map(render);
    };
    await send(config, context, {
      token: text(options, 'token') || text(config, 'token'),
      prefix: text(options, 'token-prefix') || text(config, 'token-prefix'),
      body: {
        resource: render(text(options, 'resource')),
        event: render(text(options, 'event')),
        environment: render(text(options, 'environment') || text(config, 'environment')),
        severity: SEVERITIES[event.level],
        group: render(text(options, 'group')) || 'Misc',
        value: render(text(options, 'value')),
        text: event.message,
        origin: text(options, 'origin') || text(config, 'origin') || 'tidemark',
        rawData: printDataJson(event.data),
        service: renderAll('service'),
        correlate: renderAll('correlate'),
        attributes: attributesOf(options, render),
        timeout: timeoutSeconds(options) || timeoutSeconds(config) || DEFAULT_TIMEOUT_SECONDS,
        tags: Object.entries(event.context.tags).map(([key, value]) => `${key}=${value}`),
      },
    });
  },
  tests: [
    {
      name: 'alerta',
      configured: ['environment', 'origin'],
      options: [
        str('resource', 'Resource.', 'testResource'),
        str('event', 'Event.', 'testEvent'),
        str('environment', 'Environment.'),
        str('severity', 'Severity.', 'critical'),
        str('group', 'Group.', 'testGroup'),
        str('value', 'Value.', 'testValue'),
        str('message', 'Text.', 'test alerta message'),
        str('origin', 'Origin.'),
        list('service', 'Affected services.', ['testServiceA', 'testServiceB']),
        str(
          'timeout',
          'Lifetime of the alert.',
          formatClockDuration(BigInt(DEFAULT_TIMEOUT_SECONDS) * 1_000_000_000n),
        ),
      ],
      run: (options, context) => {
        const config = enabledSection(context, 'alerta');
        return send(config, context, {
          token: text(config, 'token'),
          prefix: text(config, 'token-prefix'),
          body: {
            resource: text(options, 'resource'),
            event: text(options, 'event'),
            environment: text(options, 'environment') || text(config, 'environment'),
            severity: text(options, 'severity'),
            group: text(options, 'group'),
            value: text(options, 'value'),
            text: text(options, 'message'),
            origin: text(options, 'origin') || text(config, 'origin') || 'tidemark',
            service: strings(options, 'service'),
            timeout: DEFAULT_TIMEOUT_SECONDS,
          },
        });
      },
    },
  ],
};

async function send(
  config: Options,
  context: HandlerContext,
  alert: {
    readonly token: string;
    readonly prefix: string;
    readonly body: Readonly<Record<string, unknown>>;
  },
): Promise<void> {
  const { resource, event } = alert.body;
  if (resource === '' || event === '') {
    throw new InvalidRequest('Resource and Event are required to send an alert');
  }
  await postJson(context, {
    service: 'Alerta',
    url: `${text(config, 'url').replace(/\/+$/, '')}/alert`,
    headers: { Authorization: `${alert.prefix || 'Bearer'} ${alert.token}` },
    tls: tlsOf(config),
    json: alert.body,
    expect: [201],
  });
}

function timeoutSeconds(options: Options): number {
  return Math.ceil(durationMs(options, 'timeout') / 1000);
}

function attributesOf(options: Options, render: (template: string) => string): object {
  const given = options['attributes'];
  if (given === null || typeof given !== 'object') return map(options, 'attributes');
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [
      name,
      typeof value === 'string' ? render(value) : value,
    ]),
  );
}
