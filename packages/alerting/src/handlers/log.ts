// log: appends each event as a line of JSON to a file.
import { logHandler } from '@tidemark/pipeline';
import { open } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { Unavailable } from '@tidemark/core';
import { printEventJson } from '../event.ts';
import { deliver } from '../handler.ts';

const USER_WRITABLE = 0o200;

export const log = deliver(logHandler, {
  validate: (options) => {
    const path = options.path;
    const mode = options.mode;
    if (!isAbsolute(path)) return `log path must be absolute: ${path} is not absolute`;
    if ((mode & USER_WRITABLE) === 0) {
      return `invalid file mode ${mode.toString(8)}, must be user writable`;
    }
    return undefined;
  },
  send: async (event, options) => {
    const path = options.path;
    try {
      // Opened for each event: the file may be rotated away at any time.
      const file = await open(path, 'a', options.mode);
      try {
        await file.appendFile(`${printEventJson(event)}\n`);
      } finally {
        await file.close();
      }
    } catch (cause) {
      throw new Unavailable(`cannot append to log file. file=\`${path}\``, { cause });
    }
  },
});
