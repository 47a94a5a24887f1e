// Entry of the thread that renews an instance's membership and its lease as leader, so that the
// lease depends neither on the instance's own thread nor on its connection to the coordinator. An
// instance whose thread does not answer for some leases still loses the lease.
import { assert, InvalidRequest, messageOf, systemClock } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import { parentPort, workerData } from 'node:worker_threads';

import { NatsCoordinator } from './nats-coordinator.ts';
import { FIRST_LEVEL } from './leader-entry.ts';
import { leaseClockNs } from './member-protocol.ts';
import type {
  FromLeaseThread,
  LeaseThreadData,
  MemberCall,
  MemberView,
  ToLeaseThread,
} from './member-protocol.ts';
import { Membership } from './membership.ts';

/** The instance's own thread may be silent for this many leases. */
const SILENT_LEASES = 2;

assert(parentPort !== null, 'runs in a thread');
const port = parentPort;
const data = workerData as LeaseThreadData;
const { leaseMs, self } = data;
const until = new BigInt64Array(data.leaseUntil);
const clock: Clock = { ...systemClock(), monotonicMs: () => Number(leaseClockNs()) / 1e6 };
let { report } = data;
let reportedMs = clock.monotonicMs();

let membership: Membership | undefined;
let coordinator: NatsCoordinator | undefined;

port.on('message', (message: ToLeaseThread) => {
  reportedMs = clock.monotonicMs();
  if (message.kind === 'report') report = message.report;
  else if (message.kind === 'drain') membership?.drain();
  else void answer(message.id, message.call); // Never rejects.
});

async function start(): Promise<void> {
  coordinator = await NatsCoordinator.open(data.coordinator);
  membership = new Membership({
    coordinator,
    clock,
    leaseMs,
    self,
    report: () => (clock.monotonicMs() - reportedMs > SILENT_LEASES * leaseMs ? undefined : report),
    leased: (untilMs) => void Atomics.store(until, 0, BigInt(Math.floor(untilMs * 1e6))),
    events: {
      elected: (term) => post({ kind: 'elected', term, view: view() }),
      lost: (reason) => post({ kind: 'lost', reason, view: view() }),
      drained: () => post({ kind: 'drained', view: view() }),
      looked: () => post({ kind: 'looked', view: view() }),
      log: (level, message, fields) => post({ kind: 'log', level, message, fields, view: view() }),
    },
  });
  await membership.start();
}

async function answer(id: number, call: MemberCall): Promise<void> {
  try {
    await run(call);
    post({ kind: 'answer', id, view: view() });
  } catch (error) {
    const failure = { message: messageOf(error), isInvalid: error instanceof InvalidRequest };
    post({ kind: 'answer', id, failure, view: view() });
  }
}

async function run(call: MemberCall): Promise<void> {
  switch (call.name) {
    case 'start':
      return start();
    case 'close':
      try {
        return await membership?.close();
      } finally {
        await coordinator?.close();
      }
    case 'requestDrain':
      return membership?.requestDrain(call.member);
    case 'forget':
      return membership?.forget(call.member);
    default:
      return membership?.[call.name]();
  }
}

function view(): MemberView {
  const { members = [], leader, level = FIRST_LEVEL, problem } = membership ?? {};
  return { members, leader, level, problem };
}

function post(message: FromLeaseThread): void {
  port.postMessage(message);
}
