// alerta: sends to Alerta.
import { duration, json, list, secret, str, template } from '@tidemark/settings/tables';
import { defineHandler } from '../definition/handler-definition.ts';

export const alertaHandler = defineHandler({
  kind: 'alerta',
  doc: 'Sends to Alerta.',
  options: {
    token: secret('Token instead of the configured one.'),
    'token-prefix': str('Word before the token.'),
    resource: template('Template of the resource.', '{{ .Name }}'),
    event: template('Template of the event.', '{{ .ID }}'),
    environment: template('Template of the environment.'),
    group: template('Template of the group.', '{{ .Group }}'),
    value: template('Template of the value.'),
    origin: str('Origin.'),
    service: list('Templates of the affected services; none means the measurement.'),
    correlate: list('Templates of related events; none means the measurement.'),
    attributes: json('Further attributes; texts are templates.', {}),
    timeout: duration('Lifetime of the alert; 0 is the configured one, and 24 h when none is.'),
  },
  script: {
    name: 'alerta',
    className: 'AlertaHandler',
    properties: {
      token: 'token',
      tokenPrefix: 'token-prefix',
      resource: 'resource',
      event: 'event',
      environment: 'environment',
      group: 'group',
      value: 'value',
      origin: 'origin',
      services: 'service',
      correlated: 'correlate',
      attribute: 'attributes',
      timeout: 'timeout',
    },
  },
});
