// bigpanda: BigPanda's alert API.
import type { AlertLevelName } from '@tidemark/runtime';
import { InvalidRequest } from '@tidemark/core';
import {
  map,
  text,
  checkUrl,
  enabled,
  GLOBAL,
  INSECURE_SKIP_VERIFY,
  requireWhenEnabled,
  secret,
  STATE_CHANGES_ONLY,
  str,
  template,
  tlsOf,
} from '@tidemark/settings';
import type { SectionSpec, Options } from '@tidemark/settings';
import type { HandlerKind, HandlerContext } from '../handler.ts';
import { templateScope } from '../handler.ts';
import { parseLevel } from '../level.ts';
import { enabledSection, postJson } from './service.ts';

const section: SectionSpec = {
  name: 'bigpanda',
  doc: 'BigPanda.',
  options: [
    enabled(),
    GLOBAL,
    STATE_CHANGES_ONLY,
    str('app-key', 'Key of the integration.'),
    secret('token', 'Token of the API.'),
    INSECURE_SKIP_VERIFY,
    str('url', 'URL of the API.', 'https://api.bigpanda.io/data/v2/alerts'),
    str('auto-attributes', 'What is added by itself: tags, fields or both.', 'tags,fields'),
  ],
  validate: (options) =>
    requireWhenEnabled(options, {
      'app-key': 'must specify app-key',
      token: 'must specify token',
      url: 'must specify url',
    }) ?? checkUrl(options, 'url'),
};

const STATUSES: Readonly<Record<AlertLevelName, string>> = {
  OK: 'ok',
  INFO: 'ok',
  WARNING: 'warning',
  CRITICAL: 'critical',
};

export const bigpanda: HandlerKind = {
  kind: 'bigpanda',
  doc: 'Sends to BigPanda.',
  options: [
    str('app-key', 'Key of the integration; empty is the configured one.'),
    str('url', 'URL of the API; empty is the configured one.'),
    template('host', 'Template of the host.'),
    str('primary-property', 'Name of the property that incidents are grouped by.'),
    str('secondary-property', 'Name of the second such property.'),
    {
      name: 'attributes',
      type: 'string-map',
      default: null,
      doc: 'Further attributes, as templates.',
    },
  ],
  section,
  send: async (event, options, context) => {
    const config = enabledSection(context, 'bigpanda');
    const scope = templateScope(event);
    const auto = text(config, 'auto-attributes').split(',');
    const attributes = Object.entries(map(options, 'attributes')).map(([name, template]) => [
      name,
      context.render(template, scope),
    ]);
    const fields = Object.entries(event.context.fields).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : String(value),
    ]);
    const host = text(options, 'host');
    await send(config, context, {
      url: text(options, 'url') || text(config, 'url'),
      body: {
        ...(auto.includes('tags') ? event.context.tags : {}),
        ...(auto.includes('fields') ? Object.fromEntries(fields) : {}),
        description: event.message,
        ...(event.details.trimStart().startsWith('{') ? {} : { details: event.details }),
        check: event.id,
        task: `${event.context.taskName}:${event.context.name}`,
        timestamp: Number(event.time / 1_000_000_000n),
        status: STATUSES[event.level],
        app_key: text(options, 'app-key') || text(config, 'app-key'),
        ...properties(options),
        ...(host === '' ? {} : { host: context.render(host, scope) }),
        ...Object.fromEntries(attributes),
      },
    });
  },
  tests: [
    {
      name: 'bigpanda',
      options: [
        str('app_key', 'Key of the integration; empty is the configured one.'),
        str('message', 'Text.', 'test bigpanda message'),
        str('level', 'Level.', 'CRITICAL'),
        { name: 'event_data', type: 'json', default: {}, doc: 'Further data.' },
        str('timestamp', 'Not used.'),
        str('host', 'Host.', 'serverA'),
        str('primary_property', 'First property to group by.'),
        str('secondary_property', 'Second property to group by.'),
      ],
      run: (options, context) => {
        const config = enabledSection(context, 'bigpanda');
        const level = parseLevel(text(options, 'level'));
        if (level === undefined) throw new InvalidRequest('unknown alert level');
        return send(config, context, {
          url: text(config, 'url'),
          body: {
            description: text(options, 'message'),
            check: 'testCheck',
            host: text(options, 'host'),
            status: STATUSES[level],
            timestamp: Number(context.clock.now() / 1_000_000_000n),
            app_key: text(options, 'app_key') || text(config, 'app-key'),
          },
        });
      },
    },
  ],
};

function properties(options: Options): Record<string, string> {
  const found: Record<string, string> = {};
  const primary = text(options, 'primary-property');
  const secondary = text(options, 'secondary-property');
  if (primary !== '') found['primary_property'] = primary;
  if (secondary !== '') found['secondary_property'] = secondary;
  return found;
}

async function send(
  config: Options,
  context: HandlerContext,
  alert: { readonly url: string; readonly body: object },
): Promise<void> {
  await postJson(context, {
    service: 'BigPanda',
    url: alert.url,
    headers: { Authorization: `Bearer ${text(config, 'token')}` },
    tls: tlsOf(config),
    json: alert.body,
    expect: [200, 201],
  });
}
