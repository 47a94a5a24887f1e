// mqtt: publishes the message to an MQTT topic.
import { bool, str, template } from '@tidemark/settings/tables';
import { parameter } from '../evaluate/parameter.ts';
import type { Arguments } from '../evaluate/parameter.ts';
import { defineHandler } from '../definition/handler-definition.ts';

const QUALITIES = ['at-most-once', 'at-least-once', 'exactly-one'];

export const mqttHandler = defineHandler({
  kind: 'mqtt',
  doc: 'Publishes the message to an MQTT topic.',
  options: {
    'broker-name': str('Element of the configuration; empty is the default one.'),
    topic: template('Template of the topic.'),
    qos: str('`at-most-once`, `at-least-once` or `exactly-one`.', 'at-most-once'),
    retained: bool('The broker keeps the message for new subscribers.'),
  },
  script: {
    name: 'mqtt',
    className: 'MQTTHandler',
    arguments: [{ option: 'topic', name: 'topic' }],
    properties: {
      brokerName: 'broker-name',
      qos: {
        option: 'qos',
        summary: 'quality of service: 0, 1 or 2',
        parameters: [parameter('qos', 'int')],
        apply: (_, values) => qualityOf(values),
      },
      retained: 'retained',
    },
  },
});

function qualityOf(values: Arguments): string {
  const level = values.integer(0);
  const name = QUALITIES[Number(level)];
  if (name === undefined) {
    values.refuseLater(`invalid MQTT quality of service ${level}`, {
      found: String(level),
      expected: ['0', '1', '2'],
    });
  }
  return name ?? '';
}
