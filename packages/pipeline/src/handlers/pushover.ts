// pushover: sends a push notification.
import { secret, str } from '@tidemark/settings/tables';
import { defineHandler } from '../definition/handler-definition.ts';

export const pushoverHandler = defineHandler({
  kind: 'pushover',
  doc: 'Sends a push notification.',
  options: {
    'user-key': secret('User or group; empty is the configured one.'),
    device: str('Device; empty is all.'),
    title: str('Title.'),
    url: str('Link.'),
    'url-title': str('Text of the link.'),
    sound: str('Sound.'),
  },
  script: {
    name: 'pushover',
    className: 'PushoverHandler',
    properties: {
      userKey: 'user-key',
      device: 'device',
      title: 'title',
      URL: 'url',
      URLTitle: 'url-title',
      sound: 'sound',
    },
  },
});
