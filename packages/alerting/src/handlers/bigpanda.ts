// bigpanda: BigPanda's alert API.
import { bigpandaHandler } from '@tidemark/pipeline';
import type { AlertLevelName } from '@tidemark/runtime';
import { InvalidRequest } from '@tidemark/core';
import {
  GLOBAL,
  INSECURE_SKIP_VERIFY,
  STATE_CHANGES_ONLY,
  checkUrl,
  defineSection,
  enabled,
  json,
  requireWhenEnabled,
  secret,
  str,
  tlsOf,
} from '@tidemark/settings';
import type { OptionsOf } from '@tidemark/settings';
import type { HandlerContext } from '../handler.ts';
import { defineTest, deliver, templateScope } from '../handler.ts';
import { parseLevel } from '../level.ts';
import { enabledSection, postJson } from './service.ts';

const section = defineSection({
  name: 'bigpanda',
  doc: 'BigPanda.',
  options: {
    ...enabled(),
    ...GLOBAL,
    ...STATE_CHANGES_ONLY,
    'app-key': str('Key of the integration.'),
    token: secret('Token of the API.'),
    ...INSECURE_SKIP_VERIFY,
    url: str('URL of the API.', 'https://api.bigpanda.io/data/v2/alerts'),
    'auto-attributes': str('Data to add automatically: tags, fields or both.', 'tags,fields'),
  },
  validate: (options) =>
    requireWhenEnabled(options, {
      'app-key': 'must specify app-key',
      token: 'must specify token',
      url: 'must specify url',
    }) ?? checkUrl('url', options.url),
});

type Config = OptionsOf<typeof section.options>;

const STATUSES: Readonly<Record<AlertLevelName, string>> = {
  OK: 'ok',
  INFO: 'ok',
  WARNING: 'warning',
  CRITICAL: 'critical',
};

export const bigpanda = deliver(bigpandaHandler, {
  section,
  send: async (event, options, context) => {
    const config = enabledSection(context, section);
    const scope = templateScope(event);
    const auto = config['auto-attributes'].split(',');
    const attributes = Object.entries(options.attributes ?? {}).map(([name, template]) => [
      name,
      context.render(template, scope),
    ]);
    const fields = Object.entries(event.context.fields).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : String(value),
    ]);
    const host = options.host;
    await send(config, context, {
      url: options.url || config.url,
      body: {
        ...(auto.includes('tags') ? event.context.tags : {}),
        ...(auto.includes('fields') ? Object.fromEntries(fields) : {}),
        description: event.message,
        ...(event.details.trimStart().startsWith('{') ? {} : { details: event.details }),
        check: event.id,
        task: `${event.context.taskName}:${event.context.name}`,
        timestamp: Number(event.time / 1_000_000_000n),
        status: STATUSES[event.level],
        app_key: options['app-key'] || config['app-key'],
        ...properties(options),
        ...(host === '' ? {} : { host: context.render(host, scope) }),
        ...Object.fromEntries(attributes),
      },
    });
  },
  tests: [
    defineTest({
      name: 'bigpanda',
      options: {
        app_key: str('Key of the integration; empty is the configured one.'),
        message: str('Text.', 'test bigpanda message'),
        level: str('Level.', 'CRITICAL'),
        event_data: json('Further data.', {}),
        timestamp: str('Not used.'),
        host: str('Host.', 'serverA'),
        primary_property: str('First property to group by.'),
        secondary_property: str('Second property to group by.'),
      },
      run: (options, context) => {
        const config = enabledSection(context, section);
        const level = parseLevel(options.level);
        if (level === undefined) throw new InvalidRequest('unknown alert level');
        return send(config, context, {
          url: config.url,
          body: {
            description: options.message,
            check: 'testCheck',
            host: options.host,
            status: STATUSES[level],
            timestamp: Number(context.clock.now() / 1_000_000_000n),
            app_key: options.app_key || config['app-key'],
          },
        });
      },
    }),
  ],
});

function properties(options: {
  readonly 'primary-property': string;
  readonly 'secondary-property': string;
}): Record<string, string> {
  const found: Record<string, string> = {};
  const primary = options['primary-property'];
  const secondary = options['secondary-property'];
  if (primary !== '') found['primary_property'] = primary;
  if (secondary !== '') found['secondary_property'] = secondary;
  return found;
}

async function send(
  config: Config,
  context: HandlerContext,
  alert: { readonly url: string; readonly body: object },
): Promise<void> {
  await postJson(context, {
    service: 'BigPanda',
    url: alert.url,
    headers: { Authorization: `Bearer ${config.token}` },
    tls: tlsOf(config),
    json: alert.body,
    expect: [200, 201],
  });
}
