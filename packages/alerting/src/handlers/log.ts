// log: appends each event as a line of JSON to a file.
import { open } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { Unavailable } from '@tidemark/core';
import { integer, text } from '@tidemark/settings';
import { printEventJson } from '../event.ts';
import type { HandlerKind } from '../handler.ts';

const USER_WRITABLE = 0o200;

export const log: HandlerKind = {
  kind: 'log',
  doc: 'Appends each event as one line of JSON to a file.',
  options: [
    { name: 'path', type: 'string', default: '', doc: 'Absolute path of the file.' },
    {
      name: 'mode',
      type: 'integer',
      default: 0o600,
      doc: 'Permissions of the file when it is created.',
    },
  ],
  validate: (options, context) => {
    const path = text(options, 'path');
    const mode = integer(options, 'mode');
    if (!isAbsolute(path)) return `log path must be absolute: ${path} is not absolute`;
    if ((mode & USER_WRITABLE) === 0) {
      return `invalid file mode ${mode.toString(8)}, must be user writable`;
    }
    return context.access.refuseFile(path);
  },
  send: async (event, options) => {
    const path = text(options, 'path');
    try {
      // Opened for each event: the file may be rotated away at any time.
      const file = await open(path, 'a', integer(options, 'mode'));
      try {
        await file.appendFile(`${printEventJson(event)}\n`);
      } finally {
        await file.close();
      }
    } catch (cause) {
      throw new Unavailable(`cannot append to log file. file=\`${path}\``, { cause });
    }
  },
};
