// Connections between instances: bytes in both directions, in order, until they are cut, and the
// end of either side.
import { Duplex } from 'node:stream';
import { Unavailable } from '@tidemark/core';
import {
  TASK_HOSTS,
  TERM_HEADER,
  VERSION_HEADER,
} from '../../../../packages/engine/src/cluster/host-frames.ts';
import type { HostServer } from '../../../../packages/engine/src/cluster/host-server.ts';
import type { Dial, DialOptions } from '../../../../packages/engine/src/cluster/remote-instance.ts';
import { SECRET_HEADER } from '../../../../packages/engine/src/cluster/instance-request.ts';
import type { ProcessClock, Timeline } from './timeline.ts';

/** One end of connections: an instance. */
export type WireEnd = {
  readonly clock: ProcessClock;
  /** Nothing gets through to other instances. */
  readonly isIsolated: () => boolean;
  readonly hosts: () => HostServer | undefined;
};

export type Wires = {
  readonly timeline: Timeline;
  readonly delayMs: () => number;
  /** The listener at a URL. */
  readonly at: (url: string) => WireEnd | undefined;
};

/** Delay before a failed request is retried. */
const AGAIN_MS = 100;

/** How an instance connects to others. */
export function dialFrom(from: WireEnd, wires: Wires): Dial {
  return async (options) => {
    await from.clock.sleep(wires.delayMs());
    const to = wires.at(options.url);
    if (to === undefined || from.isIsolated() || to.isIsolated()) {
      await from.clock.sleep(to === undefined ? 1 : options.leaseMs);
      throw new Unavailable('the instance does not answer');
    }
    const [near, far] = pairOf(from, to, wires);
    to.clock.after(wires.delayMs(), () => {
      const hosts = to.hosts();
      if (hosts === undefined) far.destroy();
      else hosts.connect({ url: TASK_HOSTS, headers: headersOf(options) }, far, Buffer.alloc(0));
    });
    return answered(near, from, options.leaseMs);
  };
}

function headersOf({ secret, term, version }: DialOptions): Readonly<Record<string, string>> {
  return { [SECRET_HEADER]: secret, [TERM_HEADER]: String(term), [VERSION_HEADER]: version };
}

function answered(socket: Duplex, { clock }: WireEnd, leaseMs: number): ReturnType<Dial> {
  return new Promise((resolve, reject) => {
    clock.after(leaseMs, () => {
      reject(new Unavailable('the instance does not answer'));
    });
    socket.once('error', () => undefined);
    socket.once('close', () => reject(new Unavailable('the instance has closed the connection')));
    socket.once('data', (head: Buffer) => {
      socket.pause();
      const text = head.toString('latin1');
      if (text.startsWith('HTTP/1.1 200')) return resolve({ socket, head: Buffer.alloc(0) });
      socket.destroy();
      reject(new Unavailable(`the instance does not run tasks for this one: ${text.slice(9, 12)}`));
    });
  });
}

const open = new Set<SimulatedSocket>();

/** Ends the connections of an instance: both ends learn it. */
export function breakWires(end: WireEnd): void {
  for (const socket of open) if (socket.side === end) socket.break();
}

export function forgetWires(): void {
  open.clear();
}

function pairOf(a: WireEnd, b: WireEnd, wires: Wires): readonly [SimulatedSocket, SimulatedSocket] {
  const near = new SimulatedSocket(a, wires);
  const far = new SimulatedSocket(b, wires);
  near.peer = far;
  far.peer = near;
  open.add(near).add(far);
  return [near, far];
}

/** `null` is the end. */
type Sent = { readonly dueMs: number; readonly chunk: Buffer | null };

class SimulatedSocket extends Duplex {
  readonly side: WireEnd;
  readonly #wires: Wires;
  readonly #sent: Sent[] = [];
  peer: SimulatedSocket | undefined;
  #lastMs = 0;
  #isPumping = false;
  #hasEnded = false;

  constructor(end: WireEnd, wires: Wires) {
    super({ allowHalfOpen: false });
    this.side = end;
    this.#wires = wires;
  }

  override _read(): void {}

  override _write(chunk: Buffer, _: string, done: () => void): void {
    this.#send(Buffer.from(chunk));
    done();
  }

  override _writev(chunks: readonly { readonly chunk: Buffer }[], done: () => void): void {
    this.#send(Buffer.concat(chunks.map(({ chunk }) => chunk)));
    done();
  }

  override _final(done: () => void): void {
    this.break();
    done();
  }

  override _destroy(_: Error | null, done: () => void): void {
    this.break();
    done();
  }

  /** The other end learns that this one is gone. */
  break(): void {
    open.delete(this);
    if (this.#hasEnded) return;
    this.#send(null);
    this.#hasEnded = true;
  }

  #send(chunk: Buffer | null): void {
    if (this.#hasEnded) return;
    const { timeline, delayMs } = this.#wires;
    this.#lastMs = Math.max(this.#lastMs, timeline.nowMs + delayMs());
    this.#sent.push({ dueMs: this.#lastMs, chunk });
    if (!this.#isPumping) this.#pump();
  }

  #pump(): void {
    const [next] = this.#sent;
    this.#isPumping = next !== undefined;
    if (next === undefined) return;
    const { timeline } = this.#wires;
    timeline.at(next.dueMs, () => {
      const { peer } = this;
      if (peer === undefined || peer.side.clock.hasEnded) return;
      if (this.side.isIsolated() || peer.side.isIsolated()) {
        this.#sent[0] = { ...next, dueMs: timeline.nowMs + AGAIN_MS };
      } else {
        this.#sent.shift();
        peer.side.clock.soon(() => peer.#take(next.chunk));
      }
      this.#pump();
    });
  }

  #take(chunk: Buffer | null): void {
    if (!this.destroyed) this.push(chunk);
  }
}
