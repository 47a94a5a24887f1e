// httpOut: keeps the latest row of each group and serves it over HTTP.
import { parameter } from '../evaluate/parameter.ts';
import { defineNode } from '../node-definition.ts';

export type HttpOutOptions = { readonly endpoint: string };

export const httpOutNode = defineNode<HttpOutOptions>({
  type: 'httpOut',
  label: 'http_out',
  className: 'HTTPOutNode',
  category: 'output',
  summary: "serves the latest row of each group at the task's address",
  wants: 'any',
  provides: 'same',
  parameters: [parameter('endpoint', 'string')],
  create: (values) => ({ endpoint: values.string(0) }),
  properties: [],
});
