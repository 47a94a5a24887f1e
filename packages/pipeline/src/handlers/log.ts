// log: appends each event as one line of JSON to a file.
import { integer, ownFile } from '@tidemark/settings/tables';
import { defineHandler } from '../definition/handler-definition.ts';

const OWNER_WRITE = 0o200;

export const logHandler = defineHandler({
  kind: 'log',
  doc: 'Appends each event as one line of JSON to a file.',
  options: {
    path: ownFile('Absolute path of the file.'),
    mode: integer('Permissions of the file when it is created.', 0o600),
  },
  script: {
    name: 'log',
    className: 'LogHandler',
    arguments: [{ option: 'path', name: 'path' }],
    properties: { mode: 'mode' },
    checkStart: ({ path = '', mode }) => {
      const failed = 'failed to create log alert handler: ';
      if (!path.startsWith('/')) {
        return {
          text: `${failed}log path must be absolute: ${path} is not absolute`,
          found: path,
          expected: ['an absolute path'],
          hint: "write the whole path: .log('/var/log/alerts.log')",
        };
      }
      if (mode !== undefined && (mode & OWNER_WRITE) === 0) {
        return {
          text: `${failed}invalid file mode ${formatMode(mode)}, must be user writable`,
          properties: ['mode'],
          found: formatMode(mode),
          hint: 'write the permissions with a leading zero: .mode(0600)',
        };
      }
      return undefined;
    },
  },
});

/** `-rw-r--r--`, as recorded texts print permissions. */
function formatMode(mode: number): string {
  const bits = 'rwxrwxrwx';
  const letters = [...bits].map((letter, index) => ((mode >> (8 - index)) & 1 ? letter : '-'));
  return `-${letters.join('')}`;
}
