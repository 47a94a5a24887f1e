// httpPost: posts every point or batch to a URL or a configured endpoint.
import { parameter, variadic } from '../evaluate/parameter.ts';
import {
  callProperty,
  defineNode,
  durationProperty,
  flagProperty,
  stringProperty,
} from '../node-definition.ts';

/** Exactly one of `url` and `endpoint` is not empty. */
export type HttpPostOptions = {
  readonly url: string;
  readonly endpoint: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly codeField: string;
  readonly isCapturingResponse: boolean;
  readonly timeoutNanos: bigint;
};

export const httpPostNode = defineNode<HttpPostOptions>({
  type: 'httpPost',
  label: 'http_post',
  className: 'HTTPPostNode',
  category: 'output',
  summary: 'posts each point or batch as JSON and passes it on',
  wants: 'any',
  provides: 'same',
  parameters: [variadic('url', 'string')],
  create: (values) => {
    const [url = '', ...others] = values.strings(0);
    if (others.length > 0) {
      values.refuseLater(`httpPost expects 0 or 1 arguments, got ${others.length + 1}`, {
        found: `${others.length + 1} arguments`,
        expected: ['one URL', 'nothing'],
      });
    }
    return {
      url,
      endpoint: '',
      headers: new Map(),
      codeField: '',
      isCapturingResponse: false,
      timeoutNanos: 0n,
    };
  },
  properties: [
    callProperty(
      'endpoint',
      [parameter('name', 'string')],
      'configured endpoint to use instead of a URL',
      (options, values) => {
        if (options.endpoint !== '') {
          values.refuseLater('httpPost expects 0 or 1 endpoints, got 2', {
            hint: 'leave out all but one .endpoint()',
          });
        }
        return { ...options, endpoint: values.string(0) };
      },
    ),
    callProperty(
      'header',
      [parameter('name', 'string'), parameter('value', 'string')],
      'adds a header',
      (options, values) => ({
        ...options,
        headers: new Map(options.headers).set(values.string(0), values.string(1)),
      }),
    ),
    stringProperty('codeField', 'codeField', 'adds the status of the answer as a field'),
    flagProperty(
      'captureResponse',
      'isCapturingResponse',
      'reports the answer when it is an error',
    ),
    durationProperty('timeout', 'timeoutNanos', 'time to wait for the answer'),
  ],
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
});
