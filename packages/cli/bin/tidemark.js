#!/usr/bin/env node
// The executable. Committed JavaScript, because npm does not link a bin that a build creates.
import { existsSync } from 'node:fs';

const entry = new URL('../dist/main.js', import.meta.url);
if (!existsSync(entry)) {
  process.stderr.write(
    'tidemark is not built yet. Run `npm ci` (or `npm run build`) in its folder first.\n',
  );
  process.exit(1);
}
const { main } = await import(entry.href);
await main(process.argv.slice(2));
// Whatever is still open (an idle keep-alive connection, a timer) must not hold a finished command back.
process.exit();
