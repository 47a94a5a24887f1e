// `fetch` over a unix socket, to the extent that the client of the database needs it.
import { request as httpRequest } from 'node:http';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';

/** Sends requests to the service behind a unix socket; host and port of URLs are ignored. */
export function socketFetch(socketPath: string): typeof fetch {
  return (input, init = {}) =>
    new Promise((resolve, reject) => {
      const url = new URL(input instanceof Request ? input.url : input);
      const headers = new Headers(init.headers);
      const isForm = init.body instanceof URLSearchParams;
      if (isForm) headers.set('Content-Type', 'application/x-www-form-urlencoded;charset=UTF-8');
      const request = httpRequest(
        {
          socketPath,
          path: url.pathname + url.search,
          method: init.method ?? 'GET',
          headers: Object.fromEntries(headers),
          ...(init.signal === undefined || init.signal === null ? {} : { signal: init.signal }),
        },
        (response) => {
          const status = response.statusCode ?? 0;
          const answer = new Headers();
          for (const [name, value] of Object.entries(response.headersDistinct)) {
            for (const one of value ?? []) answer.append(name, one);
          }
          const isEmpty = status === 204 || status === 304;
          if (isEmpty) response.resume();
          const body = isEmpty ? null : (Readable.toWeb(response) as ReadableStream<Uint8Array>);
          resolve(
            new Response(body as ConstructorParameters<typeof Response>[0], {
              status,
              headers: answer,
            }),
          );
        },
      );
      request.on('error', reject);
      request.end(bytesOf(init.body));
    });
}

function bytesOf(body: RequestInit['body']): string | Uint8Array | undefined {
  if (body === undefined || body === null) return undefined;
  if (typeof body === 'string' || body instanceof Uint8Array) return body;
  if (body instanceof URLSearchParams) return body.toString();
  throw new TypeError('a body over a unix socket is text, bytes or a form');
}
