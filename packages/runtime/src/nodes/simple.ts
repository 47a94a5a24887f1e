// Small point-by-point nodes: sample, shift, derivative, changeDetect, stateDuration, stateCount.
import type {
  ChangeDetectOptions,
  DerivativeOptions,
  SampleOptions,
  ShiftOptions,
  StateCountOptions,
  StateDurationOptions,
} from '@tidemark/pipeline';
import type { Barrier, Batch, Point } from '../data/point.ts';
import { Batch as BatchMessage } from '../data/point.ts';
import type { Value, ValueType } from '../data/schema.ts';
import { EvaluationError } from '../lambda/errors.ts';
import type { FunctionState } from '../lambda/function.ts';
import type { Lambda } from '../lambda/lambda.ts';
import type { Frame } from '../lambda/typed.ts';
import type { NodeContext, RunningNode } from '../node.ts';
import { StartError } from '../node.ts';
import { truncateTime } from '../time-math.ts';
import { FieldAdder } from './augment.ts';
import { compileFor } from './compile.ts';
import { CountStates } from './count-states.ts';
import type { Counted } from './count-states.ts';
import { MapNode } from './map-node.ts';
import { requiredLambda } from './required-lambda.ts';

/** Every n-th point of a group (or batch), or the points at exact multiples of a duration. */
export function createSample(ctx: NodeContext<SampleOptions>): RunningNode {
  const { count, everyNanos } = ctx.options;
  if (count === 0n && everyNanos === 0n) {
    throw new StartError('invalid sample rate: must be positive integer or duration');
  }
  if (everyNanos !== 0n) {
    return new MapNode(ctx as NodeContext<never>, {
      isGrouped: true,
      init: () => undefined,
      next: (_, point) => (point.time === truncateTime(point.time, everyNanos) ? point : undefined),
    });
  }
  const every = Number(count);
  return new MapNode(ctx as NodeContext<never>, {
    isGrouped: true,
    init: () => ({ index: 0 }),
    next: (state, point) => (state.index++ % every === 0 ? point : undefined),
    encode: ({ index }) => index,
    decode: (code) => ({ index: code as number }),
  });
}

/** Moves points, batches and their barriers in time. */
export class ShiftNode implements RunningNode {
  readonly #ctx: NodeContext<ShiftOptions>;
  readonly #shift: bigint;

  constructor(ctx: NodeContext<ShiftOptions>) {
    this.#ctx = ctx;
    this.#shift = ctx.options.shiftNanos;
    if (this.#shift === 0n) throw new StartError('invalid shift value: must be non zero duration');
  }

  get groupCount(): number {
    return 0;
  }

  point(point: Point): void {
    this.#ctx.out.point(point.withTime(point.time + this.#shift));
  }

  batch(batch: Batch): void {
    const points = batch.points.map((point) => point.withTime(point.time + this.#shift));
    this.#ctx.out.batch(
      new BatchMessage(batch.series, batch.group, batch.time + this.#shift, points),
    );
  }

  barrier(barrier: Barrier): void {
    this.#ctx.out.barrier({ group: barrier.group, time: barrier.time + this.#shift });
  }

  deleteGroup(group: Point['group']): void {
    this.#ctx.out.deleteGroup(group);
  }
}

/** Rate of change per unit, as a float. */
export function createDerivative(ctx: NodeContext<DerivativeOptions>): RunningNode {
  const { field, as, unitNanos, isNonNegative } = ctx.options;
  const unit = Number(unitNanos);
  const adder = new FieldAdder(as, 'float');
  type State = { time: bigint | undefined; value: number };
  return new MapNode<State>(ctx as NodeContext<never>, {
    isGrouped: true,
    init: () => ({ time: undefined, value: 0 }),
    next: (state, point) => {
      const raw = point.fieldValue(field);
      if (typeof raw !== 'number' && typeof raw !== 'bigint') {
        ctx.fail('cannot perform derivative', 'field is the wrong type');
        return undefined;
      }
      const current = Number(raw);
      const { time, value } = state;
      state.time = point.time;
      state.value = current;
      if (time === undefined) return undefined;
      const elapsed = Number(point.time - time);
      if (elapsed === 0) {
        ctx.fail('cannot perform derivative', 'elaspsed time was 0');
        return undefined;
      }
      const change = current - value;
      if (isNonNegative && change < 0) return undefined;
      return adder.add(point, change / (elapsed / unit));
    },
    encode: (state) => state,
    decode: (code) => ({ ...(code as State) }),
  });
}

/** Points that differ in a listed field from the last emitted one. */
export function createChangeDetect(ctx: NodeContext<ChangeDetectOptions>): RunningNode {
  const { fields } = ctx.options;
  type Seen = { readonly type: ValueType; readonly value: Value };
  type State = { last: (Seen | undefined)[] | undefined };
  const read = (point: Point): (Seen | undefined)[] =>
    fields.map((name) => {
      const found = point.schema.field(name);
      return found === undefined ? undefined : { type: found.type, value: found.read(point) };
    });
  return new MapNode<State>(ctx as NodeContext<never>, {
    isGrouped: true,
    init: () => ({ last: undefined }),
    next: (state, point) => {
      const current = read(point);
      let isChanged = false;
      for (const [i, name] of fields.entries()) {
        const [before, now] = [state.last?.[i], current[i]];
        if (now === undefined) {
          ctx.fail('Invalid field in change detect', `expected field ${name} not found`);
          continue;
        }
        if (now.type !== before?.type || now.value !== before.value) isChanged = true;
      }
      if (!isChanged) return undefined;
      state.last = current;
      return point;
    },
    encode: (state) => state.last,
    decode: (code) => ({ last: code as State['last'] }),
  });
}

type Tracked = { readonly frame: Frame };

/** Lambdas without state of their own share one frame: 50,000 groups need not have 50,000. */
function frameOf(ctx: NodeContext<unknown>, lambda: Lambda, shared: Frame): Frame {
  return lambda.isStateful ? lambda.frame(ctx.task.callContext) : shared;
}

/** The predicate's answer; an error is counted and drops the point. */
function ask(
  ctx: NodeContext<unknown>,
  lambda: Lambda,
  state: Tracked,
  point: Point,
): boolean | undefined {
  try {
    return lambda.test(point, state.frame);
  } catch (cause) {
    if (!(cause instanceof EvaluationError)) throw cause;
    ctx.fail('error while evaluating expression', cause.message);
    return undefined;
  }
}

/** Time since the expression became true, in units; -1 while it is false. */
export function createStateDuration(ctx: NodeContext<StateDurationOptions>): RunningNode {
  const { as, unitNanos } = ctx.options;
  const lambda = compileFor(
    requiredLambda(ctx.options.expression),
    'Failed to compile expression in stateDuration',
  );
  const unit = Number(unitNanos);
  const adder = new FieldAdder(as, 'float');
  const shared = lambda.frame(ctx.task.callContext);
  type State = Tracked & { since: bigint | undefined };
  return new MapNode<State>(ctx as NodeContext<never>, {
    isGrouped: true,
    init: () => ({ frame: frameOf(ctx, lambda, shared), since: undefined }),
    next: (state, point) => {
      const isTrue = ask(ctx, lambda, state, point);
      if (isTrue === undefined) return undefined;
      let value = -1;
      if (isTrue) {
        state.since ??= point.time;
        value = Number(point.time - state.since) / unit;
      } else {
        state.since = undefined;
      }
      return adder.add(point, value);
    },
    encode: ({ since, frame }) => ({ since, states: frame.states }),
    decode: (code) => {
      const { since, states } = code as { since: bigint | undefined; states: FunctionState[] };
      return { since, frame: lambda.restoreFrame(states, ctx.task.callContext) };
    },
  });
}

/** Number of consecutive points for which the expression is true; -1 when it is false. */
export function createStateCount(ctx: NodeContext<StateCountOptions>): RunningNode {
  const { as } = ctx.options;
  const lambda = compileFor(
    requiredLambda(ctx.options.expression),
    'Failed to compile expression in stateCount',
  );
  const adder = new FieldAdder(as, 'int');
  const shared = lambda.frame(ctx.task.callContext);
  return new MapNode<Counted>(ctx as NodeContext<never>, {
    isGrouped: true,
    init: () => ({ frame: frameOf(ctx, lambda, shared), count: 0 }),
    states: lambda.isStateful ? undefined : new CountStates(ctx.task, shared),
    next: (state, point) => {
      const isTrue = ask(ctx, lambda, state, point);
      if (isTrue === undefined) return undefined;
      state.count = isTrue ? state.count + 1 : 0;
      const value = isTrue ? integerOf(state.count) : -1n;
      return adder.add(point, value);
    },
    encode: ({ count, frame }) => ({ count, states: frame.states }),
    decode: (code) => {
      const { count, states } = code as { count: number; states: FunctionState[] };
      return { count, frame: lambda.restoreFrame(states, ctx.task.callContext) };
    },
  });
}

/** Counts begin at one for every group: small ones are made once and not for each point. */
const SMALL_INTEGERS = Array.from({ length: 1024 }, (_, i) => BigInt(i));

function integerOf(count: number): bigint {
  return SMALL_INTEGERS[count] ?? BigInt(count);
}
