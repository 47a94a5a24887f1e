// teams: incoming webhooks of Microsoft Teams.
import { teamsHandler } from '@tidemark/pipeline';
import type { AlertLevelName } from '@tidemark/runtime';
import { InvalidRequest } from '@tidemark/core';
import {
  GLOBAL,
  STATE_CHANGES_ONLY,
  checkUrl,
  defineSection,
  enabled,
  requireWhenEnabled,
  secret,
  str,
} from '@tidemark/settings';
import type { HandlerContext } from '../handler.ts';
import { defineTest, deliver } from '../handler.ts';
import { parseLevel } from '../level.ts';
import { enabledSection, postJson } from './service.ts';

const section = defineSection({
  name: 'teams',
  doc: 'Microsoft Teams.',
  options: {
    ...enabled(),
    'channel-url': secret('URL of the channel’s webhook when a handler names none.'),
    ...GLOBAL,
    ...STATE_CHANGES_ONLY,
  },
  validate: (options) =>
    requireWhenEnabled(options, { 'channel-url': 'must specify channel URL' }) ??
    checkUrl('channel-url', options['channel-url']),
});

const COLORS: Readonly<Record<AlertLevelName, string>> = {
  OK: '34CC25',
  INFO: '34CC25',
  WARNING: 'FFA533',
  CRITICAL: 'CC4A31',
};

const SUMMARY_CHARS_MAX = 70;

export const teams = deliver(teamsHandler, {
  section,
  send: (event, options, context) =>
    send(context, {
      url: options['channel-url'],
      id: event.id,
      message: event.message,
      level: event.level,
    }),
  tests: [
    defineTest({
      name: 'teams',
      options: {
        channel_url: str('URL of the channel’s webhook.'),
        alert_topic: str('Not used.', 'test teams alert topic'),
        alert_id: str('Id of the alert.', 'foo/bar/bat'),
        message: str('Text.', 'test teams message'),
        level: str('Level that chooses the color.', 'CRITICAL'),
      },
      run: (options, context) => {
        const level = parseLevel(options.level);
        if (level === undefined) throw new InvalidRequest('unknown alert level');
        return send(context, {
          url: options.channel_url,
          id: options.alert_id,
          message: options.message,
          level,
        });
      },
    }),
  ],
});

async function send(
  context: HandlerContext,
  alert: {
    readonly url: string;
    readonly id: string;
    readonly message: string;
    readonly level: AlertLevelName;
  },
): Promise<void> {
  const config = enabledSection(context, section);
  const title = `${alert.level}: [${alert.id}]`;
  const summary = `${title} - ${alert.message}`;
  await postJson(context, {
    service: 'Teams',
    url: alert.url || config['channel-url'],
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
