// telegram: sends a Telegram message.
import { bool, str } from '@tidemark/settings/tables';
import { defineHandler, flag } from '../definition/handler-definition.ts';

export const telegramHandler = defineHandler({
  kind: 'telegram',
  doc: 'Sends a Telegram message.',
  options: {
    'chat-id': str('Chat; empty is the configured one.'),
    'parse-mode': str('`Markdown` or `HTML`; empty is as configured.'),
    'disable-web-page-preview': bool('Show no previews of links.'),
    'disable-notification': bool('Make no sound.'),
  },
  script: {
    name: 'telegram',
    className: 'TelegramHandler',
    properties: {
      chatId: 'chat-id',
      parseMode: 'parse-mode',
      disableWebPagePreview: flag('disable-web-page-preview'),
      disableNotification: flag('disable-notification'),
    },
  },
});
