// Public interface of @tidemark/cli: the command line as a function, and as a tree. The executable
// is bin/tidemark.js.
export { commandsOf } from './commands/examples.ts';
export { main } from './main.ts';
export { wholeProgram } from './program.ts';
