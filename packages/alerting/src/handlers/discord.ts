// discord: webhooks of Discord.
import type { AlertLevelName } from '@tidemark/runtime';
import { formatRfc3339, InvalidRequest } from '@tidemark/core';
import {
  flag,
  text,
  bool,
  checkUrl,
  enabled,
  GLOBAL,
  INSECURE_SKIP_VERIFY,
  requireWhenEnabled,
  STATE_CHANGES_ONLY,
  secret,
  str,
  template,
  TLS_FILES,
  tlsOf,
} from '@tidemark/settings';
import type { SectionSpec, Options } from '@tidemark/settings';
import type { HandlerContext, HandlerKind } from '../handler.ts';
import { templateScope } from '../handler.ts';
import { parseLevel } from '../level.ts';
import { enabledSection, postJson } from './service.ts';

const section: SectionSpec = {
  name: 'discord',
  doc: 'Webhooks of Discord, one element per workspace.',
  elementKey: 'workspace',
  options: [
    enabled(),
    bool('default', 'The workspace that is used when a handler names none.'),
    str('workspace', 'Name of this element.'),
    secret('url', 'URL of the webhook.'),
    bool('timestamp', 'Show the time of the event.'),
    str('username', 'Name under which messages appear.'),
    str('avatar-url', 'Picture beside messages.'),
    template('embed-title', 'Template of the title.'),
    GLOBAL,
    STATE_CHANGES_ONLY,
    ...TLS_FILES,
    INSECURE_SKIP_VERIFY,
  ],
  validate: (options) =>
    requireWhenEnabled(options, { url: 'must specify url' }) ?? checkUrl(options, 'url'),
  validateAll: (elements) => {
    const used = elements.filter((options) => flag(options, 'enabled'));
    const defaults = used.filter((options) => flag(options, 'default'));
    if (used.length < 2) return undefined;
    return defaults.length === 1 ? undefined : 'exactly one discord config must be set as default';
  },
};

const COLORS: Readonly<Record<AlertLevelName, number>> = {
  OK: 0x7a65f2,
  INFO: 0x7a65f2,
  WARNING: 0xf48d38,
  CRITICAL: 0xf95f53,
};

export const discord: HandlerKind = {
  kind: 'discord',
  doc: 'Posts to Discord.',
  options: [
    str('workspace', 'Element of the configuration; empty is the default one.'),
    str('username', 'Name under which the message appears.'),
    str('avatar-url', 'Picture beside the message.'),
    template('embed-title', 'Template of the title.'),
  ],
  section,
  element: 'workspace',
  send: async (event, options, context) => {
    const config = workspace(context, text(options, 'workspace'));
    const title = text(options, 'embed-title') || text(config, 'embed-title');
    await say(config, context, {
      username: text(options, 'username') || text(config, 'username'),
      avatar: text(options, 'avatar-url') || text(config, 'avatar-url'),
      title: title === '' ? '' : context.render(title, templateScope(event)),
      message: event.message,
      level: event.level,
      time: event.time,
    });
  },
  tests: [
    {
      name: 'discord',
      configured: ['username', 'avatar-url', 'embed-title'],
      options: [
        str('workspace', 'Element of the configuration.'),
        str('message', 'Text.', 'test discord message'),
        str('level', 'Level that chooses the color.', 'INFO'),
        str('username', 'Name under which the message appears.'),
        str('avatar-url', 'Picture beside the message.'),
        str('embed-title', 'Title.'),
        str('time-val', 'Not used.'),
      ],
      run: (options, context) => {
        const config = workspace(context, text(options, 'workspace'));
        const level = parseLevel(text(options, 'level'));
        if (level === undefined) throw new InvalidRequest('unknown alert level');
        return say(config, context, {
          username: text(options, 'username') || text(config, 'username'),
          avatar: text(options, 'avatar-url') || text(config, 'avatar-url'),
          title: text(options, 'embed-title'),
          message: text(options, 'message'),
          level,
          time: context.clock.now(),
        });
      },
    },
  ],
};

function workspace(context: HandlerContext, id: string): Options {
  const unknown = id === '' ? 'service is not enabled' : 'workspace id not found';
  return enabledSection(context, 'discord', { id, unknown });
}

async function say(
  config: Options,
  context: HandlerContext,
  message: {
    readonly username: string;
    readonly avatar: string;
    readonly title: string;
    readonly message: string;
    readonly level: AlertLevelName;
    readonly time: bigint;
  },
): Promise<void> {
  await postJson(context, {
    service: 'Discord',
    url: text(config, 'url'),
    tls: tlsOf(config),
    json: {
      username: message.username,
      avatar_url: message.avatar,
      embeds: [
        {
          description: message.message,
          color: COLORS[message.level],
          title: message.title,
          ...(flag(config, 'timestamp') ? { timestamp: formatRfc3339(message.time) } : {}),
        },
      ],
    },
    expect: [200, 204],
  });
}
