// chat: posts to Slack or a compatible chat.
import { str } from '@tidemark/settings/tables';
import { defineHandler } from '../definition/handler-definition.ts';

export const chatHandler = defineHandler({
  kind: 'chat',
  aliases: ['slack'],
  doc: 'Posts to Slack or a compatible chat.',
  options: {
    workspace: str('Element of the configuration; empty is the default one.'),
    channel: str('Channel or user; empty is the configured one.'),
    username: str('Name under which the message appears.'),
    'icon-emoji': str('Emoji beside the message.'),
  },
  script: {
    name: 'slack',
    aliases: ['chat'],
    className: 'SlackHandler',
    properties: {
      workspace: 'workspace',
      channel: 'channel',
      username: 'username',
      iconEmoji: 'icon-emoji',
    },
  },
});
