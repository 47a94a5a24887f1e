// smtp: sends a mail.
import { list } from '@tidemark/settings/tables';
import { defineHandler } from '../definition/handler-definition.ts';

export const smtpHandler = defineHandler({
  kind: 'smtp',
  aliases: ['email'],
  doc: 'Sends a mail.',
  options: {
    to: list('Recipients; none means the configured ones.', []),
    'to-field': list('More recipients, as templates over the event.'),
  },
  script: {
    name: 'email',
    className: 'EmailHandler',
    arguments: [{ option: 'to', name: 'to' }],
    properties: { to: 'to', toTemplates: 'to-field' },
  },
});
