// chat: incoming webhooks of Slack and of the chats that understand the same message.
import type { AlertLevelName } from '@tidemark/runtime';
import { InvalidRequest } from '@tidemark/core';
import {
  flag,
  text,
  bool,
  checkUrl,
  enabled,
  GLOBAL,
  INSECURE_SKIP_VERIFY,
  requireWhenEnabled,
  secret,
  STATE_CHANGES_ONLY,
  str,
  TLS_FILES,
  tlsOf,
} from '@tidemark/settings';
import type { SectionSpec, Options } from '@tidemark/settings';
import type { HandlerContext, HandlerKind } from '../handler.ts';
import { parseLevel } from '../level.ts';
import { enabledSection, postJson } from './service.ts';

const section: SectionSpec = {
  name: 'chat',
  aliases: ['slack'],
  doc: 'Incoming webhooks of Slack and compatible chats, one element per workspace.',
  elementKey: 'workspace',
  options: [
    enabled(),
    bool('default', 'The workspace that is used when a handler names none.'),
    str('workspace', 'Name of this element.'),
    secret('url', 'URL of the incoming webhook.'),
    secret('token', 'Token that is sent as a bearer token.'),
    str('channel', 'Channel that is used when a handler names none.'),
    str('username', 'Name under which messages appear.', 'kapacitor'),
    str('icon-emoji', 'Emoji that is shown beside messages.'),
    GLOBAL,
    STATE_CHANGES_ONLY,
    ...TLS_FILES,
    INSECURE_SKIP_VERIFY,
  ],
  validate: (options) =>
    requireWhenEnabled(options, { url: 'must specify url' }) ?? checkUrl(options, 'url'),
  validateAll: (elements) => {
    const used = elements.filter((options) => flag(options, 'enabled'));
    if (used.length < 2) return undefined;
    for (const options of used) {
      if (text(options, 'workspace') === '') return 'id must not be empty';
      const isDefault = flag(options, 'default');
      const isGlobal = flag(options, 'global');
      if (isGlobal && !isDefault) return 'only the default config may be assigned as global';
      if (flag(options, 'state-changes-only') && !(isGlobal && isDefault)) {
        return 'stateChangesOnly may only be assigned when the config is both default and global';
      }
    }
    const defaults = used.filter((options) => flag(options, 'default'));
    if (defaults.length === 0) return 'at least one chat config must be set as default';
    return defaults.length > 1 ? 'only one chat config may be set as default' : undefined;
  },
};

const messageOptions = [
  str('workspace', 'Element of the configuration; empty is the default one.'),
  str('channel', 'Channel or user; empty is the configured one.'),
  str('username', 'Name under which the message appears.'),
  str('icon-emoji', 'Emoji beside the message.'),
];

const COLORS: Readonly<Record<AlertLevelName, string>> = {
  OK: 'good',
  INFO: 'good',
  WARNING: 'warning',
  CRITICAL: 'danger',
};

export const chat: HandlerKind = {
  kind: 'chat',
  aliases: ['slack'],
  doc: 'Posts to Slack or a compatible chat.',
  options: messageOptions,
  section,
  element: 'workspace',
  send: (event, options, context) => say(event.message, event.level, { options, context }),
  tests: ['chat', 'slack'].map((name) => ({
    name,
    configured: ['channel'],
    options: [
      str('workspace', 'Element of the configuration.'),
      str('channel', 'Channel or user.'),
      str('message', 'Text of the message.', `test ${name} message`),
      str('level', 'Level that chooses the color.', 'CRITICAL'),
      str('username', 'Name under which the message appears.'),
      str('icon-emoji', 'Emoji beside the message.'),
    ],
    run: (options, context) => {
      const level = parseLevel(text(options, 'level'));
      if (level === undefined)
        throw new InvalidRequest(`unknown alert level '${text(options, 'level')}'`);
      return say(text(options, 'message'), level, { options, context });
    },
  })),
};

async function say(
  message: string,
  level: AlertLevelName,
  { options, context }: { readonly options: Options; readonly context: HandlerContext },
): Promise<void> {
  const workspace = text(options, 'workspace');
  const config = enabledSection(context, 'chat', {
    id: workspace,
    unknown: workspace === '' ? 'service is not enabled' : 'workspace id not found',
  });
  const choose = (name: string): string => text(options, name) || text(config, name);
  const token = text(config, 'token');
  await postJson(context, {
    service: 'chat',
    url: text(config, 'url'),
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
