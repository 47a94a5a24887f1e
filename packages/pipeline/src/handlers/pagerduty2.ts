// pagerduty2: sends to PagerDuty, second version of its events API.
import { json, secret } from '@tidemark/settings/tables';
import { parameter, variadic } from '../evaluate/parameter.ts';
import type { Arguments } from '../evaluate/parameter.ts';
import { appended, defineHandler } from '../definition/handler-definition.ts';
import type { HandlerOption } from '../pipeline.ts';

export const pagerduty2Handler = defineHandler({
  kind: 'pagerduty2',
  doc: 'Sends to PagerDuty, second version of its events API.',
  options: {
    'routing-key': secret('Key of the integration; empty is the configured one.'),
    links: json('Links `{href, text}`, as templates.', []),
  },
  script: {
    name: 'pagerDuty2',
    className: 'PagerDuty2Handler',
    properties: {
      routingKey: 'routing-key',
      serviceKey: 'routing-key',
      link: {
        option: 'links',
        summary: 'adds a link; address and text are templates',
        style: 'call',
        parameters: [parameter('href', 'string'), variadic('text', 'string')],
        apply: (before, values) => appended(before, linkOf(values)),
      },
    },
  },
});

/** `.link('https://…', 'text')`; the text may be absent. */
function linkOf(values: Arguments): HandlerOption {
  const label = values.strings(1)[0];
  return { href: values.string(0), ...(label === undefined ? {} : { text: label }) };
}
