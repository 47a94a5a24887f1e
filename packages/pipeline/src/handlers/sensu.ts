// sensu: sends a result to Sensu.
import { json, list, template } from '@tidemark/settings/tables';
import { defineHandler } from '../definition/handler-definition.ts';

export const sensuHandler = defineHandler({
  kind: 'sensu',
  doc: 'Sends a result to Sensu.',
  options: {
    source: template('Template of the source; empty is the configured one.'),
    handlers: list('Handlers; none means the configured ones.'),
    metadata: json('Further members of the result.', {}),
  },
  script: {
    name: 'sensu',
    className: 'SensuHandler',
    properties: { source: 'source', handlers: 'handlers', metadata: 'metadata' },
  },
});
