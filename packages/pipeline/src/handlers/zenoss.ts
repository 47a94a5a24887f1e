// zenoss: sends an event to Zenoss.
import { integer, json, str, template } from '@tidemark/settings/tables';
import { defineHandler } from '../definition/handler-definition.ts';

export const zenossHandler = defineHandler({
  kind: 'zenoss',
  doc: 'Sends an event to Zenoss.',
  options: {
    action: str('Router; empty is the configured one.'),
    method: str('Method; empty is the configured one.'),
    type: str('Type of the request; empty is the configured one.'),
    tid: integer('Number of the transaction; 0 is the configured one.'),
    summary: template('Template of the summary; empty is the message.'),
    device: template('Template of the device.'),
    component: template('Template of the component.'),
    eventclasskey: template('Template of the key of the event class.'),
    eventclass: template('Template of the event class.'),
    message: template('Template of the message.'),
    collector: template('Template of the collector; empty is the configured one.'),
    custom_fields: json('Further fields; texts are templates.', {}),
  },
  script: {
    name: 'zenoss',
    className: 'ZenossHandler',
    properties: {
      action: 'action',
      method: 'method',
      type: 'type',
      tid: 'tid',
      summary: 'summary',
      device: 'device',
      component: 'component',
      eventClassKey: 'eventclasskey',
      eventClass: 'eventclass',
      message: 'message',
      collector: 'collector',
      customField: 'custom_fields',
    },
  },
});
