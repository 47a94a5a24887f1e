// Starts the real executable (packages/cli/bin/tidemark, built) on free ports and with its own
// data directory.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** The command, as users run it: it becomes the pinned Node.js. */
export const EXECUTABLE = fileURLToPath(new URL('../../cli/bin/tidemark', import.meta.url));

const READY_TIMEOUT_MS = 60_000;

export type Tidemark = {
  readonly process: ChildProcess;
  readonly directory: string;
  readonly tsdb: string;
  readonly engine: string;
  readonly ui: string;
  /** Everything written to standard error so far. */
  readonly errorOutput: () => string;
  /** Sends SIGTERM and waits; returns the exit status. */
  stop(): Promise<number | null>;
  /** Sends SIGKILL and waits. */
  kill(): Promise<void>;
};

export type StartOptions = {
  /** `up` by default. */
  readonly command?: 'up' | 'tsdb' | 'engine' | undefined;
  /** An existing directory, for restarts; by default a new one. */
  readonly directory?: string | undefined;
  readonly args?: readonly string[] | undefined;
  readonly environment?: Readonly<Record<string, string>> | undefined;
  /** A program with arguments to run instead of the executable of the repository. */
  readonly program?: readonly string[] | undefined;
  /** Descriptors that the process may open (`ulimit -n`). */
  readonly openFilesMax?: number | undefined;
  /**
   * A program with arguments that becomes the service with `exec` (limits, name spaces, other
   * clocks).
   */
  readonly wrapper?: readonly string[] | undefined;
};

const BINDS: Readonly<Record<'up' | 'tsdb' | 'engine', readonly string[]>> = {
  up: ['--tsdb-bind', '127.0.0.1:0', '--engine-bind', '127.0.0.1:0', '--ui-bind', '127.0.0.1:0'],
  tsdb: ['--bind', '127.0.0.1:0'],
  engine: ['--bind', '127.0.0.1:0'],
};

// The warm-up takes seconds of processor time, and a password a tenth, which tests need themselves.
const TEST_ENVIRONMENT = {
  TIDEMARK_DATA_REHEARSAL_ENABLED: 'false',
  TIDEMARK_DATABASE_DATA_REHEARSAL_ENABLED: 'false',
  TIDEMARK_META_PASSWORD_COST: '4',
  TIDEMARK_DATABASE_META_PASSWORD_COST: '4',
};

/** A directory below the system's temporary one. The caller removes it with `removeDirectory`. */
export function makeDirectory(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'tidemark-e2e-'));
}

export function removeDirectory(directory: string): Promise<void> {
  return rm(directory, { recursive: true, force: true });
}

/** Starts Tidemark and waits for its `ready` line. */
export async function startTidemark(options: StartOptions = {}): Promise<Tidemark> {
  const command = options.command ?? 'up';
  const directory = options.directory ?? (await makeDirectory());
  const line = [...(options.program ?? [EXECUTABLE])];
  line.push(command, '--data-dir', directory);
  line.push(...BINDS[command], ...(options.args ?? []));
  const { openFilesMax, wrapper = [] } = options;
  const limited =
    openFilesMax === undefined
      ? line
      : ['sh', '-c', 'ulimit -n "$0" && exec "$@"', String(openFilesMax), ...line];
  const [program = '', ...args] = [...wrapper, ...limited];
  const child = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...TEST_ENVIRONMENT, ...options.environment },
  });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  const ready = await readReadyLine(child, () => errors);
  const exited = once(child, 'exit');
  const stopWith = async (signal: NodeJS.Signals): Promise<number | null> => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    await exited;
    return child.exitCode;
  };
  return {
    process: child,
    directory,
    tsdb: ready.get('tsdb') ?? '',
    engine: ready.get('engine') ?? '',
    ui: ready.get('ui') ?? '',
    errorOutput: () => errors,
    stop: () => stopWith('SIGTERM'),
    kill: async () => {
      await stopWith('SIGKILL');
    },
  };
}

function readReadyLine(
  child: ChildProcess,
  errors: () => string,
): Promise<ReadonlyMap<string, string>> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error(`no ready line within ${READY_TIMEOUT_MS} ms\n${errors()}`));
    }, READY_TIMEOUT_MS);
    if (child.stdout === null) throw new Error('standard output is not piped');
    const lines = createInterface({ input: child.stdout });
    lines.on('line', (line) => {
      if (!line.startsWith('ready ')) return;
      clearTimeout(timer);
      const pairs = line.slice('ready '.length).split(' ');
      resolve(new Map(pairs.map((pair) => pair.split(/=(.*)/s).slice(0, 2) as [string, string])));
    });
    child.once('exit', (code) => {
      clearTimeout(timer);
      reject(new Error(`exited with status ${code} before it was ready\n${errors()}`));
    });
  });
}

export type RunResult = {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
};

/** Runs a command to its end. */
export async function run(
  file: string,
  args: readonly string[],
  options: {
    readonly environment?: Readonly<Record<string, string>>;
    readonly input?: string;
    readonly directory?: string;
  } = {},
): Promise<RunResult> {
  const child = spawn(file, args, {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, ...options.environment },
    ...(options.directory === undefined ? {} : { cwd: options.directory }),
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  // A program that reads no input may end before it is written.
  child.stdin.on('error', () => undefined);
  child.stdin.end(options.input ?? '');
  const [status] = (await once(child, 'close')) as [number | null];
  return { status: status ?? -1, stdout, stderr };
}

/** Runs the executable to its end. */
export function runTidemark(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<RunResult> {
  return run(EXECUTABLE, args, { environment });
}
