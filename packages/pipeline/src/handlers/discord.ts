// discord: posts to Discord.
import { str, template } from '@tidemark/settings/tables';
import { defineHandler } from '../definition/handler-definition.ts';

export const discordHandler = defineHandler({
  kind: 'discord',
  doc: 'Posts to Discord.',
  options: {
    workspace: str('Element of the configuration; empty is the default one.'),
    username: str('Name under which the message appears.'),
    'avatar-url': str('Picture beside the message.'),
    'embed-title': template('Template of the title.'),
  },
  script: {
    name: 'discord',
    className: 'DiscordHandler',
    properties: {
      workspace: 'workspace',
      username: 'username',
      avatarURL: 'avatar-url',
      embedTitle: 'embed-title',
    },
  },
});
