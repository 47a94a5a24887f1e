// fastify: routes of everything that is not hot, and the API document generated from their schemas.
import type { IncomingMessage } from 'node:http';

import swagger from '@fastify/swagger';
import { Type } from '@sinclair/typebox';
import { TIDEMARK_VERSION } from '@tidemark/core';
import fastify from 'fastify';
import type { FastifyInstance, HTTPMethods } from 'fastify';

import { sendJson } from './answer.ts';
import type { Dispatch } from './dispatch.ts';
import { ENDPOINT_SCHEMAS } from './endpoint-schemas.ts';
import { OPENAPI_ENDPOINT } from './endpoints.ts';
import type { Endpoint, ServedEndpoint } from './endpoints.ts';
import type { Exchange } from './exchange.ts';

// Ids of other services are up to 1,024 bytes; the two share their traps
// (docs/adr/0005-http-stack.md).
const MAX_PARAMETER_BYTES = 1100;

const ErrorBody = Type.Object({ error: Type.String() }, { description: 'What is wrong' });

/** The API document's entry for one method of an endpoint. */
function schemaOf({ path, right, summary }: Endpoint, method: string) {
  const { body, consumes, ...schema } = ENDPOINT_SCHEMAS[path] ?? {};
  return {
    summary,
    operationId: `${method.toLowerCase()}${path.replace(/[^a-z0-9]+/gi, '-')}`,
    ...schema,
    ...((method === 'POST' || method === 'PUT') && body !== undefined
      ? { body, consumes: consumes ?? [] }
      : {}),
    security: right === 'open' || right === 'ping' ? [] : [{}, { basic: [] }, { bearer: [] }],
    response: {
      '2xx': Type.Any({ description: 'Success' }),
      '4xx': ErrorBody,
      '5xx': ErrorBody,
    },
  };
}

/**
 * An instance that is ready to route. `exchangeOf` finds the exchange that was opened for a
 * request.
 */
export async function buildRoutes(
  dispatch: Dispatch,
  exchangeOf: (request: IncomingMessage) => Exchange,
): Promise<FastifyInstance> {
  const app = fastify({
    logger: false,
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: MAX_PARAMETER_BYTES },
  });
  // Handlers read the raw request: the endpoint decides how to read a body, whatever its content
  // type.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Tidemark database',
        description: 'Time-series database: write line protocol, query with InfluxQL.',
        version: TIDEMARK_VERSION,
      },
      components: {
        securitySchemes: {
          basic: { type: 'http', scheme: 'basic' },
          bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
        },
      },
    },
  });
  // Handlers validate, with texts that clients know; the schemas are documentation.
  app.setValidatorCompiler(() => () => true);
  const document: ServedEndpoint = {
    ...OPENAPI_ENDPOINT,
    handle: async (exchange) => sendJson(exchange, 200, app.swagger()),
  };
  for (const endpoint of [...dispatch.endpoints, document]) {
    for (const method of endpoint.methods) {
      app.route({
        method: method as HTTPMethods,
        url: endpoint.path,
        schema: schemaOf(endpoint, method),
        handler: async (request, reply) => {
          reply.hijack();
          await dispatch.answer(endpoint, exchangeOf(request.raw));
        },
      });
    }
  }
  app.setNotFoundHandler(async (request, reply) => {
    reply.hijack();
    const exchange = exchangeOf(request.raw);
    const isDocument = exchange.path === document.path;
    await dispatch.answer(isDocument ? document : dispatch.endpoint(exchange.path), exchange);
  });
  await app.ready();
  return app;
}
