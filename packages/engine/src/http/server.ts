// The HTTP server: fastify set up for this API (docs/adr/0005-http-stack.md). Endpoints register
// themselves through `Api`; they get a decoded request and return a value, and the server does
// everything else.
import { discardBody, listenError, packAnswer } from '@tidemark/process';
import type { BorderGuard } from '@tidemark/process';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import fastify from 'fastify';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError, Arrivals, assert, deferred, TIDEMARK_VERSION, within } from '@tidemark/core';
import type { Budget, Clock, Diagnostic, RequestMetrics } from '@tidemark/core';
import { DataAccess } from '../access/data-access.ts';
import type { Api, ApiHandler, ApiMethod, ApiResponse } from './api.ts';
import { changesSomething } from './audit.ts';
import type { Audit } from './audit.ts';
import { printDiagnostics, wantsDiagnostics } from './diagnostics.ts';
import { answerOf } from './errors.ts';
import { printJson } from '../formats/json.ts';
import { decode, QueryParams } from '../formats/params.ts';
import { unknownParameters } from './query-parameters.ts';
import { nodeServer } from './node-server.ts';
import type { NodeServerOptions } from './node-server.ts';
import type { Exchange } from './exchange.ts';
import { RequestBodies } from './request-bodies.ts';
import { rightOf } from './route-rights.ts';
import type { Authorize } from '../access/request.ts';
import { BASE, BIND_SETTING, PREVIEW, rewriteUrl, RouteTable } from './routes.ts';
import { sendJson } from './send-json.ts';
import { refuseExpectation, refuseUnreadable, VERSION_HEADER } from './unreadable.ts';

/** Smaller answers are not worth compressing. */
const GZIP_BYTES_MIN = 1024;

// Kapacitor's enterprise edition has `users`; here the database does
// (docs/compat/differences-engine.md).
const NO_USERS =
  'the engine has no users of its own; make them in the default tsdb cluster with CREATE USER and GRANT';

export type ServerLog = (
  level: 'debug' | 'info' | 'error',
  message: string,
  fields: Readonly<Record<string, unknown>>,
) => void;

export type ServerOptions = NodeServerOptions & {
  readonly clock: Clock;
  readonly bodyBytesMax: number;
  /** Memory for all bodies. */
  readonly bodies: Budget;
  readonly hasCompatiblePaths: boolean;
  readonly isLogging: boolean;
  readonly metrics: RequestMetrics;
  readonly log: ServerLog;
  /** Hides secrets in error responses. */
  readonly redact: (text: string) => string;
  readonly authorize: Authorize;
  /** Called for every request that was answered. */
  readonly audit: Audit;
  readonly border: BorderGuard;
  /** Realm of the challenge for credentials. */
  readonly realm: string;
};

export class HttpServer implements Api {
  readonly #app: FastifyInstance;
  readonly #options: ServerOptions;
  readonly #routes = new RouteTable();
  readonly #bodies: RequestBodies;
  /** Requests that have no complete answer yet. */
  readonly #open = new Arrivals<Exchange>();
  /** How many of them `close` waits for: all but streams. */
  #answeringCount = 0;
  readonly #answered = deferred();
  #isClosing = false;
  readonly counters = { req: 0, ping_req: 0, write_req: 0, auth_fail: 0 };

  constructor(options: ServerOptions) {
    this.#options = options;
    this.#bodies = new RequestBodies(options);
    this.#app = fastify({
      bodyLimit: options.bodyBytesMax,
      routerOptions: { maxParamLength: 1100 },
      serverFactory: (answer) => nodeServer(options, answer),
      forceCloseConnections: true,
      clientErrorHandler: refuseUnreadable,
      frameworkErrors: (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
        this.#begin(request, reply);
        const isLong = error.statusCode === 414;
        const message = isLong
          ? 'a part of the path is longer than any id'
          : 'the path of the request cannot be decoded';
        this.#fail(reply, isLong ? 414 : 400, message);
      },
      rewriteUrl: (request: IncomingMessage) =>
        rewriteUrl(request.url ?? '/', options.hasCompatiblePaths).url,
    });
    this.#setUp();
  }

  on(method: ApiMethod, path: string, handler: ApiHandler): void {
    this.#register(method, BASE + path, handler);
  }

  onPreview(method: ApiMethod, path: string, handler: ApiHandler): void {
    this.#register(method, PREVIEW + path, handler);
  }

  onRoot(method: ApiMethod, path: string, handler: ApiHandler): void {
    this.#register(method, path, handler);
  }

  /** The use of the budget for bodies. */
  bodyCounters(): Readonly<Record<string, number>> {
    return this.#bodies.counters();
  }

  routes(): Readonly<Record<string, readonly string[]>> {
    return this.#routes.list();
  }

  /** Starts to listen and returns the URL. */
  async listen(host: string, port: number): Promise<string> {
    try {
      const url = await this.#app.listen({ host, port });
      // It does not know of TLS.
      return this.#options.tls === undefined ? url : url.replace(/^http:/, 'https:');
    } catch (cause) {
      const address = { host, port, setting: BIND_SETTING };
      throw cause instanceof Error ? listenError(cause, address) : cause;
    }
  }

  /** Has to be awaited before `answer`, unless it listens itself. */
  async ready(): Promise<void> {
    await this.#app.ready();
  }

  /** Answers a request that another listener received, and whose body was not read. */
  readonly answer: RequestListener = (request, response) => this.#app.routing(request, response);

  /**
   * Answers the requests in progress, then closes all connections. Streams, and requests that take
   * longer than `graceMs`, are cut off.
   */
  async close(graceMs: number): Promise<void> {
    this.#isClosing = true;
    this.#app.server.close();
    if (this.#answeringCount > 0)
      await within(this.#options.clock, graceMs, this.#answered.promise);
    // Connections of another listener stay open.
    for (const { response } of this.#open) cutOff(response);
    await this.#app.close();
  }

  #ended(exchange: Exchange): void {
    if (!exchange.isAnswering) return;
    exchange.isAnswering = false;
    this.#answeringCount--;
    if (this.#answeringCount === 0 && this.#isClosing) this.#answered.resolve();
  }

  #setUp(): void {
    const app = this.#app;
    app.server.on('checkExpectation', (_request, response) => refuseExpectation(response));
    const { border } = this.#options;
    // Clients send JSON and line protocol with any content type, or none. The path determines the
    // kind of body.
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', (request: FastifyRequest) => this.#bodies.receive(request));
    app.decorateRequest('exchange');
    app.addHook('onRequest', (request, reply, done) => {
      const refusal = isHostMissing(request)
        ? { status: 400, message: 'the request has no Host header' }
        : border.refusal(request.raw);
      this.#begin(request, reply);
      if (refusal !== undefined) this.#fail(reply, refusal.status, refusal.message);
      else if (request.method === 'OPTIONS') void reply.code(200).send();
      else done();
    });
    app.addHook('onResponse', (request, reply, done) => {
      this.#measure(request, reply);
      this.#note(request, reply);
      done();
    });
    if (this.#options.isLogging) {
      app.addHook('onResponse', (request, reply, done) => {
        this.#options.log('info', 'http request', {
          method: request.method,
          uri: hideSecrets(request.originalUrl),
          status: reply.statusCode,
          duration_ms: Math.round(reply.elapsedTime * 1000) / 1000,
          host: border.clientAddress(request.raw),
        });
        done();
      });
    }
    app.setNotFoundHandler((request, reply) => {
      const methods = this.#routes.methodsOf(pathOf(request.url));
      if (methods.length === 0) {
        const isUsers = pathOf(request.url).startsWith(`${BASE}/users`);
        const path = `Not Found: there is no ${request.method} ${pathOf(request.url)}`;
        return this.#fail(reply, 404, isUsers ? NO_USERS : path);
      }
      void reply.header('Allow', methods.join(', '));
      return this.#fail(reply, 405, 'Method Not Allowed');
    });
    app.setErrorHandler((error, request, reply) => {
      const { status, message } = answerOf(error);
      if (status >= 500) {
        this.#options.log('error', message, {
          method: request.method,
          uri: hideSecrets(request.originalUrl),
        });
      }
      if (status === 401) {
        this.counters.auth_fail++;
        void reply.header('WWW-Authenticate', `Basic realm="${this.#options.realm}"`);
      }
      if (status === 503) void reply.header('Retry-After', RETRY_AFTER_SECONDS);
      if (!request.raw.complete) discardBody(request.raw);
      const found = error instanceof AppError ? error.diagnostics : [];
      const isAsked = found.length > 0 && wantsDiagnostics(new QueryParams(request.url));
      return this.#fail(reply, status, message, isAsked ? found : undefined);
    });
  }

  #measure({ method, routeOptions }: FastifyRequest, reply: FastifyReply): void {
    const { metrics } = this.#options;
    const endpoint = (routeOptions.url ?? 'other').replace('::', ':');
    metrics.count({ method, endpoint, status: reply.statusCode });
    if (method === 'POST' && endpoint.endsWith('/write')) {
      metrics.writes.observe(reply.elapsedTime / 1000);
    }
  }

  #note(request: FastifyRequest, reply: FastifyReply): void {
    const { audit, border } = this.#options;
    audit.note({
      method: request.method,
      route: request.routeOptions.url ?? '',
      path: pathOf(request.url),
      status: reply.statusCode,
      user: request.exchange.user?.name ?? '',
      address: border.clientAddress(request.raw),
      requestId: String(reply.getHeader('request-id') ?? ''),
      body: request.exchange.noted,
    });
  }

  /** Counts a request and adds the headers that all answers have. */
  #begin(request: FastifyRequest, reply: FastifyReply): void {
    this.counters.req++;
    // InfluxDB 1.6 sends an empty one to its subscribers, which would be refused before a parser is
    // chosen.
    delete request.raw.headers['content-type'];
    void reply.header(VERSION_HEADER, TIDEMARK_VERSION);
    void reply.header('Request-Id', headerText(request.headers['request-id']) ?? randomUUID());
    void reply.headers(this.#options.border.corsHeaders(request.raw));
    const exchange: Exchange = {
      response: reply.raw,
      isAnswering: true,
      user: undefined,
      noted: NO_BODY,
      parts: [],
      before: undefined,
      behind: undefined,
      isPresent: undefined,
    };
    request.exchange = exchange;
    this.#open.add(exchange);
    this.#answeringCount++;
    reply.raw.once('close', () => {
      this.#open.remove(exchange);
      this.#ended(exchange);
      for (const part of exchange.parts) part.release();
    });
  }

  #register(method: ApiMethod, path: string, handler: ApiHandler): void {
    const right = rightOf(method, path);
    // Patterns of the router escape a colon by doubling it.
    const pattern = path.replace('/:routes', '/::routes');
    this.#routes.add(method, path.replace('/:routes', '/::routes'));
    if (method === 'GET') this.#routes.add('HEAD', pattern);
    this.#app.route({
      method,
      url: pattern,
      // Before the body: clients without rights do not get memory for it.
      onRequest: async (request) => {
        request.exchange.user = await this.#options.authorize({
          method: request.method,
          route: path,
          right,
          path: pathOf(request.url),
          query: new QueryParams(request.url),
          headers: request.headers,
          address: this.#options.border.clientAddress(request.raw),
        });
      },
      handler: async (request, reply) => {
        const query = new QueryParams(request.url);
        const unknown = unknownParameters(method, path, query);
        if (unknown !== undefined) void reply.header('Warning', warningHeader(unknown));
        const gone = new AbortController();
        // The `close` of the request comes as soon as its body has been read.
        reply.raw.on('close', () => {
          if (!reply.raw.writableEnded) gone.abort();
        });
        const { hasCompatiblePaths } = this.#options;
        const { product } = rewriteUrl(request.originalUrl, hasCompatiblePaths);
        const body = await this.#bodies.of(request);
        const isNoted = changesSomething(request.method, path);
        if (isNoted) request.exchange.noted = body;
        const { user } = request.exchange;
        const data = new DataAccess(user);
        const response = await handler({
          method: request.method,
          params: request.params as Readonly<Record<string, string>>,
          query,
          body,
          headers: request.headers,
          url: hideSecrets(request.originalUrl),
          base: `${product}/v1`,
          preview: `${product}/v1preview`,
          signal: gone.signal,
          address: this.#options.border.clientAddress(request.raw),
          user,
          data,
        });
        assert(right !== 'data' || data.wasAsked, 'an endpoint with data asks who may read it');
        if (!isNoted) this.#bodies.free(body);
        return this.#send(request, reply, response);
      },
    });
  }

  async #send(
    request: FastifyRequest,
    reply: FastifyReply,
    response: ApiResponse,
  ): Promise<unknown> {
    void reply.code(response.status);
    if ('stream' in response) {
      // Headers are sent at once: a client that follows a stream may wait long for the first line.
      reply.hijack();
      this.#ended(request.exchange);
      const headers = { ...reply.getHeaders(), ...response.headers };
      for (const [name, value] of Object.entries(headers)) {
        if (value !== undefined) reply.raw.setHeader(name, value);
      }
      reply.raw.writeHead(200, { 'Content-Type': response.contentType });
      reply.raw.flushHeaders();
      // A client that goes away ends the stream; its error has no receiver.
      await pipeline(response.stream, reply.raw).catch(() => undefined);
      return reply;
    }
    if (!('json' in response) && !('text' in response)) return reply.send();
    const isJson = 'json' in response;
    const text = isJson ? `${printJson(response.json)}\n` : response.text;
    void reply.header('Content-Type', isJson ? 'application/json' : response.contentType);
    const accepts = headerText(request.headers['accept-encoding']) ?? '';
    // As text, which Node writes together with the headers.
    if (text.length < GZIP_BYTES_MIN || !/\bgzip\b/.test(accepts)) return reply.send(text);
    void reply.header('Content-Encoding', 'gzip');
    return reply.send(await packAnswer(Buffer.from(text)));
  }

  #fail(
    reply: FastifyReply,
    status: number,
    message: string,
    diagnostics?: readonly Diagnostic[],
  ): FastifyReply {
    const { redact } = this.#options;
    const body = {
      error: redact(message),
      ...(diagnostics === undefined ? {} : { diagnostics: printDiagnostics(diagnostics, redact) }),
    };
    void reply.code(status).header('Content-Type', 'application/json');
    return reply.send(Buffer.from(`${printJson(body)}\n`));
  }
}

/** Ends a request that takes too long; one without an answer gets the reason. */
function cutOff(response: ServerResponse): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.setHeader(VERSION_HEADER, TIDEMARK_VERSION);
  response.setHeader('Retry-After', RETRY_AFTER_SECONDS);
  response.setHeader('Connection', 'close');
  sendJson(response, 503, { error: 'the engine stops' });
}

/** Only ASCII goes into a header; a quote and a backslash of the text are escaped. */
function warningHeader(text: string): string {
  const quoted = text.replaceAll(/["\\]/g, '\\$&').replaceAll(/[^ -~]/g, '?');
  return `299 - "${quoted}"`;
}

// HTTP/1.1 requires it for every request.
function isHostMissing({ raw }: FastifyRequest): boolean {
  return raw.httpVersion === '1.1' && raw.headers.host === undefined;
}

/** A queue moves, so a retry after a second is soon enough. */
const RETRY_AFTER_SECONDS = '1';

const NO_BODY = new Uint8Array(0);

function pathOf(url: string): string {
  const end = url.indexOf('?');
  return end < 0 ? url : url.slice(0, end);
}

function headerText(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

/**
 * A URL for the log, without the password that some clients put there, in any spelling of its name.
 */
function hideSecrets(url: string): string {
  return url.replace(/([?&])([^&=]*)=[^&]*/g, (pair, before: string, name: string) =>
    decode(name) === 'p' ? `${before}${name}=[REDACTED]` : pair,
  );
}
