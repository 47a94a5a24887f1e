// Public face of @tidemark/cli: the command line as a function. The executable is bin/tidemark.js.
export { main } from './main.ts';
