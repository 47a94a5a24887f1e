// post: sends each event to a URL or to a configured endpoint.
import { bool, duration, headers, receiver } from '@tidemark/settings/tables';
import { defineHandler, flag } from '../definition/handler-definition.ts';

export const postHandler = defineHandler({
  kind: 'post',
  aliases: ['httppost'],
  doc: 'Sends each event to a URL or to a configured endpoint.',
  options: {
    url: { ...receiver('Receiver.'), reaches: 'host' },
    endpoint: receiver('Element of the section `httppost` to use instead of a URL.'),
    headers: headers('Headers of the request.'),
    'capture-response': bool('Show the receiver’s answer in errors.'),
    timeout: duration('Longest time of a request; 0 is the common limit.'),
    'skip-ssl-verification': bool('Accept any TLS certificate.'),
  },
  script: {
    name: 'post',
    className: 'AlertHTTPPostHandler',
    arguments: [{ option: 'url', name: 'url', isOptional: true }],
    properties: {
      endpoint: 'endpoint',
      header: 'headers',
      captureResponse: flag('capture-response'),
      timeout: 'timeout',
      skipSSLVerification: flag('skip-ssl-verification'),
    },
    validate: ({ headers = {} }) =>
      Object.keys(headers).some((each) => each.toLowerCase() === 'authenticate')
        ? {
            text: "cannot set 'authenticate' header",
            properties: ['header'],
            hint: 'credentials belong to a configured endpoint: .endpoint(name)',
          }
        : undefined,
  },
});
