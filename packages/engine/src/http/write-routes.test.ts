import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { resolveEngineConfig } from '../config/config.ts';
import { startEngine } from '../start-engine.ts';

test.each([true, false])(
  'bodies of writes are logged when http.write-tracing is %s',
  async (on) => {
    const directory = mkdtempSync(join(tmpdir(), 'engine-tracing-'));
    const values = {
      data_dir: directory,
      stats: { enabled: false },
      task: { hosts: '0' },
      http: { 'bind-address': '127.0.0.1:0', 'write-tracing': on },
    };
    const { config } = resolveEngineConfig([{ source: 'test', values }]);
    const lines: string[] = [];
    const note = (fields: object, message: string): void =>
      void lines.push(JSON.stringify({ message, ...fields }));
    const log = { debug: note, info: note, warn: note, error: note };
    const engine = await startEngine(config, { log });

    await fetch(`${engine.url}/engine/v1/write?db=d&rp=r`, { method: 'POST', body: 'm v=12345' });
    await engine.close();
    rmSync(directory, { recursive: true });

    expect(lines.filter((line) => line.includes('m v=12345'))).toHaveLength(on ? 1 : 0);
  },
);
