// Graceful stop: the first SIGTERM or SIGINT closes everything in reverse order of opening, a second one ends at once.
import type { Logger } from 'pino';

const STOP_DEADLINE_MS = 9_000;

type Closeable = { readonly name: string; close(): Promise<void> };

/** Collects what was opened; closes it once, in reverse order. */
export class Shutdown {
  readonly #log: Logger;
  readonly #opened: Closeable[] = [];
  #closing: Promise<boolean> | undefined;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Registers something that was just opened. */
  opened(name: string, close: () => Promise<void>): void {
    this.#opened.push({ name, close });
  }

  /** Closes everything; `true` when all of it went well. Later calls wait for the first one. */
  closeAll(): Promise<boolean> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<boolean> {
    let isClean = true;
    for (const part of this.#opened.reverse()) {
      try {
        await part.close();
      } catch (error) {
        // The other parts must be closed all the same; the exit status tells.
        isClean = false;
        this.#log.error({ err: error, part: part.name }, 'stopping failed');
      }
    }
    return isClean;
  }
}

/** Resolves with the exit status once a signal has come and everything is closed, or the deadline has passed. */
export function stopOnSignal(shutdown: Shutdown, log: Logger): Promise<number> {
  return new Promise((resolve) => {
    let isStopping = false;
    const onSignal = (signal: NodeJS.Signals): void => {
      if (isStopping) {
        log.warn({ signal }, 'second signal: stopping at once');
        process.exit(1);
      }
      isStopping = true;
      log.info({ signal }, 'stopping');
      const deadline = setTimeout(() => {
        log.error(
          { deadlineMs: STOP_DEADLINE_MS },
          'could not stop in time; acknowledged data is on disk',
        );
        resolve(1);
      }, STOP_DEADLINE_MS);
      void shutdown.closeAll().then((isClean) => {
        clearTimeout(deadline);
        resolve(isClean ? 0 : 1);
      });
    };
    process.on('SIGTERM', onSignal);
    process.on('SIGINT', onSignal);
  });
}
