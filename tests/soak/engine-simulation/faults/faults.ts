// The faults of a run. Each fault ends after some leases, or never.

/** Instead of an instance: the one that leads then, and later whom that has hit. */
export const LEADER = -1;

export type Fault =
  | { readonly kind: 'kill' | 'kill with disk' | 'stop' | 'drain'; readonly instance: number }
  | { readonly kind: 'start' | 'pause' | 'go on'; readonly instance: number }
  | { readonly kind: 'cut' | 'isolate' | 'heal' | 'reset'; readonly instance: number }
  | { readonly kind: 'host ends'; readonly instance: number; readonly host: number }
  | {
      readonly kind: 'next start ends its host' | 'next save ends its host';
      readonly instance: number;
    }
  | { readonly kind: 'hosts end'; readonly instance: number }
  | { readonly kind: 'pause when looping' }
  | { readonly kind: 'hang' | 'answer' | 'damage' }
  | { readonly kind: 'join' | 'coordinator away' | 'coordinator back' }
  | { readonly kind: 'coordinator syncs' | 'coordinator goes back' | 'coordinator loses its disk' }
  | { readonly kind: 'slow'; readonly delayMs: number }
  | { readonly kind: 'lossy'; readonly share: number };

type Timed = { readonly atMs: number; readonly operation: Fault };

export type Dice = { readonly atMs: number; readonly below: (count: number) => number };

export type FaultMaker = (dice: Dice) => readonly Timed[];

const INSTANCES = 3;

/** Up to some leases. */
const LENGTH_MS = 3000;

/** Time in which several connections break. */
const RESETS_MS = 150;

const anInstance = (below: Dice['below']): number => (below(2) === 0 ? LEADER : below(INSTANCES));

const pair =
  (
    begin: 'cut' | 'isolate' | 'pause' | 'kill' | 'kill with disk' | 'stop',
    end: 'heal' | 'go on' | 'start',
  ) =>
  ({ atMs, below }: Dice): readonly Timed[] => {
    const instance = anInstance(below);
    return [
      { atMs, operation: { kind: begin, instance } },
      { atMs: atMs + below(LENGTH_MS), operation: { kind: end, instance } },
    ];
  };

/**
 * After one of these only an operator knows which copy is right: nobody may lead without saying.
 */
export const LOSSES: readonly FaultMaker[] = [
  ({ atMs, below }) => [
    { atMs, operation: { kind: 'coordinator syncs' } },
    { atMs: atMs + 200 + below(LENGTH_MS), operation: { kind: 'coordinator goes back' } },
  ],
  ({ atMs, below }) => {
    const instance = below(INSTANCES);
    return [
      { atMs, operation: { kind: 'coordinator loses its disk' } },
      { atMs: atMs + below(LENGTH_MS), operation: { kind: 'kill', instance } },
      { atMs: atMs + LENGTH_MS, operation: { kind: 'start', instance } },
    ];
  },
];

/** A first instance that is killed while it brings its definitions into the cluster. */
export function interruptedBegin({ below }: Dice): readonly Timed[] {
  const atMs = below(250);
  return [
    { atMs, operation: { kind: 'kill', instance: 0 } },
    { atMs: atMs + below(LENGTH_MS), operation: { kind: 'start', instance: 0 } },
  ];
}

export const FAULTS: readonly FaultMaker[] = [
  pair('cut', 'heal'),
  pair('isolate', 'heal'),
  pair('pause', 'go on'),
  pair('kill', 'start'),
  pair('kill with disk', 'start'),
  pair('stop', 'start'),
  ({ atMs, below }) => [{ atMs, operation: { kind: 'drain', instance: anInstance(below) } }],
  ({ atMs }) => [{ atMs, operation: { kind: 'join' } }],
  // Twice makes a task die that it works for.
  ({ atMs, below }) => {
    const crash = { kind: 'host ends', instance: below(INSTANCES), host: below(4) } as const;
    const again = { atMs: atMs + below(LENGTH_MS), operation: crash };
    return [{ atMs, operation: crash }, ...(below(2) === 0 ? [again] : [])];
  },
  // Hosts end while tasks start on them, as they do on all with a new leader.
  ({ atMs, below }) => [
    ...Array.from({ length: INSTANCES }, (_, instance) => {
      return { atMs, operation: { kind: 'next start ends its host', instance } } as const;
    }),
    ...(below(2) === 0 ? [{ atMs, operation: { kind: 'kill', instance: LEADER } } as const] : []),
    { atMs: atMs + below(LENGTH_MS), operation: { kind: 'start', instance: LEADER } },
  ],
  // Tasks of a leader die when it leads no more, perhaps without knowing.
  ({ atMs, below }) => {
    const isCut = below(2) === 0;
    const crash = { kind: 'host ends', instance: below(INSTANCES), host: below(4) } as const;
    return [
      { atMs, operation: { kind: isCut ? 'cut' : 'pause', instance: LEADER } },
      { atMs: atMs + below(LENGTH_MS / 2), operation: crash },
      { atMs: atMs + below(LENGTH_MS / 2), operation: crash },
      {
        atMs: atMs + below(LENGTH_MS / 2),
        operation: { kind: isCut ? 'heal' : 'go on', instance: LEADER },
      },
    ];
  },
  // Connections between instances break, and again while tasks start elsewhere.
  ({ atMs, below }) =>
    Array.from({ length: 2 + below(4) }, () => ({
      atMs: atMs + below(RESETS_MS),
      operation: { kind: 'reset', instance: below(INSTANCES) },
    })),
  ({ atMs }) => [{ atMs, operation: { kind: 'damage' } }],
  // Some never answer again.
  ({ atMs, below }) => [
    { atMs, operation: { kind: 'hang' } },
    ...(below(2) === 0
      ? [{ atMs: atMs + below(LENGTH_MS), operation: { kind: 'answer' } } as const]
      : []),
  ],
  ({ atMs, below }) => [
    { atMs, operation: { kind: 'coordinator away' } },
    { atMs: atMs + below(LENGTH_MS), operation: { kind: 'coordinator back' } },
  ],
  ({ atMs, below }) => [
    { atMs, operation: { kind: 'slow', delayMs: 20 + below(400) } },
    { atMs: atMs + below(LENGTH_MS), operation: { kind: 'slow', delayMs: 2 } },
  ],
  ({ atMs, below }) => [
    { atMs, operation: { kind: 'lossy', share: 0.1 + below(4) / 10 } },
    { atMs: atMs + below(LENGTH_MS), operation: { kind: 'lossy', share: 0 } },
  ],
];

/** Windows of a run close with the first points behind each of these. */
const WINDOW_MS = 1000;
/** Time in which they close. */
const CLOSING_MS = 150;

/** Faults that come at a moment at which they can do harm. */
export const AIMED: readonly FaultMaker[] = [
  // A leader is suspended with sums of windows on their way, which the next one sends as well.
  ({ atMs, below }) => {
    const pauseMs = Math.ceil(atMs / WINDOW_MS) * WINDOW_MS + below(CLOSING_MS);
    return [
      { atMs: pauseMs, operation: { kind: 'pause', instance: LEADER } },
      {
        atMs: pauseMs + WINDOW_MS + below(LENGTH_MS / 2),
        operation: { kind: 'go on', instance: LEADER },
      },
    ];
  },
  // A task whose state is older than those of others dies while its leader is suspended.
  ({ atMs, below }) => {
    const instance = below(INSTANCES);
    const pauseMs = atMs + below(2 * WINDOW_MS);
    const crash = (): Fault => ({ kind: 'host ends', instance, host: below(4) });
    return [
      { atMs, operation: crash() },
      { atMs: pauseMs, operation: { kind: 'pause', instance: LEADER } },
      { atMs: pauseMs + below(WINDOW_MS), operation: crash() },
      { atMs: pauseMs + below(WINDOW_MS), operation: crash() },
      {
        atMs: pauseMs + WINDOW_MS + below(LENGTH_MS / 2),
        operation: { kind: 'go on', instance: LEADER },
      },
    ];
  },
  // A leader is suspended when sums of windows are on their way to it, which the next one gets too.
  ({ atMs, below }) => [
    { atMs, operation: { kind: 'pause when looping' } },
    {
      atMs: atMs + 2 * WINDOW_MS + below(LENGTH_MS / 2),
      operation: { kind: 'go on', instance: LEADER },
    },
  ],
  // Tasks whose states were not saved with those of others die as their leader goes on, whose lease
  // has just ended.
  ({ atMs, below }) => {
    const instance = below(INSTANCES);
    const pauseMs = atMs + WINDOW_MS;
    const endMs = pauseMs + WINDOW_MS + below(CLOSING_MS);
    return [
      { atMs, operation: { kind: 'next save ends its host', instance } },
      { atMs: pauseMs, operation: { kind: 'pause', instance: LEADER } },
      { atMs: pauseMs, operation: { kind: 'hosts end', instance } },
      { atMs: endMs, operation: { kind: 'go on', instance: LEADER } },
    ];
  },
  // Hosts end when they are asked for the first states of tasks, and the leader before the next.
  ({ below }) => {
    const killMs = 400 + below(WINDOW_MS);
    return [
      ...Array.from({ length: INSTANCES }, (_, instance) => {
        return { atMs: 0, operation: { kind: 'next save ends its host', instance } } as const;
      }),
      { atMs: killMs, operation: { kind: 'kill', instance: LEADER } },
      { atMs: killMs + below(LENGTH_MS), operation: { kind: 'start', instance: LEADER } },
    ];
  },
];
