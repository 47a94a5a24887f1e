// Entry of the thread of a task host.
import { collectWhenIdle } from '@tidemark/process';
import { parentPort, workerData } from 'node:worker_threads';
import { assert, systemClock } from '@tidemark/core';
import type { HostData, ToHost } from './protocol.ts';
import { TaskHost } from './task-host.ts';

assert(parentPort !== null, 'runs in a thread');
const port = parentPort;
const { functions, server, status } = workerData as HostData;

const host = new TaskHost({
  functions,
  server,
  clock: systemClock(),
  status: new Int32Array(status),
  post: (message) => port.postMessage(message),
});
collectWhenIdle();
port.on('message', (message: ToHost) => host.handle(message));
