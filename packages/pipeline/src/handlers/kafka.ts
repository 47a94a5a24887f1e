// kafka: sends to a Kafka topic.
import { bool, str, template } from '@tidemark/settings/tables';
import { defineHandler, flag } from '../definition/handler-definition.ts';

export const kafkaHandler = defineHandler({
  kind: 'kafka',
  doc: 'Sends to a Kafka topic.',
  options: {
    cluster: str('Element of the configuration; empty is the only one.'),
    topic: str('Topic.'),
    template: template('Template of the value; empty sends the event as JSON.'),
    disablePartitionById: bool('Do not choose the partition by the event’s id.'),
    partitionAlgorithm: str('`crc32`, `murmur2`, `murmur3` or `fnv-1a`.', 'crc32'),
  },
  script: {
    name: 'kafka',
    className: 'KafkaHandler',
    properties: {
      cluster: 'cluster',
      kafkaTopic: 'topic',
      template: 'template',
      disablePartitionById: flag('disablePartitionById'),
      partitionHashAlgorithm: 'partitionAlgorithm',
    },
  },
});
