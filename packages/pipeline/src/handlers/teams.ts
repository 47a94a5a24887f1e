// teams: posts to Microsoft Teams.
import { secret } from '@tidemark/settings/tables';
import { defineHandler } from '../definition/handler-definition.ts';

export const teamsHandler = defineHandler({
  kind: 'teams',
  doc: 'Posts to Microsoft Teams.',
  options: {
    'channel-url': secret('URL of the channel’s webhook; empty is the configured one.'),
  },
  script: {
    name: 'teams',
    className: 'TeamsHandler',
    properties: { channelURL: 'channel-url' },
  },
});
