// `tidemark version`: the release, and the Node.js that runs it.
import { createRequire } from 'node:module';

import { TIDEMARK_VERSION } from '@tidemark/core';
import { Command } from 'commander';

type Launcher = { readonly pinnedNode: () => string | undefined };

/** The subcommand. */
export function versionCommand(): Command {
  return new Command('version')
    .description('Print the version, and the Node.js that runs it.')
    .option('--json', 'print one JSON object')
    .action(({ json }: { readonly json?: true }) => {
      const { node, v8 } = process.versions;
      const isPinned = pinnedNode() === process.execPath;
      const platform = `${process.platform}-${process.arch}`;
      const text = json
        ? JSON.stringify({ tidemark: TIDEMARK_VERSION, node, isPinned, v8, platform })
        : `tidemark ${TIDEMARK_VERSION}, Node.js ${node} (${isPinned ? 'pinned' : 'the system’s'}), V8 ${v8}, ${platform}`;
      process.stdout.write(`${text}\n`);
    });
}

/** Read like the launcher does (packages/cli/bin/runtime.cjs), before any module is loaded. */
function pinnedNode(): string | undefined {
  const launcher = createRequire(import.meta.url)('../../bin/runtime.cjs') as Launcher;
  return launcher.pinnedNode();
}
