import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

test('nothing acknowledged is lost when the process is killed at random moments', () => {
  const script = fileURLToPath(new URL('./kill.mjs', import.meta.url));
  const root = fileURLToPath(new URL('../../../', import.meta.url));
  const output = execFileSync(process.execPath, ['--conditions=source', script, '5', '1'], {
    cwd: root,
    encoding: 'utf8',
  });

  expect(output).toContain('round 5/5');
}, 120_000);
