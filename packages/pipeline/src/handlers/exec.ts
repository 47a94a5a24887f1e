// exec: runs a program for each event; the event is its standard input.
import { list, program } from '@tidemark/settings/tables';
import { defineHandler } from '../definition/handler-definition.ts';

export const execHandler = defineHandler({
  kind: 'exec',
  doc: 'Runs a program for each event; the event is its standard input.',
  options: {
    prog: program('The program.'),
    args: list('Its arguments.'),
  },
  script: {
    name: 'exec',
    className: 'ExecHandler',
    arguments: [
      { option: 'prog', name: 'program' },
      { option: 'args', name: 'arguments' },
    ],
  },
});
