// Handlers that tell people: chats, mail, phones.
import { variadic } from '../evaluate/parameter.ts';
import { flag, list, text } from '../definition/handler-definition.ts';
import type { HandlerRow } from '../definition/handler-definition.ts';

const email: HandlerRow = {
  name: 'email',
  aliases: [],
  kind: 'smtp',
  className: 'EmailHandler',
  summary: 'sends mail; the message is the subject, the details are the text',
  parameters: [variadic('to', 'string')],
  create: (values) => (values.values.length === 0 ? {} : { to: values.strings(0) }),
  properties: [
    list('to', 'to', 'addresses; the configured ones if none are given'),
    list('toTemplates', 'to-field', 'templates over the event that give addresses'),
  ],
};

export const CHAT_HANDLERS: readonly HandlerRow[] = [
  {
    name: 'slack',
    aliases: ['chat'],
    kind: 'chat',
    className: 'SlackHandler',
    summary: 'posts to a channel of a chat service',
    parameters: [],
    create: () => ({}),
    properties: [
      text('workspace', 'workspace', 'configured workspace; the default one if not given'),
      text('channel', 'channel', 'channel; the configured one if not given'),
      text('username', 'username', 'name that the message shows'),
      text('iconEmoji', 'icon-emoji', 'icon that the message shows'),
    ],
  },
  {
    name: 'discord',
    aliases: [],
    kind: 'discord',
    className: 'DiscordHandler',
    summary: 'posts to Discord',
    parameters: [],
    create: () => ({}),
    properties: [
      text('workspace', 'workspace', 'configured workspace; the default one if not given'),
      text('username', 'username', 'name that the message shows'),
      text('avatarURL', 'avatar-url', 'picture that the message shows'),
      text('embedTitle', 'embed-title', 'template of the title'),
    ],
  },
  email,
  {
    name: 'hipChat',
    aliases: [],
    kind: 'hipchat',
    className: 'HipChatHandler',
    summary: 'posts to a HipChat room',
    parameters: [],
    create: () => ({}),
    properties: [text('room', 'room', 'room'), text('token', 'token', 'token of the room')],
  },
  {
    name: 'pushover',
    aliases: [],
    kind: 'pushover',
    className: 'PushoverHandler',
    summary: 'pushes to phones with Pushover',
    parameters: [],
    create: () => ({}),
    properties: [
      text('userKey', 'user-key', 'user or group; the configured one if not given'),
      text('device', 'device', 'one of the devices of the user'),
      text('title', 'title', 'title of the message'),
      text('URL', 'url', 'link of the message'),
      text('URLTitle', 'url-title', 'text of the link'),
      text('sound', 'sound', 'sound to play'),
    ],
  },
  {
    name: 'talk',
    aliases: [],
    kind: 'talk',
    className: 'TalkHandler',
    summary: 'posts to Talk',
    parameters: [],
    create: () => ({}),
    properties: [],
  },
  {
    name: 'teams',
    aliases: [],
    kind: 'teams',
    className: 'TeamsHandler',
    summary: 'posts to a channel of Microsoft Teams',
    parameters: [],
    create: () => ({}),
    properties: [text('channelURL', 'channel-url', 'address of the channel')],
  },
  {
    name: 'telegram',
    aliases: [],
    kind: 'telegram',
    className: 'TelegramHandler',
    summary: 'posts to a Telegram chat',
    parameters: [],
    create: () => ({}),
    properties: [
      text('chatId', 'chat-id', 'chat; the configured one if not given'),
      text('parseMode', 'parse-mode', 'Markdown or HTML'),
      flag('disableWebPagePreview', 'disable-web-page-preview', 'show no preview of links'),
      flag('disableNotification', 'disable-notification', 'deliver without sound'),
    ],
  },
];
