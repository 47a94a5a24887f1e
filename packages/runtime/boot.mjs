// Starts a thread from TypeScript sources or from the build: workers can not be started from a `.ts` file directly.
import { workerData } from 'node:worker_threads';

if (workerData.entry.endsWith('.ts')) {
  const { register } = await import('tsx/esm/api');
  register();
}
await import(workerData.entry);
