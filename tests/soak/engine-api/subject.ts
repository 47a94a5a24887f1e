// The engine under test: in this process, which is fast, or as the executable, which can be killed.
import { startEngine, resolveEngineConfig } from '@tidemark/engine';
import type { EngineService } from '@tidemark/engine';
import {
  EVERYTHING_ALLOWED,
  makeDirectory,
  removeDirectory,
  startTidemark,
} from '@tidemark/testkit';
import type { Tidemark } from '@tidemark/testkit';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface Subject {
  readonly url: string;
  /** Whether a restart can be a kill. */
  readonly isKillable: boolean;
  /**
   * Ends it and starts it again on what it has stored. Only a stop in order saves the state of
   * tasks.
   */
  restart(how: 'stop' | 'kill'): Promise<void>;
  /** Resident bytes; 0 when it has no process of its own. */
  processId(): number | undefined;
  close(): Promise<void>;
}

export type StartSubject = (peer: string) => Promise<Subject>;

/** In this process, which nothing can kill. */
export const startInProcess: StartSubject = async (peer) => {
  const directory = await makeDirectory();
  const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  const { config, problems } = resolveEngineConfig([
    {
      source: 'soak',
      values: {
        data_dir: directory,
        stats: { enabled: false },
        task: { hosts: '0', 'snapshot-interval': '24h' },
        http: { 'bind-address': '127.0.0.1:0' },
        alert: EVERYTHING_ALLOWED,
        tsdb: [{ name: 'fake', urls: [peer], default: true, 'disable-subscriptions': true }],
      },
    },
  ]);
  if (problems.length > 0) throw new Error(JSON.stringify(problems));
  let engine: EngineService = await startEngine(config, { log: quiet });
  return {
    get url() {
      return engine.url;
    },
    isKillable: false,
    restart: async () => {
      await engine.close();
      engine = await startEngine(config, { log: quiet });
    },
    processId: () => undefined,
    close: async () => {
      await engine.close();
      await removeDirectory(directory);
    },
  };
};

/** The built executable. */
export const startExecutable: StartSubject = async (peer) => {
  const directory = await makeDirectory();
  const config = join(directory, 'engine.toml');
  const allowed = Object.entries(EVERYTHING_ALLOWED)
    .map(([key, globs]) => `${key} = ${JSON.stringify(globs)}`)
    .join('\n');
  await writeFile(
    config,
    `[alert]\n${allowed}\n[stats]\nenabled = false\n[task]\nhosts = "0"\nsnapshot-interval = "24h"\n[[tsdb]]\nname = "fake"\nurls = ["${peer}"]\ndefault = true\ndisable-subscriptions = true\n`,
  );
  const args = ['--config', config, '--log-level', 'error'];
  const start = (): Promise<Tidemark> => startTidemark({ command: 'engine', directory, args });
  let server = await start();
  return {
    get url() {
      return server.engine;
    },
    isKillable: true,
    restart: async (how) => {
      if (how === 'kill') await server.kill();
      else await server.stop();
      server = await start();
    },
    processId: () => server.process.pid,
    close: async () => {
      await server.stop();
      await removeDirectory(directory);
    },
  };
};
