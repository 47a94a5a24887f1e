// Line protocol over UDP: every packet is a body of lines for one database and retention policy.
// Packets that arrive during a write are written together.
import { createSocket } from 'node:dgram';
import type { Socket } from 'node:dgram';
import { AppError, Unavailable } from '@tidemark/core';
import { UDP_BODY } from '../limits.ts';
import type { Logger } from '../observability/log-hub.ts';
import { BadLine } from './write-path.ts';
import type { WriteTarget } from './write-path.ts';

export type UdpListenerOptions = {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Receive buffer of the socket; 0 is the system's default. */
  readonly readBufferBytes: number;
  /** Packets that may wait; more are dropped and counted. */
  readonly packetsMax: number;
  readonly target: WriteTarget;
  /** Throws `BadLine` when nothing of a body was written. */
  readonly write: (body: Uint8Array, target: WriteTarget) => Promise<void>;
  readonly log: Logger;
};

const NEWLINE = Buffer.from('\n');

export class UdpListener {
  readonly #options: UdpListenerOptions;
  readonly #socket: Socket;
  readonly counters = { received: 0, failed: 0, dropped: 0 };
  #droppedTold = 0;
  #waiting: Buffer[] = [];
  #writing: Promise<void> | undefined;

  private constructor(options: UdpListenerOptions, socket: Socket) {
    this.#options = options;
    this.#socket = socket;
    socket.on('message', (packet) => this.#accept(packet));
    socket.on('error', (error) =>
      options.log('error', 'udp listener failed', { err: error.message }),
    );
  }

  /** Binds and listens. Rejects with `Unavailable` when the address is not available. */
  static open(options: UdpListenerOptions): Promise<UdpListener> {
    return new Promise((resolve, reject) => {
      const socket = createSocket(options.host.includes(':') ? 'udp6' : 'udp4');
      const fail = (cause: Error): void =>
        reject(new Unavailable(`cannot listen for udp: ${cause.message}`, { cause }));
      socket.once('error', fail);
      socket.bind(options.port, options.host, () => {
        socket.off('error', fail);
        if (options.readBufferBytes > 0) socket.setRecvBufferSize(options.readBufferBytes);
        resolve(new UdpListener(options, socket));
      });
    });
  }

  get port(): number {
    return this.#socket.address().port;
  }

  /** Stops listening; packets that were received are written first. */
  async close(): Promise<void> {
    await new Promise<void>((resolve) => this.#socket.close(() => resolve()));
    await this.#writing;
  }

  #accept(packet: Buffer): void {
    this.counters.received++;
    if (this.#waiting.length >= this.#options.packetsMax) {
      this.counters.dropped++;
      return;
    }
    this.#waiting.push(packet);
    this.#writing ??= this.#writeAll();
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const packets = this.#nextPackets();
      const isWritten = await this.#write(packets);
      // A wrong line is the fault of one packet.
      if (!isWritten) for (const packet of packets) await this.#write([packet]);
    }
    this.#writing = undefined;
    this.#tellDropped();
  }

  /** Logged when all waiting packets are written: not for each one. */
  #tellDropped(): void {
    const { packetsMax, target, log } = this.#options;
    const { database, retentionPolicy } = target;
    const dropped = this.counters.dropped - this.#droppedTold;
    if (dropped === 0) return;
    this.#droppedTold = this.counters.dropped;
    log('warn', 'udp packets were dropped: more came than may wait (udp-buffer)', {
      dropped,
      'udp-buffer': packetsMax,
      database,
      retentionPolicy,
    });
  }

  #nextPackets(): readonly Buffer[] {
    let count = 0;
    for (let sizeBytes = 0; count < this.#waiting.length; count++) {
      sizeBytes += this.#waiting[count]?.length ?? 0;
      if (count > 0 && sizeBytes > UDP_BODY.value) break;
    }
    return this.#waiting.splice(0, count);
  }

  /** `false` for several packets of which one has a wrong line. */
  async #write(packets: readonly Buffer[]): Promise<boolean> {
    const { write, target, log } = this.#options;
    try {
      await write(Buffer.concat(packets.flatMap((packet) => [packet, NEWLINE])), target);
    } catch (error) {
      // UDP has no answer.
      if (!(error instanceof AppError)) throw error;
      if (error instanceof BadLine && packets.length > 1) return false;
      this.counters.failed += packets.length;
      log('warn', 'failed to accept points from udp', {
        packets: packets.length,
        err: error.message,
      });
    }
    return true;
  }
}
