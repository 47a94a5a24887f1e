// Graceful stop: the first SIGTERM or SIGINT closes everything in reverse order of opening, a
// second one ends at once.
import type { Logger } from 'pino';

import { ExitStatus } from './exit.ts';

const STOP_DEADLINE_MS = 9_000;

type Closeable = {
  close(): Promise<void>;
  /** Called for SIGHUP. */
  reload?(): void | Promise<void>;
  /** The process has failed: what it has in memory may be wrong. `close` follows. */
  abandon?(): void;
};

/** Collects open resources; closes them once, in reverse order. */
export class Shutdown {
  readonly #log: Logger;
  readonly #opened: (readonly [name: string, part: Closeable])[] = [];
  #closing: Promise<boolean> | undefined;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Registers something that was just opened. */
  opened(name: string, part: Closeable): void {
    this.#opened.push([name, part]);
  }

  /** The process has failed; `closeAll` follows. */
  abandonAll(): void {
    for (const [, part] of this.#opened) part.abandon?.();
  }

  /** Reloads what may change while running: certificates, load directories, sideload files. */
  async reloadAll(): Promise<void> {
    for (const [name, part] of this.#opened) {
      try {
        await part.reload?.();
      } catch (error) {
        // The previous content stays in use; the log contains the error of the new one.
        this.#log.error({ err: error, part: name }, 'reloading failed');
      }
    }
  }

  /** Closes everything; returns whether all of it succeeded. Later calls wait for the first one. */
  closeAll(): Promise<boolean> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<boolean> {
    let isClean = true;
    for (const [name, part] of this.#opened.reverse()) {
      try {
        await part.close();
      } catch (error) {
        // The other parts must be closed all the same; the exit status tells.
        isClean = false;
        this.#log.error({ err: error, part: name }, 'stopping failed');
      }
    }
    return isClean;
  }
}

/**
 * Closes everything, and ends the process if that takes too long. Returns whether all of it
 * succeeded.
 */
export async function closeInTime(shutdown: Shutdown, log: Logger): Promise<boolean> {
  const deadline = setTimeout(() => {
    log.error(
      { deadlineMs: STOP_DEADLINE_MS },
      'could not stop in time; acknowledged data is on disk',
    );
    exitAtOnce();
  }, STOP_DEADLINE_MS);
  try {
    return await shutdown.closeAll();
  } finally {
    clearTimeout(deadline);
  }
}

/**
 * Ends the process, whatever its threads do. `process.exit` waits for Node's thread pool, which may
 * be blocked by a disk or a name server.
 */
export function exitAtOnce(): never {
  // The first process of a container cannot be killed from within, and ends as usual.
  process.on('exit', () => process.kill(process.pid, 'SIGKILL'));
  process.exit(ExitStatus.Failed);
}

/** Resolves with the exit status after a signal, when everything is closed. */
export function stopOnSignal(shutdown: Shutdown, log: Logger): Promise<number> {
  return new Promise((resolve) => {
    let isStopping = false;
    const onSignal = (signal: NodeJS.Signals): void => {
      if (isStopping) {
        log.warn({ signal }, 'second signal: stopping at once');
        exitAtOnce();
      }
      isStopping = true;
      log.info({ signal }, 'stopping');
      void closeInTime(shutdown, log).then((isClean) => {
        resolve(isClean ? ExitStatus.Ok : ExitStatus.Failed);
      });
    };
    process.on('SIGHUP', () => {
      log.info('reloading');
      // It logs its failures.
      void shutdown.reloadAll();
    });
    process.on('SIGTERM', onSignal);
    process.on('SIGINT', onSignal);
  });
}
