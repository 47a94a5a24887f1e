// bigpanda: sends to BigPanda.
import { str, template, texts } from '@tidemark/settings/tables';
import { defineHandler } from '../definition/handler-definition.ts';

export const bigpandaHandler = defineHandler({
  kind: 'bigpanda',
  doc: 'Sends to BigPanda.',
  options: {
    'app-key': str('Key of the integration; empty is the configured one.'),
    url: str('URL of the API; empty is the configured one.'),
    host: template('Template of the host.'),
    'primary-property': str('Name of the property that incidents are grouped by.'),
    'secondary-property': str('Name of the second such property.'),
    attributes: texts('Further attributes, as templates.'),
  },
  script: {
    name: 'bigPanda',
    className: 'BigPandaHandler',
    properties: {
      appKey: 'app-key',
      host: 'host',
      primaryProperty: 'primary-property',
      secondaryProperty: 'secondary-property',
      attribute: 'attributes',
    },
  },
});
