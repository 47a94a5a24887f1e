// The file in which a local cluster says what it is made of and which processes run it.
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { messageOf, NotFound, Unavailable } from '@tidemark/core';

export type LocalClusterFileOptions = {
  /** Of the file, below the directory of a cluster. */
  readonly name: string;
  /** What it describes: "cluster of engines". */
  readonly what: string;
  /** The verb of `tidemark` whose `up` makes one. */
  readonly verb: string;
};

/** `Content` is what is in it, as JSON. */
export class LocalClusterFile<Content> {
  readonly #options: LocalClusterFileOptions;

  constructor(options: LocalClusterFileOptions) {
    this.#options = options;
  }

  /** `undefined` when there is no cluster in the directory. */
  read(directory: string): Content | undefined {
    const path = join(directory, this.#options.name);
    try {
      return JSON.parse(readFileSync(path, 'utf8')) as Content;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw new Unavailable(`${path} can not be read: ${messageOf(error)}`, { cause: error });
    }
  }

  /** The content of a file that must be there. */
  require(directory: string): Content {
    const content = this.read(directory);
    const { what, verb } = this.#options;
    if (content === undefined)
      throw new NotFound(
        `there is no ${what} in ${directory}: make one with \`tidemark ${verb} up --dir ${directory}\``,
      );
    return content;
  }

  /** Replaces the file in one step. */
  write(directory: string, content: Content): void {
    const path = join(directory, this.#options.name);
    writeFileSync(`${path}.new`, `${JSON.stringify(content, undefined, 2)}\n`);
    renameSync(`${path}.new`, path);
  }
}
