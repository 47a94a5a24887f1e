// pagerduty, pagerduty2: PagerDuty's events API, first and second version.
import { InvalidRequest } from '@tidemark/core';
import {
  text,
  checkUrl,
  enabled,
  GLOBAL,
  requireWhenEnabled,
  secret,
  str,
} from '@tidemark/settings';
import type { SectionSpec, JsonValue, Options } from '@tidemark/settings';
import { printDataJson } from '../event.ts';
import type { HandlerContext, HandlerKind } from '../handler.ts';
import { templateScope } from '../handler.ts';
import { enabledSection, postJson } from './service.ts';

const section1: SectionSpec = {
  name: 'pagerduty',
  doc: 'PagerDuty, first version of its events API.',
  options: [
    enabled(),
    str(
      'url',
      'URL of the API.',
      'https://events.pagerduty.com/generic/2010-04-15/create_event.json',
    ),
    secret('service-key', 'Key of the service.'),
    GLOBAL,
  ],
  validate: (options) =>
    requireWhenEnabled(options, { url: 'url cannot be empty' }) ?? checkUrl(options, 'url'),
};

const section2: SectionSpec = {
  name: 'pagerduty2',
  doc: 'PagerDuty, second version of its events API.',
  options: [
    enabled(),
    str('url', 'URL of the API.', 'https://events.pagerduty.com/v2/enqueue'),
    secret('routing-key', 'Key of the integration.'),
    GLOBAL,
  ],
  validate: (options) =>
    requireWhenEnabled(options, { url: 'url cannot be empty' }) ?? checkUrl(options, 'url'),
};

export const pagerduty: HandlerKind = {
  kind: 'pagerduty',
  doc: 'Sends to PagerDuty, first version of its events API.',
  options: [secret('service-key', 'Key of the service; empty is the configured one.')],
  section: section1,
  send: (event, options, context) =>
    send1(context, {
      key: text(options, 'service-key'),
      level: event.level,
      incident: event.id,
      description: event.message,
      details: event.details,
    }),
  tests: [
    {
      name: 'pagerduty',
      options: [
        str('incident-key', 'Id of the incident.', 'testIncidentKey'),
        str('description', 'Text.', 'test pagerduty message'),
        str('details', 'Details.'),
        str('level', 'Level.', 'CRITICAL'),
      ],
      run: (options, context) =>
        send1(context, {
          key: '',
          level: text(options, 'level').toUpperCase(),
          incident: text(options, 'incident-key'),
          description: text(options, 'description'),
          details: text(options, 'details'),
        }),
    },
  ],
};

async function send1(
  context: HandlerContext,
  alert: {
    readonly key: string;
    readonly level: string;
    readonly incident: string;
    readonly description: string;
    readonly details: string;
  },
): Promise<void> {
  const config = enabledSection(context, 'pagerduty');
  if (alert.level === 'INFO') {
    throw new InvalidRequest("AlertLevel 'info' is currently ignored by the PagerDuty service");
  }
  await postJson(context, {
    service: 'PagerDuty',
    url: text(config, 'url'),
    json: {
      service_key: alert.key || text(config, 'service-key'),
      event_type: alert.level === 'OK' ? 'resolve' : 'trigger',
      description: alert.description,
      incident_key: alert.incident,
      client: 'kapacitor',
      client_url: context.server.url,
      details: alert.details,
    },
    expect: [200],
  });
}

const SEVERITIES: Readonly<Record<string, string>> = {
  OK: 'info',
  INFO: 'info',
  WARNING: 'warning',
  CRITICAL: 'critical',
};

type Link = { readonly href: string; readonly text: string };

export const pagerduty2: HandlerKind = {
  kind: 'pagerduty2',
  doc: 'Sends to PagerDuty, second version of its events API.',
  options: [
    secret('routing-key', 'Key of the integration; empty is the configured one.'),
    { name: 'links', type: 'json', default: [], doc: 'Links `{href, text}`, as templates.' },
  ],
  section: section2,
  send: (event, options, context) => {
    const scope = templateScope(event);
    return send2(context, {
      key: text(options, 'routing-key'),
      level: event.level,
      id: event.id,
      summary: event.message,
      source: event.context.tags['host'] ?? 'unknown',
      timestamp: nineDigits(event.time),
      task: event.context.taskName,
      details: { result: JSON.parse(printDataJson(event.data)) as JsonValue },
      links: linksOf(options).map((link) => ({
        href: context.render(link.href, scope),
        text: context.render(link.text, scope),
      })),
    });
  },
  tests: [
    {
      name: 'pagerduty2',
      options: [
        str('alert_id', 'Id of the alert.', 'testAlertID'),
        str('description', 'Text.', 'test pagerduty2 message'),
        str('level', 'Level.', 'CRITICAL'),
        { name: 'event_data', type: 'json', default: {}, doc: 'Data of the event.' },
        str('timestamp', 'Time; empty is now.'),
        { name: 'links', type: 'json', default: [], doc: 'Links `{href, text}`.' },
      ],
      run: (options, context) =>
        send2(context, {
          key: '',
          level: text(options, 'level').toUpperCase(),
          id: text(options, 'alert_id'),
          summary: text(options, 'description'),
          source: 'unknown',
          timestamp: text(options, 'timestamp') || nineDigits(context.clock.now()),
          task: 'testTask',
          details: { result: options['event_data'] as JsonValue },
          links: linksOf(options),
        }),
    },
  ],
};

function linksOf(options: Options): readonly Link[] {
  const value = options['links'];
  if (!Array.isArray(value)) return [];
  return value.flatMap((link: unknown) => {
    if (link === null || typeof link !== 'object' || !('href' in link)) return [];
    const label = 'text' in link ? String(link.text) : '';
    return [{ href: String(link.href), text: label || String(link.href) }];
  });
}

/** RFC 3339 with nine digits of a second, which the service wants. */
function nineDigits(nanos: bigint): string {
  const iso = new Date(Number(nanos / 1_000_000n)).toISOString();
  const fraction = ((nanos % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n;
  return `${iso.slice(0, 19)}.${String(fraction).padStart(9, '0')}Z`;
}

async function send2(
  context: HandlerContext,
  alert: {
    readonly key: string;
    readonly level: string;
    readonly id: string;
    readonly summary: string;
    readonly source: string;
    readonly timestamp: string;
    readonly task: string;
    readonly details: Readonly<Record<string, JsonValue>>;
    readonly links: readonly Link[];
  },
): Promise<void> {
  const config = enabledSection(context, 'pagerduty2');
  await postJson(context, {
    service: 'PagerDuty2',
    url: text(config, 'url'),
    headers: { Accept: 'application/vnd.pagerduty+json;version=2' },
    json: {
      routing_key: alert.key || text(config, 'routing-key'),
      event_action: alert.level === 'OK' ? 'resolve' : 'trigger',
      dedup_key: alert.id,
      client: 'kapacitor',
      client_url: context.server.url,
      links: alert.links,
      payload: {
        summary: alert.summary,
        source: alert.source,
        severity: SEVERITIES[alert.level] ?? 'info',
        timestamp: alert.timestamp,
        class: alert.task,
        custom_details: alert.details,
      },
    },
    expect: [200, 202],
  });
}
