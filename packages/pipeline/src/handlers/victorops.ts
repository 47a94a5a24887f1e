// victorops: sends to VictorOps.
import { str } from '@tidemark/settings/tables';
import { defineHandler } from '../definition/handler-definition.ts';

export const victoropsHandler = defineHandler({
  kind: 'victorops',
  doc: 'Sends to VictorOps.',
  options: {
    'routing-key': str('Routing key; empty is the configured one.'),
  },
  script: {
    name: 'victorOps',
    className: 'VictorOpsHandler',
    properties: { routingKey: 'routing-key' },
  },
});
