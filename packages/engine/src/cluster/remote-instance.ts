// Task hosts of another instance as a member of the leader's pool. All messages to and from them
// use one connection; when it ends, all hosts have ended.
import http from 'node:http';
import https from 'node:https';
import type { Duplex } from 'node:stream';
import { deferred, messageOf, Unavailable } from '@tidemark/core';
import type { Clock, Deferred } from '@tidemark/core';
import { packWhole } from '@tidemark/runtime/host';
import type {
  HostData,
  HostLink,
  HostLinkEvents,
  HostLocation,
  RowsEntry,
  RowsForTasks,
} from '@tidemark/runtime/host';
import { Ticker } from '../ticker.ts';
import { FrameSocket, SIGNS, TASK_HOSTS, TERM_HEADER, VERSION_HEADER } from './host-frames.ts';
import type { FromInstance, NamedRows, ToInstance } from './host-frames.ts';
import { SECRET_HEADER } from './instance-request.ts';
import type { PointLog } from '../shared-log/point-log.ts';

export type RemoteInstanceOptions = {
  readonly id: string;
  /** URL of its API. */
  readonly url: string;
  readonly secret: string;
  /** Term of the leader. */
  readonly term: number;
  /** Version of the program; instances of another version do not run the leader's tasks. */
  readonly version: string;
  readonly leaseMs: number;
  readonly clock: Clock;
  readonly points: Pick<PointLog, 'firstNamed'>;
  /** The server name that the tasks there use. */
  readonly server: HostData['server'];
  /** The connection has ended: nothing runs there any more. */
  readonly lost: () => void;
  /** It stops soon, or is asked to: its tasks have to be moved. */
  readonly leaving: () => void;
  /** Default: by HTTP. */
  readonly dial?: Dial | undefined;
};

export type DialOptions = Pick<
  RemoteInstanceOptions,
  'url' | 'secret' | 'term' | 'version' | 'leaseMs'
>;

/** Connects to the hosts of an instance; throws when that fails. */
export type Dial = (
  options: DialOptions,
) => Promise<{ readonly socket: Duplex; readonly head: Uint8Array }>;

export class RemoteInstance implements HostLocation {
  readonly id: string;
  readonly #options: RemoteInstanceOptions;
  readonly #frames: FrameSocket<FromInstance, ToInstance>;
  readonly #links = new Map<number, RemoteLink>();
  readonly #ready = deferred();
  readonly #ticker: Ticker;
  #hostCount = 0;
  #first = 0;
  #nextHost = 1;
  #silentTicks = 0;
  #end: string | undefined;
  /** Memory of its process. */
  memoryBytes = 0;
  isLeaving = false;

  private constructor(options: RemoteInstanceOptions, socket: Duplex, head: Uint8Array) {
    this.id = options.id;
    this.#options = options;
    this.#frames = new FrameSocket(socket, head);
    this.#ticker = new Ticker(options.clock, options.leaseMs / SIGNS, () => this.#tick());
    void this.#listen(); // Keeps its failures as the reason of the end.
  }

  /** Throws `Unavailable` when the instance cannot be reached, or refuses to run tasks. */
  static async connect(options: RemoteInstanceOptions): Promise<RemoteInstance> {
    const { socket, head } = await (options.dial ?? connection)(options);
    const instance = new RemoteInstance(options, socket, head);
    await instance.#ready.promise;
    if (instance.#end === undefined) return instance;
    throw new Unavailable(instance.#end);
  }

  get hostCount(): number {
    return this.#hostCount;
  }

  openHost(index: number, events: HostLinkEvents): HostLink {
    const host = this.#nextHost++;
    const { server } = this.#options;
    const link = new RemoteLink(events, {
      send: (message) => this.#frames.send({ kind: 'message', host, message }),
      sendRows: (rows) => this.#sendRows(host, rows),
      end: () => this.#frames.send({ kind: 'end', host }),
    });
    if (this.#end === undefined) {
      this.#links.set(host, link);
      this.#frames.send({ kind: 'open', host, name: `task-host-${index}`, server });
    } else {
      const reason = this.#end;
      // Not before the caller has the link.
      queueMicrotask(() => link.ended({ reason, currentTask: 0, isOfLocation: true }));
    }
    return link;
  }

  /** Ends the connection, and with it the hosts. */
  async close(reason: string): Promise<void> {
    this.#ended(reason);
    await this.#ticker.close();
  }

  #sendRows(host: number, rows: readonly RowsForTasks[]): void {
    const { points } = this.#options;
    const { firstNamed } = points;
    const first = Math.max(this.#first, firstNamed);
    const entries = rows.map(({ batch, tasks, due, isKept }): NamedRows | RowsEntry => {
      const { record: sequence } = batch;
      return sequence !== undefined && sequence >= first
        ? { sequence, tasks, due, isKept }
        : { batch: packWhole(batch), tasks, due, isKept: false };
    });
    this.#frames.send({ kind: 'rows', host, entries, firstNamed });
  }

  async #listen(): Promise<void> {
    let reason = 'the instance has closed the connection';
    try {
      for await (const frame of this.#frames.frames()) {
        this.#silentTicks = 0;
        this.#handle(frame);
      }
    } catch (error) {
      reason = messageOf(error);
    }
    this.#ended(reason);
  }

  #handle(frame: FromInstance): void {
    switch (frame.kind) {
      case 'ready':
        this.#hostCount = frame.hostCount;
        this.#first = frame.first;
        this.#ready.resolve();
        break;
      case 'message':
        this.#links.get(frame.host)?.message(frame.message);
        break;
      case 'ended':
        this.#links.get(frame.host)?.ended(frame.end);
        this.#links.delete(frame.host);
        break;
      case 'alive':
        this.memoryBytes = frame.memoryBytes;
        break;
      case 'leaving':
        this.isLeaving = true;
        this.#options.leaving();
    }
  }

  /** Counted in ticks: a pause of this process must not count as silence of the other. */
  #tick(): void {
    this.#frames.send({ kind: 'alive', firstNamed: this.#options.points.firstNamed });
    this.#silentTicks++;
    if (this.#silentTicks > SIGNS) this.#ended('the instance was silent for longer than its lease');
  }

  #ended(reason: string): void {
    if (this.#end !== undefined) return;
    this.#end = reason;
    this.#frames.close();
    this.#ready.resolve();
    // Before the pool looks for other locations.
    this.#options.lost();
    for (const link of this.#links.values())
      link.ended({ reason, currentTask: 0, isOfLocation: true });
    this.#links.clear();
    void this.#ticker.close(); // Waits for the present tick, which may be this one.
  }
}

type Wire = {
  readonly send: HostLink['post'];
  readonly sendRows: HostLink['postRows'];
  readonly end: () => void;
};

class RemoteLink implements HostLink {
  /** The other side reports its task only at its end. */
  readonly currentTask = 0;
  /** Unknown here, and so never the same. */
  readonly work = Number.NaN;
  readonly #events: HostLinkEvents;
  readonly #wire: Wire;
  readonly #end: Deferred = deferred();
  #isEnded = false;

  constructor(events: HostLinkEvents, wire: Wire) {
    this.#events = events;
    this.#wire = wire;
  }

  post(message: Parameters<HostLink['post']>[0]): void {
    if (!this.#isEnded) this.#wire.send(message);
  }

  postRows(rows: readonly RowsForTasks[]): void {
    if (!this.#isEnded) this.#wire.sendRows(rows);
  }

  async terminate(): Promise<void> {
    if (!this.#isEnded) this.#wire.end();
    await this.#end.promise;
  }

  readonly message: HostLinkEvents['message'] = (message) => this.#events.message(message);

  readonly ended: HostLinkEvents['ended'] = (end) => {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#events.ended(end);
    this.#end.resolve();
  };
}

function connection({ url, secret, term, version, leaseMs }: DialOptions): ReturnType<Dial> {
  const { protocol, hostname, port } = new URL(url);
  const request = (protocol === 'https:' ? https : http).request({
    method: 'CONNECT',
    host: hostname,
    port,
    path: TASK_HOSTS,
    agent: false,
    timeout: leaseMs,
    headers: {
      [SECRET_HEADER]: secret,
      [TERM_HEADER]: String(term),
      [VERSION_HEADER]: version,
    },
  });
  return new Promise((resolve, reject) => {
    request.once('timeout', () => request.destroy(new Unavailable('the instance does not answer')));
    request.once('error', reject);
    request.once('connect', ({ statusCode }, socket, head) => {
      socket.setTimeout(0);
      socket.setNoDelay(true);
      if (statusCode === 200) return resolve({ socket, head });
      socket.destroy();
      reject(new Unavailable(`the instance does not run tasks for this one: ${statusCode}`));
    });
    request.end();
  });
}
