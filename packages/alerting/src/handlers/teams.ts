// teams: incoming webhooks of Microsoft Teams.
import type { AlertLevelName } from '@tidemark/runtime';
import { InvalidRequest } from '@tidemark/core';
import {
  text,
  checkUrl,
  enabled,
  GLOBAL,
  requireWhenEnabled,
  secret,
  STATE_CHANGES_ONLY,
  str,
} from '@tidemark/settings';
import type { SectionSpec } from '@tidemark/settings';
import type { HandlerContext, HandlerKind } from '../handler.ts';
import { parseLevel } from '../level.ts';
import { enabledSection, postJson } from './service.ts';

const section: SectionSpec = {
  name: 'teams',
  doc: 'Microsoft Teams.',
  options: [
    enabled(),
    secret('channel-url', 'URL of the channel’s webhook when a handler names none.'),
    GLOBAL,
    STATE_CHANGES_ONLY,
  ],
  validate: (options) =>
    requireWhenEnabled(options, { 'channel-url': 'must specify channel URL' }) ??
    checkUrl(options, 'channel-url'),
};

const COLORS: Readonly<Record<AlertLevelName, string>> = {
  OK: '34CC25',
  INFO: '34CC25',
  WARNING: 'FFA533',
  CRITICAL: 'CC4A31',
};

const SUMMARY_CHARS_MAX = 70;

export const teams: HandlerKind = {
  kind: 'teams',
  doc: 'Posts to Microsoft Teams.',
  options: [secret('channel-url', 'URL of the channel’s webhook; empty is the configured one.')],
  section,
  send: (event, options, context) =>
    send(context, {
      url: text(options, 'channel-url'),
      id: event.id,
      message: event.message,
      level: event.level,
    }),
  tests: [
    {
      name: 'teams',
      options: [
        str('channel_url', 'URL of the channel’s webhook.'),
        str('alert_topic', 'Not used.', 'test teams alert topic'),
        str('alert_id', 'Id of the alert.', 'foo/bar/bat'),
        str('message', 'Text.', 'test teams message'),
        str('level', 'Level that chooses the color.', 'CRITICAL'),
      ],
      run: (options, context) => {
        const level = parseLevel(text(options, 'level'));
        if (level === undefined) throw new InvalidRequest('unknown alert level');
        return send(context, {
          url: text(options, 'channel_url'),
          id: text(options, 'alert_id'),
          message: text(options, 'message'),
          level,
        });
      },
    },
  ],
};

async function send(
  context: HandlerContext,
  alert: {
    readonly url: string;
    readonly id: string;
    readonly message: string;
    readonly level: AlertLevelName;
  },
): Promise<void> {
  const config = enabledSection(context, 'teams');
  const title = `${alert.level}: [${alert.id}]`;
  const summary = `${title} - ${alert.message}`;
  await postJson(context, {
    service: 'Teams',
    url: alert.url || text(config, 'channel-url'),
    json: {
      '@type': 'MessageCard',
      '@context': 'http://schema.org/extensions',
      title,
      text: alert.message,
      summary:
        summary.length > SUMMARY_CHARS_MAX ? `${summary.slice(0, SUMMARY_CHARS_MAX)}...` : summary,
      themeColor: COLORS[alert.level],
    },
    expect: [200, 204],
  });
}
