// aggregate: collects events and passes one combined event per interval to the next action and to a
// topic.
import { duration, str } from '@tidemark/settings/tables';
import { defineHandler } from '../definition/handler-definition.ts';

export const aggregateHandler = defineHandler({
  kind: 'aggregate',
  doc: 'Collects events and passes one combined event per interval to the next action and to a topic.',
  options: {
    interval: duration('Length of the interval.'),
    topic: str('Topic that gets the combined event.'),
    id: str('Template of the combined id.', 'aggregate'),
    message: str(
      'Template of the combined message; knows Count and Interval.',
      'Received {{ .Count }} events in the last {{ .Interval }}.',
    ),
  },
});
