// Connections to user-defined functions: child processes over standard input and output, and unix
// sockets.
import { startProgram } from '@tidemark/process';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import type { UdfConnection, UdfConnector } from '../services.ts';

/** `[udf.functions.<name>]` of the configuration. */
export type UdfFunctionConfig = {
  readonly timeoutMs: number;
} & (
  | {
      readonly prog: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
    }
  | { readonly socket: string }
);

/** Time between asking it to end and killing it. */
const GRACE_MS = 10_000;

/** Connects to configured functions. `log` gets what processes write to standard error. */
export function udfConnector(
  functions: ReadonlyMap<string, UdfFunctionConfig>,
  log: (functionName: string, line: string) => void,
): UdfConnector {
  const find = (name: string): UdfFunctionConfig => {
    const found = functions.get(name);
    if (found === undefined) throw new Error(`no user-defined function ${JSON.stringify(name)}`);
    return found;
  };
  return {
    timeoutMs: (name) => find(name).timeoutMs,
    connect: async (name) => {
      const config = find(name);
      if ('socket' in config) return connectSocket(config.socket);
      return startProcess(config, (line) => log(name, line));
    },
  };
}

/** Buffers data until there is a listener. */
class Listeners {
  #onData: ((bytes: Uint8Array) => void) | undefined;
  #onEnd: ((reason: string | undefined) => void) | undefined;
  readonly #early: Uint8Array[] = [];
  #end: { readonly reason: string | undefined } | undefined;

  data(bytes: Uint8Array): void {
    if (this.#onData === undefined) this.#early.push(bytes);
    else this.#onData(bytes);
  }

  end(reason: string | undefined): void {
    if (this.#end !== undefined) return;
    this.#end = { reason };
    this.#onEnd?.(reason);
  }

  onData(listener: (bytes: Uint8Array) => void): void {
    this.#onData = listener;
    for (const bytes of this.#early.splice(0)) listener(bytes);
  }

  onEnd(listener: (reason: string | undefined) => void): void {
    this.#onEnd = listener;
    if (this.#end !== undefined) listener(this.#end.reason);
  }
}

function startProcess(
  config: Extract<UdfFunctionConfig, { prog: string }>,
  logLine: (line: string) => void,
): Promise<UdfConnection> {
  return new Promise((resolve, reject) => {
    const child = startProgram(config.prog, config.args, { environment: config.env });
    const listeners = new Listeners();
    let killTimer: NodeJS.Timeout | undefined;
    createInterface({ input: child.stderr }).on('line', logLine);
    child.stdout.on('data', (bytes: Uint8Array) => listeners.data(bytes));
    // A broken pipe is followed by the exit, which has the reason.
    child.stdin.on('error', () => undefined);
    child.on('error', (cause) => {
      reject(cause);
      listeners.end(cause.message);
    });
    child.on('close', (code, signal) => {
      clearTimeout(killTimer);
      listeners.end(code === 0 ? undefined : `exit ${signal ?? code}`);
    });
    child.on('spawn', () =>
      resolve({
        send: (bytes) => void child.stdin.write(bytes),
        onData: (listener) => listeners.onData(listener),
        onEnd: (listener) => listeners.onEnd(listener),
        end: () => {
          child.stdin.end();
          killTimer = setTimeout(() => child.kill('SIGKILL'), GRACE_MS);
        },
        kill: () => void child.kill('SIGKILL'),
      }),
    );
  });
}

function connectSocket(path: string): Promise<UdfConnection> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    const listeners = new Listeners();
    socket.on('data', (bytes: Uint8Array) => listeners.data(bytes));
    socket.on('error', (cause) => {
      reject(cause);
      listeners.end(cause.message);
    });
    socket.on('close', () => listeners.end(undefined));
    socket.on('connect', () =>
      resolve({
        send: (bytes) => void socket.write(bytes),
        onData: (listener) => listeners.onData(listener),
        onEnd: (listener) => listeners.onEnd(listener),
        end: () => void socket.end(),
        kill: () => void socket.destroy(),
      }),
    );
  });
}
