// telegram: messages by a Telegram bot.
import { telegramHandler } from '@tidemark/pipeline';
import {
  GLOBAL,
  STATE_CHANGES_ONLY,
  bool,
  checkUrl,
  defineSection,
  enabled,
  requireWhenEnabled,
  secret,
  str,
} from '@tidemark/settings';
import type { OptionsOf } from '@tidemark/settings';
import type { HandlerContext } from '../handler.ts';
import { defineTest, deliver } from '../handler.ts';
import { enabledSection, postJson } from './service.ts';

const section = defineSection({
  name: 'telegram',
  doc: 'Telegram.',
  options: {
    ...enabled(),
    url: str('URL of the bot API.', 'https://api.telegram.org/bot'),
    token: secret('Token of the bot.'),
    'chat-id': str('Chat when a handler names none.'),
    'parse-mode': str('`Markdown` or `HTML`.'),
    'disable-web-page-preview': bool('Show no previews of links.'),
    'disable-notification': bool('Make no sound.'),
    ...GLOBAL,
    ...STATE_CHANGES_ONLY,
  },
  validate: (options) =>
    requireWhenEnabled(options, { url: 'must specify url', token: 'must specify token' }) ??
    checkUrl('url', options.url) ??
    checkParseMode(options),
});

function checkParseMode(options: { readonly 'parse-mode': string }): string | undefined {
  const mode = options['parse-mode'];
  return ['', 'Markdown', 'HTML'].includes(mode)
    ? undefined
    : `parseMode ${mode} is not valid, please use 'Markdown' or 'HTML'`;
}

export const telegram = deliver(telegramHandler, {
  section,
  validate: checkParseMode,
  send: (event, options, context) => send(event.message, options, context),
  tests: [
    defineTest({
      name: 'telegram',
      configured: ['chat-id', 'parse-mode', 'disable-web-page-preview', 'disable-notification'],
      options: {
        'chat-id': str('Chat.'),
        'parse-mode': str('`Markdown` or `HTML`.'),
        message: str('Text.', 'test telegram message'),
        'disable-web-page-preview': bool('Show no previews of links.'),
        'disable-notification': bool('Make no sound.'),
      },
      run: (options, context) => send(options.message, options, context),
    }),
  ],
});

async function send(
  message: string,
  options: OptionsOf<typeof telegramHandler.options>,
  context: HandlerContext,
): Promise<void> {
  const config = enabledSection(context, section);
  const parseMode = options['parse-mode'] || config['parse-mode'];
  const has = (name: 'disable-web-page-preview' | 'disable-notification'): boolean =>
    options[name] || config[name];
  await postJson(context, {
    service: 'Telegram',
    url: `${config.url}${config.token}/sendMessage`,
    json: {
      chat_id: options['chat-id'] || config['chat-id'],
      text: message,
      ...(parseMode === '' ? {} : { parse_mode: parseMode }),
      ...(has('disable-web-page-preview') ? { disable_web_page_preview: true } : {}),
      ...(has('disable-notification') ? { disable_notification: true } : {}),
    },
    expect: [200],
  });
}
