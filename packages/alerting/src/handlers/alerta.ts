// alerta: the Alerta monitoring system.
import { alertaHandler } from '@tidemark/pipeline';
import type { AlertLevelName } from '@tidemark/runtime';
import { InvalidRequest, formatClockDuration } from '@tidemark/core';
import {
  INSECURE_SKIP_VERIFY,
  checkUrl,
  defineSection,
  duration,
  durationMs,
  enabled,
  list,
  requireWhenEnabled,
  secret,
  str,
  tlsOf,
} from '@tidemark/settings';
import type { JsonValue, OptionsOf } from '@tidemark/settings';
import { printDataJson } from '../event.ts';
import type { HandlerContext } from '../handler.ts';
import { defineTest, deliver, templateScope } from '../handler.ts';
import { enabledSection, postJson } from './service.ts';

const section = defineSection({
  name: 'alerta',
  doc: 'Alerta.',
  options: {
    ...enabled(),
    url: str('URL of the API.'),
    ...INSECURE_SKIP_VERIFY,
    token: secret('Token of the API.'),
    'token-prefix': str('Word before the token; empty is Bearer.'),
    environment: str('Environment when a handler names none.'),
    origin: str('Origin when a handler names none.'),
    timeout: duration('Lifetime of an alert; 0 is the service’s own.'),
  },
  validate: (options) =>
    requireWhenEnabled(options, { url: 'must specify url', token: 'must specify token' }) ??
    checkUrl('url', options.url),
});

type Config = OptionsOf<typeof section.options>;

const SEVERITIES: Readonly<Record<AlertLevelName, string>> = {
  OK: 'ok',
  INFO: 'informational',
  WARNING: 'warning',
  CRITICAL: 'critical',
};

const DEFAULT_TIMEOUT_SECONDS = 86_400;

export const alerta = deliver(alertaHandler, {
  section,
  send: async (event, options, context) => {
    const config = enabledSection(context, section);
    const scope = templateScope(event);
    const render = (template: string): string => context.render(template, scope);
    const renderAll = (name: 'service' | 'correlate'): readonly string[] => {
      const templates = options[name] ?? [];
      return templates.length === 0 ? [event.context.name] : templates.map(render);
    };
    await send(config, context, {
      token: options.token || config.token,
      prefix: options['token-prefix'] || config['token-prefix'],
      body: {
        resource: render(options.resource),
        event: render(options.event),
        environment: render(options.environment || config.environment),
        severity: SEVERITIES[event.level],
        group: render(options.group) || 'Misc',
        value: render(options.value),
        text: event.message,
        origin: options.origin || config.origin || 'tidemark',
        rawData: printDataJson(event.data),
        service: renderAll('service'),
        correlate: renderAll('correlate'),
        attributes: attributesOf(options.attributes, render),
        timeout: timeoutSeconds(options) || timeoutSeconds(config) || DEFAULT_TIMEOUT_SECONDS,
        tags: Object.entries(event.context.tags).map(([key, value]) => `${key}=${value}`),
      },
    });
  },
  tests: [
    defineTest({
      name: 'alerta',
      configured: ['environment', 'origin'],
      options: {
        resource: str('Resource.', 'testResource'),
        event: str('Event.', 'testEvent'),
        environment: str('Environment.'),
        severity: str('Severity.', 'critical'),
        group: str('Group.', 'testGroup'),
        value: str('Value.', 'testValue'),
        message: str('Text.', 'test alerta message'),
        origin: str('Origin.'),
        service: list('Affected services.', ['testServiceA', 'testServiceB']),
        timeout: str(
          'Lifetime of the alert.',
          formatClockDuration(BigInt(DEFAULT_TIMEOUT_SECONDS) * 1_000_000_000n),
        ),
      },
      run: (options, context) => {
        const config = enabledSection(context, section);
        return send(config, context, {
          token: config.token,
          prefix: config['token-prefix'],
          body: {
            resource: options.resource,
            event: options.event,
            environment: options.environment || config.environment,
            severity: options.severity,
            group: options.group,
            value: options.value,
            text: options.message,
            origin: options.origin || config.origin || 'tidemark',
            service: options.service ?? [],
            timeout: DEFAULT_TIMEOUT_SECONDS,
          },
        });
      },
    }),
  ],
});

async function send(
  config: Config,
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
    url: `${config.url.replace(/\/+$/, '')}/alert`,
    headers: { Authorization: `${alert.prefix || 'Bearer'} ${alert.token}` },
    tls: tlsOf(config),
    json: alert.body,
    expect: [201],
  });
}

function timeoutSeconds(options: { readonly timeout: bigint }): number {
  return Math.ceil(durationMs(options.timeout) / 1000);
}

function attributesOf(given: JsonValue, render: (template: string) => string): object {
  if (given === null || typeof given !== 'object') return {};
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [
      name,
      typeof value === 'string' ? render(value) : value,
    ]),
  );
}
