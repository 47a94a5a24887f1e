// fastify: routes of everything that is not hot, and the API document that their schemas make.
import type { IncomingMessage } from 'node:http';

import swagger from '@fastify/swagger';
import { Type } from '@sinclair/typebox';
import { TIDEMARK_VERSION } from '@tidemark/core';
import fastify from 'fastify';
import type { FastifyInstance, HTTPMethods } from 'fastify';

import { sendJson } from './answer.ts';
import type { Dispatch } from './dispatch.ts';
import { ENDPOINT_SCHEMAS } from './endpoint-schemas.ts';
import type { Exchange } from './exchange.ts';

// Ids of other services are up to 1,024 bytes; the two share their traps (docs/adr/0005).
const MAX_PARAMETER_BYTES = 1100;

const OPENAPI_PATH = '/openapi.json';

const ErrorBody = Type.Object({ error: Type.String() });

/** An instance that is ready to route. `exchangeOf` finds the exchange that was opened for a request. */
export async function buildRoutes(
  dispatch: Dispatch,
  exchangeOf: (request: IncomingMessage) => Exchange,
): Promise<FastifyInstance> {
  const app = fastify({
    logger: false,
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: MAX_PARAMETER_BYTES },
  });
  // Handlers read the raw request: a body is what the endpoint takes, whatever its content type says.
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
  // Validation belongs to the handlers, whose texts clients know; the schemas document.
  app.setValidatorCompiler(() => () => true);
  for (const endpoint of dispatch.endpoints) {
    app.route({
      method: endpoint.methods as HTTPMethods[],
      url: endpoint.path,
      schema: {
        summary: endpoint.summary,
        ...ENDPOINT_SCHEMAS[endpoint.path],
        security: endpoint.right === 'ping' ? [] : [{}, { basic: [] }, { bearer: [] }],
        response: {
          '2xx': Type.Any({ description: 'Success' }),
          '4xx': ErrorBody,
          '5xx': ErrorBody,
        },
      },
      handler: async (request, reply) => {
        reply.hijack();
        await dispatch.answer(endpoint, exchangeOf(request.raw));
      },
    });
  }
  app.get(OPENAPI_PATH, { schema: { hide: true } }, (request, reply) => {
    reply.hijack();
    sendJson(exchangeOf(request.raw), 200, app.swagger());
  });
  app.setNotFoundHandler(async (request, reply) => {
    reply.hijack();
    const exchange = exchangeOf(request.raw);
    await dispatch.answer(dispatch.endpoint(exchange.path), exchange);
  });
  await app.ready();
  return app;
}
