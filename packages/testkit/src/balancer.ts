// A plain balancer of TCP connections: passes each to the next server that accepts it.
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';

export class TcpBalancer {
  readonly #targets: () => readonly string[];
  readonly #server: Server;
  readonly #open = new Set<Socket>();
  #next = 0;

  private constructor(targets: () => readonly string[]) {
    this.#targets = targets;
    this.#server = createServer((client) => this.#accept(client));
  }

  /** `targets` returns the URLs of the servers. */
  static async open(targets: () => readonly string[]): Promise<TcpBalancer> {
    const balancer = new TcpBalancer(targets);
    balancer.#server.listen(0, '127.0.0.1');
    await once(balancer.#server, 'listening');
    return balancer;
  }

  get url(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `http://127.0.0.1:${port}`;
  }

  async close(): Promise<void> {
    this.#server.close();
    for (const socket of this.#open) socket.destroy();
    await once(this.#server, 'close');
  }

  #accept(client: Socket): void {
    const open = this.#open;
    open.add(client.on('close', () => open.delete(client)).on('error', () => client.destroy()));
    this.#attempt(client, this.#targets().length);
  }

  #attempt(client: Socket, left: number): void {
    const targets = this.#targets();
    const { hostname, port } = new URL(targets[this.#next++ % targets.length] ?? '');
    const target = connect(Number(port), hostname);
    target.once('connect', () => {
      target.on('close', () => client.destroy());
      client.on('close', () => target.destroy());
      client.pipe(target).pipe(client);
    });
    target.on('error', () => {
      if (target.bytesWritten === 0 && target.bytesRead === 0 && left > 0)
        this.#attempt(client, left - 1);
      else client.destroy();
    });
  }
}
