// Three NATS servers of the distribution that store each value three times, as the coordinator of a
// cluster of engines.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { freePorts } from '@tidemark/process';

import { programPath } from './programs.ts';
import { makeDirectory, removeDirectory } from './tidemark.ts';

const COUNT = 3;

type Place = { readonly name: string; readonly port: number; readonly routePort: number };

export class TestCoordinators {
  readonly #directory: string;
  readonly #places: readonly Place[];
  #processes: ChildProcess[] = [];

  private constructor(directory: string, places: readonly Place[]) {
    this.#directory = directory;
    this.#places = places;
  }

  /** Starts the servers with nothing in them; they serve when they have found each other. */
  static async start(): Promise<TestCoordinators> {
    const ports = await freePorts(2 * COUNT);
    const places = Array.from({ length: COUNT }, (_, i) => ({
      name: `server-${i + 1}`,
      port: ports[2 * i] ?? 0,
      routePort: ports[2 * i + 1] ?? 0,
    }));
    const coordinators = new TestCoordinators(await makeDirectory(), places);
    coordinators.start();
    return coordinators;
  }

  get urls(): readonly string[] {
    return this.#places.map(({ port }) => `nats://127.0.0.1:${port}`);
  }

  /** Starts all of them again with what they have kept. */
  start(): void {
    this.#processes = this.#places.map((place) => this.#start(place));
  }

  #start({ name, port, routePort }: Place): ChildProcess {
    const home = join(this.#directory, name);
    mkdirSync(home, { recursive: true });
    const routes = this.#places.map((each) => `nats://127.0.0.1:${each.routePort}`);
    const path = join(home, 'nats.conf');
    writeFileSync(
      path,
      [
        `server_name: ${name}`,
        `listen: "127.0.0.1:${port}"`,
        `jetstream { store_dir: ${JSON.stringify(join(home, 'data'))} }`,
        `cluster { name: test, listen: "127.0.0.1:${routePort}", routes: ${JSON.stringify(routes)} }`,
        '',
      ].join('\n'),
    );
    return spawn(programPath('nats-server') ?? 'nats-server', ['-c', path], { stdio: 'ignore' });
  }

  /** Ends all of them at once, without a warning. */
  async kill(): Promise<void> {
    const children = this.#processes.splice(0);
    const ended = children.map((child) => once(child, 'exit'));
    for (const child of children) child.kill('SIGKILL');
    await Promise.all(ended);
  }

  /** Ends them, and removes what they have kept. */
  async close(): Promise<void> {
    await this.kill();
    await removeDirectory(this.#directory);
  }
}
