// A NATS server with JetStream of the distribution, as the coordinator of a cluster of engines; and
// a connection to it that tests can cut.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { join } from 'node:path';

import { eventually } from './http.ts';
import { programPath } from './programs.ts';
import { makeDirectory, removeDirectory } from './tidemark.ts';

const START_TIMEOUT_MS = 30_000;

export class TestCoordinator {
  readonly directory: string;
  port = 0;
  #process: ChildProcess | undefined;

  private constructor(directory: string) {
    this.directory = directory;
  }

  /** Starts an empty server on a free port. */
  static async start(): Promise<TestCoordinator> {
    const coordinator = new TestCoordinator(await makeDirectory());
    await coordinator.start();
    return coordinator;
  }

  get url(): string {
    return `nats://127.0.0.1:${this.port}`;
  }

  /** Starts it again, on the same port, with its data. */
  async start(): Promise<void> {
    for (const name of readdirSync(this.directory))
      if (name.endsWith('.ports')) rmSync(join(this.directory, name));
    const port = this.port === 0 ? '-1' : String(this.port);
    const store = join(this.directory, 'store');
    const places = ['--addr', '127.0.0.1', '--port', port, '--ports_file_dir', this.directory];
    this.#process = spawn(
      programPath('nats-server') ?? 'nats-server',
      [...places, '--jetstream', '--store_dir', store],
      { stdio: 'ignore' },
    );
    this.port = await eventually('a coordinator', async () => this.#boundPort(), START_TIMEOUT_MS);
  }

  /** `undefined` until it listens. */
  #boundPort(): number | undefined {
    const file = readdirSync(this.directory).find((name) => name.endsWith('.ports'));
    if (file === undefined) return undefined;
    const text = readFileSync(join(this.directory, file), 'utf8');
    if (!text.trimEnd().endsWith('}')) return undefined;
    const [first = ''] = (JSON.parse(text) as { readonly nats: readonly string[] }).nats;
    return Number(new URL(first).port);
  }

  /** Kills it; acknowledged data is kept. */
  async kill(): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (child === undefined || child.exitCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  /** Ends it, and removes its data. */
  async close(): Promise<void> {
    await this.kill();
    await removeDirectory(this.directory);
  }
}

/** A link to a port of loopback that can be cut: data sent then is neither accepted nor refused. */
export class CuttableLink {
  readonly #targetPort: number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isCut = false;

  private constructor(targetPort: number) {
    this.#targetPort = targetPort;
    this.#server = createServer((incoming) => this.#join(incoming));
  }

  static async open(targetPort: number): Promise<CuttableLink> {
    const link = new CuttableLink(targetPort);
    await new Promise<void>((resolve) => link.#server.listen(0, '127.0.0.1', resolve));
    return link;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  cut(): void {
    this.#isCut = true;
    for (const socket of this.#sockets) socket.pause();
  }

  /** Connections that were open lost data meanwhile, and are reset. */
  restore(): void {
    this.#isCut = false;
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #join(incoming: Socket): void {
    const outgoing = connect(this.#targetPort, '127.0.0.1');
    for (const [from, to] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      this.#sockets.add(from);
      if (this.#isCut) from.pause();
      from.on('data', (bytes) => to.write(bytes));
      from.on('close', () => {
        this.#sockets.delete(from);
        to.destroy();
      });
      // Either end may go away; the other is closed.
      from.on('error', () => to.destroy());
    }
  }
}
