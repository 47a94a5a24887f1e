// opsgenie: sends to OpsGenie, first version of its API.
import { list } from '@tidemark/settings/tables';
import { defineHandler } from '../definition/handler-definition.ts';

export const opsgenieHandler = defineHandler({
  kind: 'opsgenie',
  doc: 'Sends to OpsGenie, first version of its API.',
  options: {
    'teams-list': list('Teams; none means the configured ones.'),
    'recipients-list': list('Recipients; none means the configured ones.'),
  },
  script: {
    name: 'opsGenie',
    className: 'OpsGenieHandler',
    properties: { teams: 'teams-list', recipients: 'recipients-list' },
  },
});
