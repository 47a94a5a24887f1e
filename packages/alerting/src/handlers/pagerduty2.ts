// pagerduty2: PagerDuty's events API, second version.
import { pagerduty2Handler } from '@tidemark/pipeline';
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

const section = defineSection({
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

const SEVERITIES: Readonly<Record<string, string>> = {
  OK: 'info',
  INFO: 'info',
  WARNING: 'warning',
  CRITICAL: 'critical',
};

type Link = { readonly href: string; readonly text: string };

export const pagerduty2 = deliver(pagerduty2Handler, {
  section: section,
  send: (event, options, context) => {
    const scope = templateScope(event);
    return send(context, {
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
        send(context, {
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

/** RFC 3339 with nine digits of a second, which the service requires. */
function nineDigits(nanos: bigint): string {
  const iso = new Date(Number(nanos / 1_000_000n)).toISOString();
  const fraction = ((nanos % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n;
  return `${iso.slice(0, 19)}.${String(fraction).padStart(9, '0')}Z`;
}

async function send(
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
  const config = enabledSection(context, section);
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
