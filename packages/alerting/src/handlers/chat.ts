// chat: incoming webhooks of Slack and of chats that accept the same message.
import { chatHandler } from '@tidemark/pipeline';
import type { AlertLevelName } from '@tidemark/runtime';
import { InvalidRequest } from '@tidemark/core';
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
  tlsOf,
} from '@tidemark/settings';
import type { OptionsOf } from '@tidemark/settings';
import type { HandlerContext } from '../handler.ts';
import { deliver, defineTest } from '../handler.ts';
import { parseLevel } from '../level.ts';
import { enabledSection, postJson } from './service.ts';

const section = defineSection({
  name: 'chat',
  aliases: ['slack'],
  doc: 'Incoming webhooks of Slack and compatible chats, one element per workspace.',
  elementKey: 'workspace',
  options: {
    ...enabled(),
    default: bool('The workspace that is used when a handler names none.'),
    workspace: str('Name of this element.'),
    url: secret('URL of the incoming webhook.'),
    token: secret('Token that is sent as a bearer token.'),
    channel: str('Channel that is used when a handler names none.'),
    username: str('Name under which messages appear.', 'kapacitor'),
    'icon-emoji': str('Emoji that is shown beside messages.'),
    ...GLOBAL,
    ...STATE_CHANGES_ONLY,
    ...TLS_FILES,
    ...INSECURE_SKIP_VERIFY,
  },
  validate: (options) =>
    requireWhenEnabled(options, { url: 'must specify url' }) ?? checkUrl('url', options.url),
  validateAll: (elements) => {
    const used = elements.filter((options) => options.enabled);
    if (used.length < 2) return undefined;
    for (const options of used) {
      if (options.workspace === '') return 'id must not be empty';
      const isDefault = options.default;
      const isGlobal = options.global;
      if (isGlobal && !isDefault) return 'only the default config may be assigned as global';
      if (options['state-changes-only'] && !(isGlobal && isDefault)) {
        return 'stateChangesOnly may only be assigned when the config is both default and global';
      }
    }
    const defaults = used.filter((options) => options.default);
    if (defaults.length === 0) return 'at least one chat config must be set as default';
    return defaults.length > 1 ? 'only one chat config may be set as default' : undefined;
  },
});

const COLORS: Readonly<Record<AlertLevelName, string>> = {
  OK: 'good',
  INFO: 'good',
  WARNING: 'warning',
  CRITICAL: 'danger',
};

export const chat = deliver(chatHandler, {
  section,
  element: 'workspace',
  send: (event, options, context) => say(event.message, event.level, { options, context }),
  tests: ['chat', 'slack'].map((name) =>
    defineTest({
      name,
      configured: ['channel'],
      options: {
        workspace: str('Element of the configuration.'),
        channel: str('Channel or user.'),
        message: str('Text of the message.', `test ${name} message`),
        level: str('Level that chooses the color.', 'CRITICAL'),
        username: str('Name under which the message appears.'),
        'icon-emoji': str('Emoji beside the message.'),
      },
      run: (options, context) => {
        const level = parseLevel(options.level);
        if (level === undefined) throw new InvalidRequest(`unknown alert level '${options.level}'`);
        return say(options.message, level, { options, context });
      },
    }),
  ),
});

async function say(
  message: string,
  level: AlertLevelName,
  {
    options,
    context,
  }: { readonly options: OptionsOf<typeof chatHandler.options>; readonly context: HandlerContext },
): Promise<void> {
  const workspace = options.workspace;
  const config = enabledSection(context, section, {
    id: workspace,
    unknown: workspace === '' ? 'service is not enabled' : 'workspace id not found',
  });
  const choose = (name: 'channel' | 'username' | 'icon-emoji'): string =>
    options[name] || config[name];
  const token = config.token;
  await postJson(context, {
    service: 'chat',
    url: config.url,
    tls: tlsOf(config),
    headers: token === '' ? {} : { Authorization: `Bearer ${token}` },
    json: {
      channel: choose('channel'),
      text: '',
      attachments: [
        { fallback: message, color: COLORS[level], text: message, mrkdwn_in: ['text'] },
      ],
      username: choose('username'),
      icon_emoji: choose('icon-emoji'),
    },
    expect: [200],
  });
}
