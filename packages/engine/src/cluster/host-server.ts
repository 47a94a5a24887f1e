// Offers threads of this instance to the leader for its tasks. The threads belong to one connection
// of the leader: when it ends, or a leader of a later term connects, everything that runs here ends
// too. The output of tasks leaves this process only through that connection.
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { messageOf } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import type { SharedLog } from '@tidemark/cluster';
import { openThread } from '@tidemark/runtime/host';
import type { HostData, LocalHostLink, OpenLocalHost } from '@tidemark/runtime/host';
import type { Logger } from '../observability/log-hub.ts';
import { Ticker } from '../ticker.ts';
import type { Build } from '../shared-log/build.ts';
import { FrameSocket, SIGNS, TASK_HOSTS, TERM_HEADER, VERSION_HEADER } from './host-frames.ts';
import type { FromInstance, ToInstance } from './host-frames.ts';
import { isOfCluster } from './instance-request.ts';
import { PointWindow } from '../shared-log/point-window.ts';

export type HostServerOptions = {
  readonly hostCount: number;
  /** Heap of each host in MiB; 0 leaves it to the platform. */
  readonly memoryMiB: number;
  readonly functions: HostData['functions'];
  /** The cluster secret. */
  readonly secret: string;
  readonly build: Build;
  readonly points: SharedLog;
  readonly clock: Clock;
  readonly leaseMs: number;
  readonly logger: Logger;
  /** Default: as threads. */
  readonly openHost?: OpenLocalHost | undefined;
};

/** A request of the method CONNECT, without its connection. */
export type HostRequest = Pick<IncomingMessage, 'url' | 'headers'>;

export class HostServer {
  readonly #options: HostServerOptions;
  #session: Session | undefined;
  #term = 0;
  #isLeaving = false;

  constructor(options: HostServerOptions) {
    this.#options = options;
  }

  connect(request: HostRequest, socket: Duplex, head: Uint8Array): void {
    const refusal = this.#refusal(request);
    if (refusal !== undefined) {
      socket.end(`HTTP/1.1 ${refusal}\r\nConnection: close\r\n\r\n`);
      return;
    }
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    this.#term = Number(request.headers[TERM_HEADER]);
    const before = this.#session;
    const session = new Session(this.#options, socket, head);
    this.#session = session;
    const ended = before?.close('another leader has come') ?? Promise.resolve();
    void ended.then(() => session.run()); // Neither rejects.
  }

  /** This instance leads in this term from now on: it stops running tasks for others. */
  async lead(term: number): Promise<void> {
    this.#term = term;
    await this.#session?.close('this instance leads');
  }

  /** Asks the leader to move its tasks away; resolves when that is done, or at the deadline. */
  async leave(deadlineMs: number): Promise<void> {
    this.#isLeaving = true;
    await this.#session?.leave(deadlineMs);
  }

  async close(): Promise<void> {
    this.#isLeaving = true;
    await this.#session?.close('the instance stops');
  }

  #refusal({ url, headers }: HostRequest): string | undefined {
    const term = Number(headers[TERM_HEADER]);
    if (!isOfCluster({ headers }, this.#options.secret)) return '403 Forbidden';
    if (url !== TASK_HOSTS || headers[VERSION_HEADER] !== this.#options.build.version)
      return '426 Upgrade Required';
    // The same term is accepted, because its only leader may have lost its connection.
    if (!(term > 0) || term < this.#term || this.#isLeaving) return '409 Conflict';
    return undefined;
  }
}

/** The hosts of one connection. */
class Session {
  readonly #options: HostServerOptions;
  readonly #frames: FrameSocket<ToInstance, FromInstance>;
  readonly #hosts = new Map<number, LocalHostLink>();
  readonly #ended = new AbortController();
  readonly #points: PointWindow;
  #silentTicks = 0;
  #running: Promise<void> | undefined;

  constructor(options: HostServerOptions, socket: Duplex, head: Uint8Array) {
    this.#options = options;
    this.#frames = new FrameSocket(socket, head);
    const { points: log, build, clock, logger } = options;
    this.#points = new PointWindow({ log, build, clock, logger, signal: this.#ended.signal });
  }

  run(): Promise<void> {
    this.#running ??= this.#run();
    return this.#running;
  }

  async close(reason: string): Promise<void> {
    this.#end(reason);
    await this.#running;
  }

  async leave(deadlineMs: number): Promise<void> {
    this.#frames.send({ kind: 'leaving' });
    const { clock } = this.#options;
    const waiting = clock.sleep(deadlineMs, this.#ended.signal);
    // Ends early with the connection, which is intended.
    await waiting.catch(() => undefined);
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    const { clock, leaseMs, hostCount } = this.#options;
    if (this.#ended.signal.aborted) return;
    const ticker = new Ticker(clock, leaseMs / SIGNS, () => this.#tick());
    try {
      const first = await this.#points.open();
      this.#frames.send({ kind: 'ready', hostCount, first });
      for await (const frame of this.#frames.frames()) {
        this.#silentTicks = 0;
        await this.#handle(frame);
      }
      this.#end('the leader has closed the connection');
    } catch (error) {
      this.#end(messageOf(error));
    }
    await ticker.close();
    await this.#points.close();
    await Promise.all([...this.#hosts.values()].map((host) => host.terminate()));
  }

  async #handle(frame: ToInstance): Promise<void> {
    switch (frame.kind) {
      case 'open':
        this.#open(frame);
        break;
      case 'message':
        this.#hosts.get(frame.host)?.post(frame.message);
        break;
      case 'rows':
        this.#points.forget(frame.firstNamed);
        for (const entry of frame.entries) await this.#rows(frame.host, entry);
        break;
      case 'end':
        await this.#hosts.get(frame.host)?.terminate();
        break;
      case 'alive':
        this.#points.forget(frame.firstNamed);
    }
  }

  #open({ host, name, server }: ToInstance & { kind: 'open' }): void {
    const { functions, memoryMiB, openHost = openThread } = this.#options;
    const link = openHost(
      { functions, memoryMiB, server, name },
      {
        message: (message) => this.#frames.send({ kind: 'message', host, message }),
        ended: (end) => {
          this.#hosts.delete(host);
          this.#frames.send({ kind: 'ended', host, end });
        },
      },
    );
    this.#hosts.set(host, link);
  }

  async #rows(
    host: number,
    entry: (ToInstance & { kind: 'rows' })['entries'][number],
  ): Promise<void> {
    const link = this.#hosts.get(host);
    if ('batch' in entry) {
      link?.postPacked([entry]);
      return;
    }
    const { sequence, ...to } = entry;
    const batch = await this.#points.batch(sequence);
    link?.postRows([{ ...to, batch, isOurs: false }]);
  }

  #tick(): void {
    this.#frames.send({ kind: 'alive', memoryBytes: process.memoryUsage.rss() });
    this.#silentTicks++;
    if (this.#silentTicks > SIGNS) this.#end('the leader was silent for longer than its lease');
  }

  #end(reason: string): void {
    if (this.#ended.signal.aborted) return;
    this.#options.logger('info', 'no tasks run here for the leader any more', { reason });
    this.#ended.abort(new Error(reason));
    this.#frames.close();
  }
}
