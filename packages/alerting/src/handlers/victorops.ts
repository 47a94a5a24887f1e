// victorops: VictorOps' generic REST integration.
import { InvalidRequest } from '@tidemark/core';
import {
  flag,
  text,
  bool,
  checkUrl,
  enabled,
  GLOBAL,
  requireWhenEnabled,
  secret,
  str,
} from '@tidemark/settings';
import type { SectionSpec } from '@tidemark/settings';
import { printDataJson } from '../event.ts';
import type { HandlerContext, HandlerKind } from '../handler.ts';
import { checkStatus, enabledSection } from './service.ts';

const section: SectionSpec = {
  name: 'victorops',
  doc: 'VictorOps.',
  options: [
    enabled(),
    secret('api-key', 'Key of the API.'),
    str('routing-key', 'Routing key when a handler names none.'),
    str(
      'url',
      'URL of the API.',
      'https://alert.victorops.com/integrations/generic/20131114/alert',
    ),
    GLOBAL,
    bool('json-data', 'Send data as JSON instead of as text that holds JSON.'),
  ],
  validate: (options) =>
    requireWhenEnabled(options, { url: 'url cannot be empty' }) ?? checkUrl(options, 'url'),
};

export const victorops: HandlerKind = {
  kind: 'victorops',
  doc: 'Sends to VictorOps.',
  options: [str('routing-key', 'Routing key; empty is the configured one.')],
  section,
  send: (event, options, context) =>
    send(context, {
      routingKey: text(options, 'routing-key'),
      type: event.level === 'OK' ? 'RECOVERY' : event.level,
      id: event.id,
      message: event.message,
      timestamp: event.time / 1_000_000_000n,
      data: printDataJson(event.data),
    }),
  tests: [
    {
      name: 'victorops',
      options: [
        str('routingKey', 'Routing key.'),
        str('messageType', 'Type of the message.', 'CRITICAL'),
        str('message', 'Text.', 'test victorops message'),
        str('entityID', 'Id of the alert.', 'testEntityID'),
      ],
      run: (options, context) =>
        send(context, {
          routingKey: text(options, 'routingKey'),
          type: text(options, 'messageType'),
          id: text(options, 'entityID'),
          message: text(options, 'message'),
          timestamp: context.clock.now() / 1_000_000_000n,
          data: 'null',
        }),
    },
  ],
};

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
  const config = enabledSection(context, 'victorops');
  const base = text(config, 'url').replace(/\/+$/, '');
  const key = encodeURIComponent(text(config, 'api-key'));
  const routing = encodeURIComponent(alert.routingKey || text(config, 'routing-key'));
  const body = JSON.stringify({
    message_type: alert.type,
    entity_id: alert.id,
    state_message: alert.message,
    timestamp: Number(alert.timestamp),
    monitoring_tool: 'kapacitor',
    data: flag(config, 'json-data') ? (JSON.parse(alert.data) as unknown) : alert.data,
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
