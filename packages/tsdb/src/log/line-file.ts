// A log file of lines: appended to, and reopened after a rotation.
import { createWriteStream } from 'node:fs';
import type { WriteStream } from 'node:fs';

import { PRIVATE_FILE } from '@tidemark/process';
import type { Logger } from 'pino';

export class LineFile {
  readonly #path: string;
  readonly #log: Logger;
  #stream: WriteStream;

  /** Appends to a file; a failure to write is reported once per opening, in the service log. */
  constructor(path: string, log: Logger) {
    this.#path = path;
    this.#log = log;
    this.#stream = this.#open();
  }

  #open(): WriteStream {
    // Names and addresses are private.
    const stream = createWriteStream(this.#path, { flags: 'a', mode: PRIVATE_FILE });
    stream.on('error', (error) => {
      this.#log.error({ err: error, path: this.#path }, 'a log file cannot be written');
    });
    return stream;
  }

  /** Adds a line; its newline is added here. */
  write(line: string): void {
    this.#stream.write(`${line}\n`);
  }

  /** Continues in a new file of the same name; earlier lines end in the old one. */
  reopen(): void {
    this.#stream.end();
    this.#stream = this.#open();
  }

  /** Resolves when everything is written. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#stream.destroyed) resolve();
      else this.#stream.end(() => resolve());
    });
  }
}
