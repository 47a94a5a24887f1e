// pagerduty: sends to PagerDuty, first version of its events API.
import { secret } from '@tidemark/settings/tables';
import { defineHandler } from '../definition/handler-definition.ts';

export const pagerdutyHandler = defineHandler({
  kind: 'pagerduty',
  doc: 'Sends to PagerDuty, first version of its events API.',
  options: {
    'service-key': secret('Key of the service; empty is the configured one.'),
  },
  script: {
    name: 'pagerDuty',
    className: 'PagerDutyHandler',
    properties: { serviceKey: 'service-key' },
  },
});
