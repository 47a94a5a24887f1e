// pagerduty: PagerDuty's events API, first version.
import { pagerdutyHandler } from '@tidemark/pipeline';
import { InvalidRequest } from '@tidemark/core';
import {
  GLOBAL,
  checkUrl,
  defineSection,
  enabled,
  requireWhenEnabled,
  secret,
  str,
} from '@tidemark/settings';
import type { HandlerContext } from '../handler.ts';
import { defineTest, deliver } from '../handler.ts';
import { enabledSection, postJson } from './service.ts';

const section = defineSection({
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

export const pagerduty = deliver(pagerdutyHandler, {
  section: section,
  send: (event, options, context) =>
    send(context, {
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
        send(context, {
          key: '',
          level: options.level.toUpperCase(),
          incident: options['incident-key'],
          description: options.description,
          details: options.details,
        }),
    }),
  ],
});

async function send(
  context: HandlerContext,
  alert: {
    readonly key: string;
    readonly level: string;
    readonly incident: string;
    readonly description: string;
    readonly details: string;
  },
): Promise<void> {
  const config = enabledSection(context, section);
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
