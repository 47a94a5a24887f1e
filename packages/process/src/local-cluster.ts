// A cluster of processes on this machine, for experiments and tests. They outlive the command that
// starts them; all their data is below one directory, with a file that lists the configuration and
// the processes of the cluster.
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

import { messageOf, NotFound, Unavailable } from '@tidemark/core';
import type { Clock } from '@tidemark/core';

import { isRunning, startDetached, stopProcess } from './detached-processes.ts';
import { LIMITS } from './limits.ts';
import { makeDirectory } from './make-directory.ts';

/** One process of a cluster. */
export type LocalProcess = {
  readonly name: string;
  /** The file that it is started with, in a directory of its own. */
  readonly configuration: string;
  /** Pid of its last start; 0 before the first. */
  readonly pid: number;
  /** Whether it answers. */
  isUp(): Promise<boolean>;
};

/** The specific parts of a kind of cluster. `File` is its file's contents, as JSON. */
export type LocalClusterKind<File> = {
  /** Name of the file, below the directory of a cluster. */
  readonly file: string;
  /** What it describes: "cluster of engines". */
  readonly what: string;
  /** The command of `tidemark` whose `up` creates one. */
  readonly verb: string;
  /** All of them; the first one is up before the others start, and ends after them. */
  processes(file: File, directory: string): readonly LocalProcess[];
  /** The file after a start: pids in the order of `processes`. */
  withPids(file: File, pids: readonly number[]): File;
};

export type StartOptions<File> = {
  readonly clock: Clock;
  /** Creates the contents for a new cluster, with free ports. */
  make(): Promise<File>;
  /** Throws when an existing cluster differs from the requested one. */
  check(file: File): void;
  /** Writes the configuration of every process. */
  configure(file: File): void;
  /** Program and parameters. */
  command(process: LocalProcess): readonly string[];
};

/** The file of a cluster, and which of its processes answer, in order. */
export type LocalClusterState<File> = { readonly file: File; readonly isUp: readonly boolean[] };

/** Ports of a new cluster that were free when they were chosen may be taken when it listens. */
const STARTS_TRIED = 3;

/** Interval of checking whether a process is up. */
const POLL_MS = 100;

/** A process that ended before it answered. */
class EndedEarly extends Unavailable {}

export class LocalCluster<File> {
  readonly directory: string;
  readonly #kind: LocalClusterKind<File>;

  constructor(kind: LocalClusterKind<File>, directory: string) {
    this.#kind = kind;
    this.directory = resolve(directory);
  }

  /**
   * Starts the processes that do not run, and resolves when all answer. Ports and data of an
   * earlier start are kept. On failure, the started processes are ended again.
   */
  async start(options: StartOptions<File>): Promise<LocalClusterState<File>> {
    makeDirectory(this.directory, { setting: '--dir', mode: 0o700 });
    const known = this.#read();
    for (let tried = 1; ; tried++) {
      const file = known ?? (await options.make());
      options.check(file);
      try {
        return await this.#start(file, options);
      } catch (error) {
        const isLast = known !== undefined || tried === STARTS_TRIED;
        if (isLast || !(error instanceof EndedEarly)) throw error;
      }
    }
  }

  /** Throws `NotFound` when there is no cluster in the directory. */
  state(): Promise<LocalClusterState<File>> {
    return this.#stateOf(this.#require());
  }

  /** Ends every process. Data and ports stay for the next start. */
  async stop(clock: Clock): Promise<void> {
    const [first, ...others] = this.#kind.processes(this.#require(), this.directory);
    await Promise.all(others.map((one) => stop(one, clock)));
    if (first !== undefined) await stop(first, clock);
  }

  async #start(
    planned: File,
    { clock, configure, command }: StartOptions<File>,
  ): Promise<LocalClusterState<File>> {
    configure(planned);
    const all: LocalProcess[] = [];
    const started: LocalProcess[] = [];
    const start = async (process: LocalProcess): Promise<void> => {
      if (isRunning(process.pid, process.configuration)) return void all.push(process);
      const [program = '', ...parameters] = command(process);
      const pid = await startDetached(program, parameters, process.configuration);
      const own = { ...process, pid };
      started.push(own);
      all.push(own);
    };
    try {
      for (const process of this.#kind.processes(planned, this.directory)) {
        await start(process);
        // The others need the first one.
        if (all.length === 1) await untilUp(all[0]!, clock);
      }
      const file = this.#kind.withPids(
        planned,
        all.map(({ pid }) => pid),
      );
      this.#write(file);
      await Promise.all(all.map((process) => untilUp(process, clock)));
      return await this.#stateOf(file);
    } catch (error) {
      for (const process of started.reverse()) await stop(process, clock);
      throw error;
    }
  }

  async #stateOf(file: File): Promise<LocalClusterState<File>> {
    const processes = this.#kind.processes(file, this.directory);
    return { file, isUp: await Promise.all(processes.map((process) => process.isUp())) };
  }

  get #path(): string {
    return join(this.directory, this.#kind.file);
  }

  #read(): File | undefined {
    try {
      return JSON.parse(readFileSync(this.#path, 'utf8')) as File;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw new Unavailable(`${this.#path} cannot be read: ${messageOf(error)}`, { cause: error });
    }
  }

  #require(): File {
    const file = this.#read();
    const { what, verb } = this.#kind;
    if (file !== undefined) return file;
    const { directory } = this;
    throw new NotFound(
      `there is no ${what} in ${directory}: make one with \`tidemark ${verb} up --dir ${directory}\``,
    );
  }

  /** Replaces the file in one step. */
  #write(file: File): void {
    writeFileSync(`${this.#path}.new`, `${JSON.stringify(file, undefined, 2)}\n`);
    renameSync(`${this.#path}.new`, this.#path);
  }
}

function stop({ pid, configuration }: LocalProcess, clock: Clock): Promise<void> {
  return stopProcess(pid, configuration, { clock, deadlineMs: LIMITS.stopMs.value });
}

async function untilUp(process: LocalProcess, clock: Clock): Promise<void> {
  const { name, pid, configuration } = process;
  const until = clock.monotonicMs() + LIMITS.startMs.value;
  while (!(await process.isUp())) {
    const logs = `see ${dirname(configuration)}`;
    if (!isRunning(pid, configuration))
      throw new EndedEarly(`${name} has ended while it started: ${logs}`);
    if (clock.monotonicMs() > until)
      throw new Unavailable(`${name} does not answer after ${LIMITS.startMs.value} ms: ${logs}`);
    await clock.sleep(POLL_MS);
  }
}
