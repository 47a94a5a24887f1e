// pagerduty, pagerduty2: PagerDuty's events API, first and second version.
import { pagerdutyHandler, pagerduty2Handler } from '@tidemark/pipeline';
import { InvalidRequest } from '@tidemark/core';
import {
  GLOBAL,
  checkUrl,
  defineSection,
  enabled,
  json,
  requireWhenEnabled,
  secret,
  str,
} from '@tidemark/settings';
import type { JsonValue } from '@tidemark/settings';
import { printDataJson } from '../event.ts';
import type { HandlerContext } from '../handler.ts';
import { defineTest, deliver, templateScope } from '../handler.ts';
import { enabledSection, postJson } from './service.ts';

const section1 = defineSection({
  name: 'pagerduty',
  doc: 'PagerDuty, first version of its events API.',
  options: {
    ...enabled(),
    url: str(
      'URL of the API.',
      'https://events.pagerduty.com/generic/2010-04-15/create_event.json',
    ),
    'service-key': secret('Key of the service.'),
    ...GLOBAL,
  },
  validate: (options) =>
    requireWhenEnabled(options, { url: 'url cannot be empty' }) ?? checkUrl('url', options.url),
});

const section2 = defineSection({
  name: 'pagerduty2',
  doc: 'PagerDuty, second version of its events API.',
  options: {
    ...enabled(),
    url: str('URL of the API.', 'https://events.pagerduty.com/v2/enqueue'),
    'routing-key': secret('Key of the integration.'),
    ...GLOBAL,
  },
  validate: (options) =>
    requireWhenEnabled(options, { url: 'url cannot be empty' }) ?? checkUrl('url', options.url),
});

export const pagerduty = deliver(pagerdutyHandler, {
  section: section1,
  send: (event, options, context) =>
    send1(context, {
      key: options['service-key'],
      level: event.level,
      incident: event.id,
      description: event.message,
      details: event.details,
    }),
  tests: [
    defineTest({
      name: 'pagerduty',
      options: {
        'incident-key': str('Id of the incident.', 'testIncidentKey'),
        description: str('Text.', 'test pagerduty message'),
        details: str('Details.'),
        level: str('Level.', 'CRITICAL'),
      },
      run: (options, context) =>
        send1(context, {
          key: '',
          level: options.level.toUpperCase(),
          incident: options['incident-key'],
          description: options.description,
          details: options.details,
        }),
    }),
  ],
});

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
  const config = enabledSection(context, section1);
  if (alert.level === 'INFO') {
    throw new InvalidRequest("AlertLevel 'info' is currently ignored by the PagerDuty service");
  }
  await postJson(context, {
    service: 'PagerDuty',
    url: config.url,
    json: {
      service_key: alert.key || config['service-key'],
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

export const pagerduty2 = deliver(pagerduty2Handler, {
  section: section2,
  send: (event, options, context) => {
    const scope = templateScope(event);
    return send2(context, {
      key: options['routing-key'],
      level: event.level,
      id: event.id,
      summary: event.message,
      source: event.context.tags['host'] ?? 'unknown',
      timestamp: nineDigits(event.time),
      task: event.context.taskName,
      details: { result: JSON.parse(printDataJson(event.data)) as JsonValue },
      links: linksOf(options.links).map((link) => ({
        href: context.render(link.href, scope),
        text: context.render(link.text, scope),
      })),
    });
  },
  tests: [
    defineTest({
      name: 'pagerduty2',
      options: {
        alert_id: str('Id of the alert.', 'testAlertID'),
        description: str('Text.', 'test pagerduty2 message'),
        level: str('Level.', 'CRITICAL'),
        event_data: json('Data of the event.', {}),
        timestamp: str('Time; empty is now.'),
        links: json('Links `{href, text}`.', []),
      },
      run: (options, context) =>
        send2(context, {
          key: '',
          level: options.level.toUpperCase(),
          id: options.alert_id,
          summary: options.description,
          source: 'unknown',
          timestamp: options.timestamp || nineDigits(context.clock.now()),
          task: 'testTask',
          details: { result: options['event_data'] as JsonValue },
          links: linksOf(options.links),
        }),
    }),
  ],
});

function linksOf(value: JsonValue): readonly Link[] {
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
  const config = enabledSection(context, section2);
  await postJson(context, {
    service: 'PagerDuty2',
    url: config.url,
    headers: { Accept: 'application/vnd.pagerduty+json;version=2' },
    json: {
      routing_key: alert.key || config['routing-key'],
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
