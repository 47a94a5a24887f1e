// httpPost: posts every point or batch to a URL or a configured endpoint.
import { parameter, variadic } from '../evaluate/parameter.ts';
import type { Arguments } from '../evaluate/parameter.ts';
import { defineNode } from '../definition/node-definition.ts';
import {
  argument,
  callOption,
  durationOption,
  flagOption,
  stringMapOption,
  stringOption,
} from '../definition/option.ts';
import { PER_MESSAGE } from '../definition/split.ts';

export const httpPostNode = defineNode({
  type: 'httpPost',
  label: 'http_post',
  className: 'HTTPPostNode',
  category: 'output',
  summary: 'posts each point or batch as JSON and passes it on',
  wants: 'any',
  provides: 'same',
  split: PER_MESSAGE,
  /** Exactly one of `url` and `endpoint` is not empty. */
  options: {
    url: argument('', variadic('url', 'string'), urlOf),
    endpoint: callOption('', {
      name: 'endpoint',
      summary: 'configured endpoint to use instead of a URL',
      parameters: [parameter('name', 'string')],
      apply: (before, values) => {
        if (before !== '') {
          values.refuseLater('httpPost expects 0 or 1 endpoints, got 2', {
            hint: 'leave out all but one .endpoint()',
          });
        }
        return values.string(0);
      },
    }),
    headers: stringMapOption('header', 'adds a header'),
    codeField: stringOption('codeField', 'adds the status of the answer as a field'),
    isCapturingResponse: flagOption('captureResponse', 'reports the answer when it is an error'),
    timeoutNanos: durationOption('timeout', 'time to wait for the answer'),
  },
  validate: ({ url, endpoint, headers }) => {
    if (url === '' && endpoint === '') {
      return {
        text: 'must provide url or endpoint',
        hint: "write |httpPost('http://host/path') or .endpoint('name')",
      };
    }
    if (url !== '' && endpoint !== '') {
      return {
        text: 'only one endpoint and url may be specified',
        properties: ['endpoint'],
        hint: 'leave out the URL or .endpoint()',
      };
    }
    return [...headers.keys()].some((each) => each.toLowerCase() === 'authenticate')
      ? {
          text: "cannot set 'authenticate' header",
          properties: ['header'],
          hint: 'credentials belong to a configured endpoint: .endpoint(name)',
        }
      : undefined;
  },
  effects: ({ endpoint, headers }) => ({
    needsEndpoint: endpoint === '' ? undefined : endpoint,
    sendsHeaders: headers,
  }),
});

function urlOf(values: Arguments): string {
  const [url = '', ...others] = values.strings(0);
  if (others.length > 0) {
    values.refuseLater(`httpPost expects 0 or 1 arguments, got ${others.length + 1}`, {
      found: `${others.length + 1} arguments`,
      expected: ['one URL', 'nothing'],
    });
  }
  return url;
}
