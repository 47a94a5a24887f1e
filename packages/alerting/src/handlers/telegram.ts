// telegram: messages by a Telegram bot.
import {
  flag,
  text,
  bool,
  checkUrl,
  enabled,
  GLOBAL,
  requireWhenEnabled,
  secret,
  STATE_CHANGES_ONLY,
  str,
} from '@tidemark/settings';
import type { SectionSpec, Options } from '@tidemark/settings';
import type { HandlerContext, HandlerKind } from '../handler.ts';
import { enabledSection, postJson } from './service.ts';

const section: SectionSpec = {
  name: 'telegram',
  doc: 'Telegram.',
  options: [
    enabled(),
    str('url', 'URL of the bot API.', 'https://api.telegram.org/bot'),
    secret('token', 'Token of the bot.'),
    str('chat-id', 'Chat when a handler names none.'),
    str('parse-mode', '`Markdown` or `HTML`.'),
    bool('disable-web-page-preview', 'Show no previews of links.'),
    bool('disable-notification', 'Make no sound.'),
    GLOBAL,
    STATE_CHANGES_ONLY,
  ],
  validate: (options) =>
    requireWhenEnabled(options, { url: 'must specify url', token: 'must specify token' }) ??
    checkUrl(options, 'url') ??
    checkParseMode(options),
};

function checkParseMode(options: Options): string | undefined {
  const mode = text(options, 'parse-mode');
  return ['', 'Markdown', 'HTML'].includes(mode)
    ? undefined
    : `parseMode ${mode} is not valid, please use 'Markdown' or 'HTML'`;
}

const messageOptions = [
  str('chat-id', 'Chat; empty is the configured one.'),
  str('parse-mode', '`Markdown` or `HTML`; empty is as configured.'),
  bool('disable-web-page-preview', 'Show no previews of links.'),
  bool('disable-notification', 'Make no sound.'),
];

export const telegram: HandlerKind = {
  kind: 'telegram',
  doc: 'Sends a Telegram message.',
  options: messageOptions,
  section,
  validate: checkParseMode,
  send: (event, options, context) => send(event.message, options, context),
  tests: [
    {
      name: 'telegram',
      configured: ['chat-id', 'parse-mode', 'disable-web-page-preview', 'disable-notification'],
      options: [
        str('chat-id', 'Chat.'),
        str('parse-mode', '`Markdown` or `HTML`.'),
        str('message', 'Text.', 'test telegram message'),
        bool('disable-web-page-preview', 'Show no previews of links.'),
        bool('disable-notification', 'Make no sound.'),
      ],
      run: (options, context) => send(text(options, 'message'), options, context),
    },
  ],
};

async function send(message: string, options: Options, context: HandlerContext): Promise<void> {
  const config = enabledSection(context, 'telegram');
  const parseMode = text(options, 'parse-mode') || text(config, 'parse-mode');
  const has = (name: string): boolean => flag(options, name) || flag(config, name);
  await postJson(context, {
    service: 'Telegram',
    url: `${text(config, 'url')}${text(config, 'token')}/sendMessage`,
    json: {
      chat_id: text(options, 'chat-id') || text(config, 'chat-id'),
      text: message,
      ...(parseMode === '' ? {} : { parse_mode: parseMode }),
      ...(has('disable-web-page-preview') ? { disable_web_page_preview: true } : {}),
      ...(has('disable-notification') ? { disable_notification: true } : {}),
    },
    expect: [200],
  });
}
