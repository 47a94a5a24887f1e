// servicenow: sends an event to ServiceNow.
import { receiver, secret, str, template, texts } from '@tidemark/settings/tables';
import { defineHandler } from '../definition/handler-definition.ts';

export const servicenowHandler = defineHandler({
  kind: 'servicenow',
  doc: 'Sends an event to ServiceNow.',
  options: {
    url: receiver('URL of the API; empty is the configured one.'),
    username: str('User; empty is the configured one.'),
    password: secret('Password.'),
    source: str('Source; empty is the configured one.'),
    node: template('Template of the node.'),
    type: template('Template of the type.'),
    resource: template('Template of the resource.'),
    metric_name: template('Template of the name of the metric.'),
    message_key: template('Template of the key that tells alerts apart; empty is the event’s id.'),
    additional_info: texts('Further information, as templates.'),
  },
  script: {
    name: 'serviceNow',
    className: 'ServiceNowHandler',
    properties: {
      url: 'url',
      source: 'source',
      username: 'username',
      password: 'password',
      node: 'node',
      type: 'type',
      resource: 'resource',
      metricName: 'metric_name',
      messageKey: 'message_key',
      additionalInfo: 'additional_info',
    },
  },
});
