// victorops: VictorOps' generic REST integration.
import { victoropsHandler } from '@tidemark/pipeline';
import { InvalidRequest } from '@tidemark/core';
import {
  GLOBAL,
  bool,
  checkUrl,
  defineSection,
  enabled,
  requireWhenEnabled,
  secret,
  str,
} from '@tidemark/settings';
import { printDataJson } from '../event.ts';
import type { HandlerContext } from '../handler.ts';
import { defineTest, deliver } from '../handler.ts';
import { checkStatus, enabledSection } from './service.ts';

const section = defineSection({
  name: 'victorops',
  doc: 'VictorOps.',
  options: {
    ...enabled(),
    'api-key': secret('Key of the API.'),
    'routing-key': str('Routing key when a handler names none.'),
    url: str('URL of the API.', 'https://alert.victorops.com/integrations/generic/20131114/alert'),
    ...GLOBAL,
    'json-data': bool('Send data as JSON instead of as text containing JSON.'),
  },
  validate: (options) =>
    requireWhenEnabled(options, { url: 'url cannot be empty' }) ?? checkUrl('url', options.url),
});

export const victorops = deliver(victoropsHandler, {
  section,
  send: (event, options, context) =>
    send(context, {
      routingKey: options['routing-key'],
      type: event.level === 'OK' ? 'RECOVERY' : event.level,
      id: event.id,
      message: event.message,
      timestamp: event.time / 1_000_000_000n,
      data: printDataJson(event.data),
    }),
  tests: [
    defineTest({
      name: 'victorops',
      options: {
        routingKey: str('Routing key.'),
        messageType: str('Type of the message.', 'CRITICAL'),
        message: str('Text.', 'test victorops message'),
        entityID: str('Id of the alert.', 'testEntityID'),
      },
      run: (options, context) =>
        send(context, {
          routingKey: options.routingKey,
          type: options.messageType,
          id: options.entityID,
          message: options.message,
          timestamp: context.clock.now() / 1_000_000_000n,
          data: 'null',
        }),
    }),
  ],
});

async function send(
  context: HandlerContext,
  alert: {
    readonly routingKey: string;
    readonly type: string;
    readonly id: string;
    readonly message: string;
    readonly timestamp: bigint;
    /** JSON text. */
    readonly data: string;
  },
): Promise<void> {
  const config = enabledSection(context, section);
  const base = config.url.replace(/\/+$/, '');
  const key = encodeURIComponent(config['api-key']);
  const routing = encodeURIComponent(alert.routingKey || config['routing-key']);
  const body = JSON.stringify({
    message_type: alert.type,
    entity_id: alert.id,
    state_message: alert.message,
    timestamp: Number(alert.timestamp),
    monitoring_tool: 'kapacitor',
    data: config['json-data'] ? (JSON.parse(alert.data) as unknown) : alert.data,
  });
  const response = await context.http.send(
    {
      method: 'POST',
      url: `${base}/${key}/${routing}`,
      headers: { 'Content-Type': 'application/json' },
      body,
    },
    context.signal,
  );
  if (response.status === 404) throw new InvalidRequest('URL or API key not found: 404');
  checkStatus(response, 'VictorOps', [200]);
}
