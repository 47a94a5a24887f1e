// The entry point for clients of an instance. It gives every request to the leading engine in this
// process, or forwards it to another instance, and waits a while if no instance leads yet. So any
// instance answers every request, with the leader's response.
import http from 'node:http';
import https from 'node:https';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { messageOf, within } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import { PAGE_KEY_HEADER } from '@tidemark/process';
import type { BorderGuard } from '@tidemark/process';
import { listenOn, nodeServer } from '../http/node-server.ts';
import type { NodeServerOptions } from '../http/node-server.ts';
import { isPingPath } from '../http/routes.ts';
import { sendJson } from '../http/send-json.ts';
import { refuseUnreadable } from '../http/unreadable.ts';
import { PING_WAIT_MS } from '../limits.ts';

export type LeaderProxyOptions = NodeServerOptions & {
  readonly border: BorderGuard;
  readonly clock: Clock;
  readonly hasCompatiblePaths: boolean;
  /** The cluster secret, with which instances state who the client is. */
  readonly secret: string;
  /** The leading engine; `undefined` while there is none. */
  readonly leader: () => Target | undefined;
  /** Answers requests to this instance itself; `false` for those to the leading engine. */
  readonly own: (request: IncomingMessage, response: ServerResponse) => Promise<boolean>;
  /**
   * Where a request can go while no instance leads; `undefined` if it has to wait.
   */
  readonly standIn?: ((request: IncomingMessage) => InThisProcess | undefined) | undefined;
  /** How long a leader may be silent before a stand-in takes a request that it can. */
  readonly silenceMs: number;
  /** How long a request waits for a leader. */
  readonly waitMs: number;
  /** Why this instance cannot lead; `undefined` when it can. */
  readonly problem?: (() => string | undefined) | undefined;
  /** A request of the method CONNECT from another instance. */
  readonly connect: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
};

/** An engine, or a stand-in, that answers requests. */
export type Target =
  | InThisProcess
  /** Another instance. */
  | { readonly url: string };

/** Answers requests without another connection. */
export type InThisProcess = {
  /** Checks the request again, because it does not depend on who has received it. */
  readonly answer: RequestListener;
};

/** Marks a request that another instance has forwarded. */
const PASSED_ON_HEADER = 'x-tidemark-passed-on';

/** The answer to a forwarded request for the leader, from an instance that does not lead. */
export const NOT_LEADING_STATUS = 421;

/** Interval of checking for a leader while requests wait. */
const LOOK_MS = 20;

/** Headers of one connection, which are not forwarded. */
const OF_CONNECTION: ReadonlySet<string> = new Set([
  'connection',
  'expect',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/**
 * Headers about the origin of a request. This instance has checked them and does not forward them.
 */
const OF_PAGE: ReadonlySet<string> = new Set(['origin', 'sec-fetch-site', PASSED_ON_HEADER]);

/** The instance that should have answered no longer leads. */
class Deposed extends Error {}

export class LeaderProxy {
  readonly #options: LeaderProxyOptions;
  readonly #server: http.Server;
  readonly #agents = {
    'http:': new http.Agent({ keepAlive: true, maxFreeSockets: 64 }),
    'https:': new https.Agent({ keepAlive: true, maxFreeSockets: 64 }),
  };
  readonly #closed = new AbortController();
  /** Writes in progress in this process. */
  readonly #writing = new Set<Promise<unknown>>();
  /** Forwarded requests in progress, with the URLs of their instances. */
  readonly #passed = new Map<http.ClientRequest, string>();
  /** Those that a stand-in can take, because the leader has not said yet that it takes them. */
  readonly #offered = new Set<http.ClientRequest>();

  constructor(options: LeaderProxyOptions) {
    this.#options = options;
    const answer = (request: IncomingMessage, response: ServerResponse): void => {
      this.#answer(request, response).catch((error: unknown) => {
        // The client went away, or the leader did in the middle of its answer.
        if (response.headersSent) response.destroy();
        else refuse(response, 503, `the leader of the cluster did not answer: ${messageOf(error)}`);
      });
    };
    const server = nodeServer(options, answer);
    server.on('clientError', refuseUnreadable);
    server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
      // Only a leader accepts bodies that another instance forwards.
      if (!isPassedOn(request) || isHere(options.leader())) response.writeContinue();
      answer(request, response);
    });
    server.on('connect', options.connect);
    this.#server = server;
  }

  /** Starts to listen and returns the URL. */
  async listen(host: string, port: number): Promise<string> {
    await listenOn(this.#server, { host, port });
    const address = this.#server.address();
    const bound = typeof address === 'object' && address !== null ? address.port : port;
    const name = host.includes(':') ? `[${host}]` : host;
    return `${this.#options.tls === undefined ? 'http' : 'https'}://${name}:${bound}`;
  }

  /**
   * Called when another instance may lead, or none: the previous leader, if it was cut off or
   * stops, may never answer the requests forwarded to it.
   */
  leaderChanged(): void {
    const target = this.#options.leader();
    if (target === undefined) {
      for (const outgoing of this.#offered) outgoing.destroy(new Deposed('no instance leads now'));
      return;
    }
    for (const [outgoing, url] of this.#passed)
      if (isHere(target) || url !== target.url)
        outgoing.destroy(new Deposed('another instance leads now'));
  }

  /** Resolves when the writes in progress in this process are answered, or after this time. */
  async written(timeoutMs: number): Promise<void> {
    await within(this.#options.clock, timeoutMs, Promise.allSettled(this.#writing));
  }

  async close(): Promise<void> {
    this.#closed.abort();
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    await this.written(this.#options.waitMs);
    this.#server.closeAllConnections();
    await closed;
    for (const agent of Object.values(this.#agents)) agent.destroy();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const refusal = this.#options.border.refusal(request);
    if (refusal !== undefined) return refuse(response, refusal.status, refusal.message);
    const { clock, hasCompatiblePaths, leader, own, problem, standIn, waitMs } = this.#options;
    if (!isPassedOn(request) && (await own(request, response))) return;
    if (isPassedOn(request)) {
      const target = leader();
      if (!isHere(target)) return refuse(response, NOT_LEADING_STATUS, 'not the leader');
      return this.#answerHere(request, response, target);
    }
    const isPing = isPingPath(request.url ?? '/', hasCompatiblePaths);
    const untilMs = clock.monotonicMs() + (isPing ? Math.min(waitMs, PING_WAIT_MS.value) : waitMs);
    // A client that has gone may have asked elsewhere, so its request is dropped.
    while (!response.destroyed) {
      const target = leader();
      if (isHere(target)) return this.#answerHere(request, response, target);
      if (target !== undefined && (await this.#pass(request, response, target.url)) === 'answered')
        return;
      const other = this.#closed.signal.aborted ? undefined : standIn?.(request);
      if (other !== undefined) return this.#answerHere(request, response, other);
      if (clock.monotonicMs() >= untilMs || this.#closed.signal.aborted)
        return refuse(response, 503, noLeader(problem?.()));
      await clock.sleep(LOOK_MS);
    }
  }

  /** Resolves when this process has answered, or has cut the request off. */
  async #answerHere(
    request: IncomingMessage,
    response: ServerResponse,
    { answer }: InThisProcess,
  ): Promise<void> {
    // The client has gone meanwhile.
    if (response.destroyed) return;
    const answered = new Promise<void>((resolve) => response.once('close', resolve));
    if (this.#options.standIn?.(request) !== undefined) this.#writing.add(answered);
    answer(request, response);
    await answered;
    this.#writing.delete(answered);
  }

  /**
   * Forwards a request. One that has not left this process can go to another leader; another
   * instance confirms that it leads before it gets a body.
   */
  async #pass(
    request: IncomingMessage,
    response: ServerResponse,
    url: string,
  ): Promise<'answered' | 'not taken'> {
    const outgoing = this.#outgoing(request, url);
    const gone = (): void => void outgoing.destroy();
    response.once('close', gone);
    this.#passed.set(outgoing, url);
    try {
      return await this.#exchange(request, response, outgoing);
    } finally {
      response.off('close', gone);
      this.#passed.delete(outgoing);
    }
  }

  async #exchange(
    request: IncomingMessage,
    response: ServerResponse,
    outgoing: http.ClientRequest,
  ): Promise<'answered' | 'not taken'> {
    const isWaiting = hasBody(request);
    let isTaken = false;
    const send = (): void => {
      isTaken = true;
      request.pipe(outgoing);
    };
    const heard = new AbortController();
    if (isWaiting && this.#options.standIn?.(request) !== undefined)
      void this.#hurry(outgoing, heard.signal); // Never rejects.
    const answered = new Promise<IncomingMessage>((resolve, reject) => {
      outgoing.once('response', resolve);
      outgoing.once('error', reject);
      if (isWaiting) outgoing.once('continue', send);
      for (const event of ['continue', 'response', 'close'])
        outgoing.once(event, () => heard.abort());
    });
    if (isWaiting) outgoing.flushHeaders();
    else outgoing.end();
    let answer: IncomingMessage;
    try {
      answer = await answered;
    } catch (error) {
      request.unpipe(outgoing);
      const isLost = error instanceof Deposed && (isWaiting || isSafe(request));
      if (!isTaken && (isLost || isUnreached(error))) return 'not taken';
      throw error;
    }
    if (answer.statusCode === NOT_LEADING_STATUS && !isTaken) {
      answer.resume();
      outgoing.destroy();
      return 'not taken';
    }
    try {
      const cors = Object.entries(this.#options.border.corsHeaders(request)).flat();
      response.writeHead(answer.statusCode ?? 502, [...headersOf(answer), ...cors]);
      response.flushHeaders();
      await pipeline(answer, response);
    } finally {
      // An answer may come before all of the body was read.
      request.unpipe(outgoing);
      request.resume();
    }
    return 'answered';
  }

  /** Ends a request that waits for a silent leader. */
  async #hurry(outgoing: http.ClientRequest, signal: AbortSignal): Promise<void> {
    const { clock, silenceMs } = this.#options;
    this.#offered.add(outgoing);
    // Ends with the signal, which is intended.
    await clock.sleep(silenceMs, signal).catch(() => undefined);
    this.#offered.delete(outgoing);
    if (!signal.aborted) outgoing.destroy(new Deposed('the leader is silent'));
  }

  #outgoing(request: IncomingMessage, target: string): http.ClientRequest {
    const url = new URL(target);
    const { border, secret } = this.#options;
    const headers: http.OutgoingHttpHeaders = {};
    for (const [name, value] of Object.entries(request.headers))
      if (!OF_CONNECTION.has(name) && !OF_PAGE.has(name)) headers[name] = value;
    headers['host'] = url.host;
    headers['x-forwarded-for'] = border.clientAddress(request);
    headers[PAGE_KEY_HEADER] = secret;
    headers[PASSED_ON_HEADER] = '1';
    if (hasBody(request)) headers['expect'] = '100-continue';
    const isHttps = url.protocol === 'https:';
    return (isHttps ? https : http).request({
      method: request.method ?? 'GET',
      host: url.hostname,
      port: url.port,
      path: request.url ?? '/',
      headers,
      agent: this.#agents[isHttps ? 'https:' : 'http:'],
    });
  }
}

function isHere(target: Target | undefined): target is InThisProcess {
  return target !== undefined && 'answer' in target;
}

function noLeader(problem: string | undefined): string {
  const what = 'the cluster has no leader at the moment';
  return problem === undefined ? what : `${what}, and this instance cannot lead: ${problem}`;
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** Whether a request changes nothing, so that it can be repeated. */
function isSafe({ method }: IncomingMessage): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** Whether a request cannot have been accepted. */
function isUnreached(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : '';
  return ['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ECONNRESET'].includes(String(code));
}

function isPassedOn({ headers }: IncomingMessage): boolean {
  return headers[PASSED_ON_HEADER] !== undefined;
}

/** Headers of a response as received, including several of one name. */
function headersOf({ rawHeaders }: IncomingMessage): string[] {
  const kept: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? '';
    if (!OF_CONNECTION.has(name.toLowerCase())) kept.push(name, rawHeaders[i + 1] ?? '');
  }
  return kept;
}

function refuse(response: ServerResponse, status: number, error: string): void {
  if (status === 503) response.setHeader('Retry-After', '1');
  sendJson(response, status, { error });
}
