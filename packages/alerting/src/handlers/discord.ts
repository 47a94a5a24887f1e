// discord: webhooks of Discord.
import { discordHandler } from '@tidemark/pipeline';
import type { AlertLevelName } from '@tidemark/runtime';
import { formatRfc3339, InvalidRequest } from '@tidemark/core';
import {
  GLOBAL,
  INSECURE_SKIP_VERIFY,
  STATE_CHANGES_ONLY,
  TLS_FILES,
  bool,
  checkUrl,
  defineSection,
  enabled,
  requireWhenEnabled,
  secret,
  str,
  template,
  tlsOf,
} from '@tidemark/settings';
import type { OptionsOf } from '@tidemark/settings';
import type { HandlerContext } from '../handler.ts';
import { defineTest, deliver, templateScope } from '../handler.ts';
import { parseLevel } from '../level.ts';
import { enabledSection, postJson } from './service.ts';

const section = defineSection({
  name: 'discord',
  doc: 'Webhooks of Discord, one element per workspace.',
  elementKey: 'workspace',
  options: {
    ...enabled(),
    default: bool('The workspace that is used when a handler names none.'),
    workspace: str('Name of this element.'),
    url: secret('URL of the webhook.'),
    timestamp: bool('Show the time of the event.'),
    username: str('Name under which messages appear.'),
    'avatar-url': str('Picture beside messages.'),
    'embed-title': template('Template of the title.'),
    ...GLOBAL,
    ...STATE_CHANGES_ONLY,
    ...TLS_FILES,
    ...INSECURE_SKIP_VERIFY,
  },
  validate: (options) =>
    requireWhenEnabled(options, { url: 'must specify url' }) ?? checkUrl('url', options.url),
  validateAll: (elements) => {
    const used = elements.filter((options) => options.enabled);
    const defaults = used.filter((options) => options.default);
    if (used.length < 2) return undefined;
    return defaults.length === 1 ? undefined : 'exactly one discord config must be set as default';
  },
});

type Config = OptionsOf<typeof section.options>;

const COLORS: Readonly<Record<AlertLevelName, number>> = {
  OK: 0x7a65f2,
  INFO: 0x7a65f2,
  WARNING: 0xf48d38,
  CRITICAL: 0xf95f53,
};

export const discord = deliver(discordHandler, {
  section,
  element: 'workspace',
  send: async (event, options, context) => {
    const config = workspace(context, options.workspace);
    const title = options['embed-title'] || config['embed-title'];
    await say(config, context, {
      username: options.username || config.username,
      avatar: options['avatar-url'] || config['avatar-url'],
      title: title === '' ? '' : context.render(title, templateScope(event)),
      message: event.message,
      level: event.level,
      time: event.time,
    });
  },
  tests: [
    defineTest({
      name: 'discord',
      configured: ['username', 'avatar-url', 'embed-title'],
      options: {
        workspace: str('Element of the configuration.'),
        message: str('Text.', 'test discord message'),
        level: str('Level that chooses the color.', 'INFO'),
        username: str('Name under which the message appears.'),
        'avatar-url': str('Picture beside the message.'),
        'embed-title': str('Title.'),
        'time-val': str('Not used.'),
      },
      run: (options, context) => {
        const config = workspace(context, options.workspace);
        const level = parseLevel(options.level);
        if (level === undefined) throw new InvalidRequest('unknown alert level');
        return say(config, context, {
          username: options.username || config.username,
          avatar: options['avatar-url'] || config['avatar-url'],
          title: options['embed-title'],
          message: options.message,
          level,
          time: context.clock.now(),
        });
      },
    }),
  ],
});

function workspace(context: HandlerContext, id: string): Config {
  const unknown = id === '' ? 'service is not enabled' : 'workspace id not found';
  return enabledSection(context, section, { id, unknown });
}

async function say(
  config: Config,
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
    url: config.url,
    tls: tlsOf(config),
    json: {
      username: message.username,
      avatar_url: message.avatar,
      embeds: [
        {
          description: message.message,
          color: COLORS[message.level],
          title: message.title,
          ...(config.timestamp ? { timestamp: formatRfc3339(message.time) } : {}),
        },
      ],
    },
    expect: [200, 204],
  });
}
