// Load on a running service: idle connections, writers, readers, and clients that misbehave, all at
// once.
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { Agent, request as httpRequest } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import type { Socket } from 'node:net';

export type LoadOptions = {
  readonly url: string;
  /** Process of the service, whose memory is watched. */
  readonly processId: number;
  readonly durationMs: number;
  readonly idleConnections: number;
  readonly writers: number;
  readonly readers: number;
  /** Clients of each kind of misbehaviour. */
  readonly misbehaving: number;
};

export type LoadResult = {
  readonly idleOpened: number;
  /** Idle connections that the service closed although they pinged within its keep-alive time. */
  readonly idleLost: number;
  /** Points whose write was answered with 204. */
  readonly acknowledgedPoints: number;
  /** Points that the service has at the end. */
  readonly storedPoints: number;
  /** Points of writes that got no 204; they may be stored or not. */
  readonly unsurePoints: number;
  readonly queries: number;
  /** Answers by status, of writes and queries. */
  readonly statuses: ReadonlyMap<number, number>;
  /** Requests of well-behaved clients that ended without an answer. */
  readonly unanswered: readonly string[];
  /** Status of each body that was too large. */
  readonly oversized: readonly number[];
  /** Status of each body without end; 0 where the connection was cut off before an answer. */
  readonly endless: readonly number[];
  /** Connections that sent their headers a byte at a time and were cut off. */
  readonly slowCut: number;
  /** Longest time that one of those stayed open. */
  readonly slowMaxMs: number;
  readonly maxResidentBytes: number;
};

const POINTS_PER_WRITE = 50;
const DATABASE = 'load';
const REQUEST_TIMEOUT_MS = 60_000;
const CONNECT_AT_ONCE = 200;
// Within the keep-alive time of the service, so that no idle connection has a reason to be closed.
const IDLE_PING_MS = 45_000;
/**
 * Headers must be there after 20 s, looked at every 5 s; the rest is what a loaded machine adds.
 */
const SLOW_HEADERS_LIMIT_MS = 35_000;

type Answer = { readonly status: number; readonly text: string };

class Load {
  readonly #options: LoadOptions;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  readonly #sockets = new Set<Socket>();
  readonly statuses = new Map<number, number>();
  readonly unanswered: string[] = [];
  readonly oversized: number[] = [];
  #endsAtMs = 0;
  #over: Promise<void> = Promise.resolve();
  acknowledged = 0;
  unsure = 0;
  queries = 0;
  readonly endless: number[] = [];
  idleLost = 0;
  slowCut = 0;
  slowMaxMs = 0;
  maxResidentBytes = 0;

  constructor(options: LoadOptions) {
    this.#options = options;
  }

  get #isOver(): boolean {
    return performance.now() >= this.#endsAtMs;
  }

  async run(): Promise<LoadResult> {
    const { durationMs, writers, readers, misbehaving } = this.#options;
    await this.send('POST', `/query?q=CREATE+DATABASE+${DATABASE}`, '');
    const idle = await this.#openIdle();
    this.#endsAtMs = performance.now() + durationMs;
    this.#over = after(durationMs);
    const repeat = <T>(count: number, make: (index: number) => Promise<T>) =>
      Array.from({ length: count }, (_, index) => make(index));
    await Promise.all([
      ...repeat(writers, (index) => this.#write(index)),
      ...repeat(readers, () => this.#read()),
      ...repeat(misbehaving, () => this.#sendForever()),
      ...repeat(misbehaving, () => this.#sendTooMuch()),
      ...repeat(misbehaving, () => this.#sendSlowly()),
      this.#keepIdle(idle),
      this.#watchMemory(),
    ]);
    const storedPoints = await this.#count();
    for (const socket of this.#sockets) socket.destroy();
    this.#agent.destroy();
    return {
      idleOpened: idle.length,
      idleLost: this.idleLost,
      acknowledgedPoints: this.acknowledged,
      storedPoints,
      unsurePoints: this.unsure,
      queries: this.queries,
      statuses: this.statuses,
      unanswered: this.unanswered,
      oversized: this.oversized,
      endless: this.endless,
      slowCut: this.slowCut,
      slowMaxMs: Math.round(this.slowMaxMs),
      maxResidentBytes: this.maxResidentBytes,
    };
  }

  /** One request to its end; `undefined` when there was no answer, which is noted. */
  async send(method: string, path: string, body: string): Promise<Answer | undefined> {
    try {
      const request = httpRequest(`${this.#options.url}${path}`, {
        method,
        agent: this.#agent,
        headers: { 'Content-Length': Buffer.byteLength(body) },
        signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      });
      request.end(body);
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      let text = '';
      for await (const chunk of response.setEncoding('utf8')) text += String(chunk);
      const status = response.statusCode ?? 0;
      this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
      return { status, text };
    } catch (error) {
      this.unanswered.push(`${method} ${path}: ${String(error)}`);
      return undefined;
    }
  }

  async #connect(): Promise<Socket> {
    const { hostname, port } = new URL(this.#options.url);
    const socket = connect(Number(port), hostname);
    this.#sockets.add(socket);
    // Misbehaving clients are cut off; that shows as a reset.
    socket.on('error', () => undefined);
    socket.once('close', () => this.#sockets.delete(socket));
    await once(socket, 'connect');
    return socket;
  }

  /** As many idle connections as the system gives; each has been answered once. */
  async #openIdle(): Promise<readonly Socket[]> {
    const opened: Socket[] = [];
    while (opened.length < this.#options.idleConnections) {
      const count = Math.min(CONNECT_AT_ONCE, this.#options.idleConnections - opened.length);
      const made = await Promise.allSettled(Array.from({ length: count }, () => this.#connect()));
      const sockets = made.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
      await Promise.all(sockets.map((socket) => this.#ping(socket)));
      opened.push(...sockets);
      if (sockets.length < count) break;
    }
    return opened;
  }

  /** Says something on every idle connection before the service may take it for given up. */
  async #keepIdle(idle: readonly Socket[]): Promise<void> {
    let pingAtMs = performance.now() + IDLE_PING_MS;
    while (!this.#isOver) {
      await soon();
      if (performance.now() < pingAtMs) continue;
      pingAtMs += IDLE_PING_MS;
      for (let from = 0; from < idle.length; from += CONNECT_AT_ONCE) {
        const some = idle.slice(from, from + CONNECT_AT_ONCE);
        await Promise.all(some.map((socket) => this.#ping(socket)));
      }
    }
    this.idleLost = idle.filter((socket) => socket.destroyed).length;
  }

  /** One request on a connection of its own; nothing is asked of one that is closed. */
  async #ping(socket: Socket): Promise<void> {
    if (socket.destroyed) return;
    const text = firstData(socket);
    socket.write('GET /ping HTTP/1.1\r\nHost: localhost\r\n\r\n');
    const answer = await Promise.race([text, closeOf(socket), after(REQUEST_TIMEOUT_MS)]);
    if (answer === undefined) this.unanswered.push('GET /ping on an idle connection');
  }

  async #write(writer: number): Promise<void> {
    for (let batch = 0; !this.#isOver; batch++) {
      const lines = Array.from({ length: POINTS_PER_WRITE }, (_, i) => {
        const n = batch * POINTS_PER_WRITE + i;
        return `m,writer=w${writer} f=${n}i ${1_700_000_000_000_000_000n + BigInt(n)}`;
      });
      const answer = await this.send('POST', `/write?db=${DATABASE}`, lines.join('\n'));
      if (answer?.status === 204) this.acknowledged += POINTS_PER_WRITE;
      else this.unsure += POINTS_PER_WRITE;
    }
  }

  async #read(): Promise<void> {
    const q = encodeURIComponent('SELECT count(f), max(f) FROM m GROUP BY writer');
    while (!this.#isOver) {
      if ((await this.send('GET', `/query?db=${DATABASE}&q=${q}`, ''))?.status === 200) {
        this.queries++;
      }
    }
  }

  /** A chunked body that never ends, as fast as it is taken. */
  async #sendForever(): Promise<void> {
    const chunk = `10000\r\n${'#'.repeat(65_535)}\n\r\n`;
    while (!this.#isOver) {
      const socket = await this.#connect();
      const closed = closeOf(socket);
      let text: string | undefined;
      void firstData(socket).then((data) => (text = data)); // Never rejects.
      socket.write(
        `POST /write?db=${DATABASE} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n`,
      );
      while (!socket.destroyed && !this.#isOver) {
        if (!socket.write(chunk)) await Promise.race([closed, drainOf(socket), this.#over]);
        else await new Promise((resolve) => setImmediate(resolve));
      }
      // Requests still in flight at the end were neither answered nor cut off, and do not count.
      if (text !== undefined || socket.destroyed) this.endless.push(statusOf(text));
      socket.destroy();
      await closed;
    }
  }

  /** A declared length beyond every limit: refused before it is sent. */
  async #sendTooMuch(): Promise<void> {
    while (!this.#isOver) {
      const socket = await this.#connect();
      socket.write(
        `POST /write?db=${DATABASE} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\nm f=1`,
      );
      const text = await Promise.race([firstData(socket), closeOf(socket)]);
      this.oversized.push(statusOf(text));
      socket.destroy();
      await soon();
    }
  }

  /** Slow loris: headers that come one byte at a time. */
  async #sendSlowly(): Promise<void> {
    while (!this.#isOver) {
      const socket = await this.#connect();
      socket.resume();
      const openedMs = performance.now();
      socket.write('POST /write HTTP/1.1\r\nX-Slow: ');
      while (!this.#isOver && !socket.destroyed && socket.writable) {
        socket.write('x');
        await soon();
      }
      this.slowMaxMs = Math.max(this.slowMaxMs, performance.now() - openedMs);
      if (!this.#isOver) this.slowCut++;
      socket.destroy();
    }
  }

  async #watchMemory(): Promise<void> {
    while (!this.#isOver) {
      const status = await readFile(`/proc/${this.#options.processId}/status`, 'utf8');
      const kibibytes = Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0);
      this.maxResidentBytes = Math.max(this.maxResidentBytes, kibibytes * 1024);
      await soon();
    }
  }

  async #count(): Promise<number> {
    const q = encodeURIComponent('SELECT count(f) FROM m');
    const answer = await this.send('GET', `/query?db=${DATABASE}&q=${q}`, '');
    const body = JSON.parse(answer?.text ?? '{}') as {
      results?: { series?: { values: number[][] }[] }[];
    };
    return body.results?.[0]?.series?.[0]?.values[0]?.[1] ?? 0;
  }
}

/**
 * Resolves however a socket is closed; its errors are what the service does to misbehaving clients.
 */
function closeOf(socket: Socket): Promise<undefined> {
  return new Promise((resolve) => socket.once('close', () => resolve(undefined)));
}

function drainOf(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once('drain', () => resolve()));
}

/** The first bytes that come, as text. */
function firstData(socket: Socket): Promise<string> {
  return new Promise((resolve) =>
    socket.once('data', (chunk: Buffer) => resolve(chunk.toString('latin1'))),
  );
}

function statusOf(answer: string | undefined): number {
  return Number(/^HTTP\/1\.1 (\d+)/.exec(answer ?? '')?.[1] ?? 0);
}

function soon(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 100));
}

function after(delayMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(() => resolve(), delayMs).unref());
}

/** Puts a service under load and says what came of it. */
export function putUnderLoad(options: LoadOptions): Promise<LoadResult> {
  return new Load(options).run();
}

/** The errors in a result, as sentences; empty if there are none. */
export function problemsOf(result: LoadResult, memoryBudgetBytes: number): readonly string[] {
  const problems: string[] = [];
  if (result.acknowledgedPoints === 0) problems.push('nothing was acknowledged');
  if (result.queries === 0) problems.push('no query was answered');
  if (result.storedPoints < result.acknowledgedPoints) {
    problems.push(
      `${result.acknowledgedPoints - result.storedPoints} acknowledged points are lost`,
    );
  }
  if (result.storedPoints > result.acknowledgedPoints + result.unsurePoints) {
    problems.push('there are more points than were sent');
  }
  if (result.unanswered.length > 0) {
    problems.push(
      `${result.unanswered.length} requests without an answer: ${result.unanswered[0]}`,
    );
  }
  if (result.idleLost > 0) problems.push(`${result.idleLost} idle connections were closed`);
  const refused = result.oversized.filter((status) => status === 413).length;
  if (result.oversized.length === 0 || refused < result.oversized.length) {
    problems.push(`${refused} of ${result.oversized.length} oversized bodies got 413`);
  }
  const ended = result.endless.filter((status) => status === 413).length;
  if (result.endless.length === 0 || ended < result.endless.length) {
    problems.push(`${ended} of ${result.endless.length} bodies without end got 413`);
  }
  if (result.slowMaxMs > SLOW_HEADERS_LIMIT_MS) {
    problems.push(`headers that came slowly were borne for ${result.slowMaxMs} ms`);
  }
  if (result.maxResidentBytes > memoryBudgetBytes) {
    problems.push(`memory rose to ${result.maxResidentBytes} of ${memoryBudgetBytes} bytes`);
  }
  return problems;
}
