// A session with a user-defined function: requests with one response each, data in both directions,
// keep-alive.
import type { UdfInfo } from '@tidemark/pipeline';
import type { UdfConnection } from '../services.ts';
import type { CancelTimer, Timers } from '../timers.ts';
import type { UdfRequest, UdfResponse } from './messages.ts';
import { decodeResponse, encodeRequest, FrameReader } from './messages.ts';

/** The function failed, disappeared or does not answer. */
export class UdfError extends Error {
  override readonly name = 'UdfError';
}

type Answer = Extract<
  UdfResponse,
  { kind: 'info' | 'init' | 'restore' | 'snapshot' | 'keepalive' }
>;
type Data = Extract<UdfResponse, { kind: 'begin' | 'point' | 'end' }>;

type Waiting = {
  readonly kind: Answer['kind'];
  readonly resolve: (answer: Answer) => void;
  readonly reject: (cause: UdfError) => void;
};

export type UdfListener = {
  data(message: Data): void;
  /** Called once; the session is over. */
  failed(cause: UdfError): void;
};

export class UdfSession {
  readonly #connection: UdfConnection;
  readonly #listener: UdfListener;
  readonly #frames = new FrameReader();
  readonly #waiting: Waiting[] = [];
  readonly #endListeners: (() => void)[] = [];
  #isEnding = false;
  #isOver = false;
  #cancelKeepalive: CancelTimer | undefined;
  #lastKeepalive = 0n;

  constructor(connection: UdfConnection, listener: UdfListener) {
    this.#connection = connection;
    this.#listener = listener;
    connection.onData((bytes) => this.#received(bytes));
    connection.onEnd((reason) => this.#ended(reason));
  }

  send(request: UdfRequest): void {
    if (!this.#isOver) this.#connection.send(encodeRequest(request));
  }

  async info(): Promise<UdfInfo> {
    const answer = await this.#ask({ kind: 'info' }, 'info');
    if (answer.kind !== 'info') throw new UdfError('unexpected answer to info');
    return answer.info;
  }

  async init(request: Extract<UdfRequest, { kind: 'init' }>): Promise<void> {
    const answer = await this.#ask(request, 'init');
    if (answer.kind === 'init' && !answer.isSuccess) throw new UdfError(answer.error);
  }

  async restore(snapshot: Uint8Array): Promise<void> {
    const answer = await this.#ask({ kind: 'restore', snapshot }, 'restore');
    if (answer.kind === 'restore' && !answer.isSuccess) throw new UdfError(answer.error);
  }

  async snapshot(): Promise<Uint8Array> {
    const answer = await this.#ask({ kind: 'snapshot' }, 'snapshot');
    return answer.kind === 'snapshot' ? answer.snapshot : new Uint8Array(0);
  }

  /**
   * Resolves when the function has processed everything that was sent before: it answers in order.
   */
  async settled(time: bigint): Promise<void> {
    if (!this.#isOver) await this.#ask({ kind: 'keepalive', time }, 'keepalive');
  }

  /**
   * Sends a keep-alive every half of the timeout; without an answer within the timeout the session
   * ends.
   */
  keepAlive(timers: Timers, timeoutMs: number): void {
    if (timeoutMs <= 0) return;
    const timeout = BigInt(timeoutMs) * 1_000_000n;
    this.#lastKeepalive = timers.now();
    const tick = (): void => {
      if (this.#isOver || this.#isEnding) return;
      const now = timers.now();
      if (now - this.#lastKeepalive > timeout) {
        this.#connection.kill();
        this.#over(
          new UdfError(`keepalive timedout, last keepalive received was: ${this.#lastKeepalive}`),
        );
        return;
      }
      // Its answer is awaited like any other: the next request must not take it for its own.
      this.#waiting.push({ kind: 'keepalive', resolve: () => undefined, reject: () => undefined });
      this.send({ kind: 'keepalive', time: now });
      this.#cancelKeepalive = timers.at(now + timeout / 2n, tick);
    };
    this.#timers = timers;
    this.#cancelKeepalive = timers.at(timers.now() + timeout / 2n, tick);
  }

  /** Tells the function that no more requests follow and waits until it has finished. */
  end(): Promise<void> {
    if (this.#isOver) return Promise.resolve();
    this.#isEnding = true;
    this.#cancelKeepalive?.();
    return new Promise((resolve) => {
      this.#endListeners.push(resolve);
      this.#connection.end();
    });
  }

  kill(): void {
    this.#isEnding = true;
    this.#cancelKeepalive?.();
    if (!this.#isOver) this.#connection.kill();
  }

  #timers: Timers | undefined;

  #ask(request: UdfRequest, kind: Answer['kind']): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ kind, resolve, reject });
      this.send(request);
      if (this.#isOver) reject(new UdfError('the function has ended'));
    });
  }

  #received(bytes: Uint8Array): void {
    try {
      for (const message of this.#frames.push(bytes)) this.#message(decodeResponse(message));
    } catch (cause) {
      // Invalid bytes: the next message cannot be found.
      this.#connection.kill();
      this.#over(new UdfError(`unreadable response: ${String(cause)}`));
    }
  }

  #message(response: UdfResponse): void {
    if (this.#timers !== undefined) this.#lastKeepalive = this.#timers.now();
    switch (response.kind) {
      case 'begin':
      case 'point':
      case 'end':
        this.#listener.data(response);
        break;
      case 'error':
        this.#connection.kill();
        this.#over(new UdfError(response.error));
        break;
      case 'unknown':
        break;
      default: {
        const i = this.#waiting.findIndex(({ kind }) => kind === response.kind);
        if (i >= 0) this.#waiting.splice(i, 1)[0]?.resolve(response);
      }
    }
  }

  #ended(reason: string | undefined): void {
    const isExpected = this.#isEnding && reason === undefined;
    this.#over(
      isExpected
        ? undefined
        : new UdfError(`process exited unexpectedly: ${reason ?? 'end of output'}`),
    );
  }

  #over(cause: UdfError | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancelKeepalive?.();
    const left = cause ?? new UdfError('the function has ended');
    for (const { reject } of this.#waiting.splice(0)) reject(left);
    if (cause !== undefined) this.#listener.failed(cause);
    for (const listener of this.#endListeners.splice(0)) listener();
  }
}

/** Asks a function for its declarations; the connection is closed afterwards. */
export async function readUdfInfo(connection: UdfConnection): Promise<UdfInfo> {
  const session = new UdfSession(connection, { data: () => undefined, failed: () => undefined });
  const info = await session.info();
  await session.end();
  return info;
}
