// Line protocol over UDP: every packet is a body of lines for one database and retention policy.
import { createSocket } from 'node:dgram';
import type { Socket } from 'node:dgram';
import { AppError, Unavailable } from '@tidemark/core';
import type { Logger } from '../observability/log-hub.ts';
import type { WritePath, WriteTarget } from './write-path.ts';

export type UdpListenerOptions = {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Receive buffer of the socket; 0 is the system's default. */
  readonly readBufferBytes: number;
  /** Packets that may wait; more are dropped and counted. */
  readonly packetsMax: number;
  readonly target: WriteTarget;
  readonly writes: WritePath;
  readonly log: Logger;
};

export class UdpListener {
  readonly #options: UdpListenerOptions;
  readonly #socket: Socket;
  readonly counters = { received: 0, failed: 0, dropped: 0 };
  #waiting = 0;
  #last: Promise<void> = Promise.resolve();

  private constructor(options: UdpListenerOptions, socket: Socket) {
    this.#options = options;
    this.#socket = socket;
    socket.on('message', (packet) => this.#accept(packet));
    socket.on('error', (error) =>
      options.log('error', 'udp listener failed', { err: error.message }),
    );
  }

  /** Binds and listens. Rejects with `Unavailable` when the address can not be had. */
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
    await this.#last;
  }

  #accept(packet: Buffer): void {
    this.counters.received++;
    if (this.#waiting >= this.#options.packetsMax) {
      this.counters.dropped++;
      return;
    }
    this.#waiting++;
    this.#last = this.#last.then(() => this.#write(packet));
  }

  async #write(packet: Buffer): Promise<void> {
    const { writes, target, log } = this.#options;
    try {
      await writes.write(packet, target);
    } catch (error) {
      // Nobody waits for an answer over UDP.
      if (!(error instanceof AppError)) throw error;
      this.counters.failed++;
      log('warn', 'failed to read a udp packet', { err: error.message });
    } finally {
      this.#waiting--;
    }
  }
}
