// hipchat: notifies a HipChat room.
import { secret, str } from '@tidemark/settings/tables';
import { defineHandler } from '../definition/handler-definition.ts';

export const hipchatHandler = defineHandler({
  kind: 'hipchat',
  doc: 'Notifies a HipChat room.',
  options: {
    room: str('Room; empty is the configured one.'),
    token: secret('Token of the API.'),
  },
  script: {
    name: 'hipChat',
    className: 'HipChatHandler',
    properties: { room: 'room', token: 'token' },
  },
});
