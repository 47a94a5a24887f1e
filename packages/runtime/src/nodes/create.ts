// Registry of running nodes: from a spec's type to the node that executes it.
import type {
  AlertOptions,
  BarrierOptions,
  ChangeDetectOptions,
  CombineOptions,
  DefaultOptions,
  DeleteOptions,
  DerivativeOptions,
  FlattenOptions,
  HttpPostOptions,
  JoinOptions,
  KapacitorLoopbackOptions,
  SampleOptions,
  ShiftOptions,
  SideloadOptions,
  StateCountOptions,
  StateDurationOptions,
  StatsOptions,
  UdfOptions,
  UnionOptions,
  K8sAutoscaleOptions,
  SwarmAutoscaleOptions,
  Ec2AutoscaleOptions,
  EvalOptions,
  FromOptions,
  GroupByOptions,
  HoltWintersOptions,
  HttpOutOptions,
  InfluxdbOutOptions,
  InfluxqlOptions,
  LogOptions,
  PercentileOptions,
  QueryOptions,
  TopOptions,
  ElapsedOptions,
  MovingAverageOptions,
  WhereOptions,
  WindowOptions,
} from '@tidemark/pipeline';
import { AGGREGATES, percentile, ranked } from '../influxql/aggregate.ts';
import { holtWinters } from '../influxql/holt-winters.ts';
import type { NodeContext, RunningNode } from '../node.ts';
import { StartError } from '../node.ts';
import { AlertNode } from './alert.ts';
import { EvalNode } from './eval.ts';
import { FromNode } from './from.ts';
import { GroupByNode } from './group-by.ts';
import { HttpOutNode } from './http-out.ts';
import { InfluxdbOutNode } from './influxdb-out.ts';
import { AggregateNode } from './influxql.ts';
import { LogNode } from './log.ts';
import { PassNode } from './pass.ts';
import { QueryNode } from './query.ts';
import { cumulativeSum, difference, elapsed, movingAverage, StreamingNode } from './streaming.ts';
import { createEc2Autoscale, createK8sAutoscale, createSwarmAutoscale } from './autoscale.ts';
import { BarrierNode } from './barrier.ts';
import { CombineNode } from './combine.ts';
import { DefaultNode, DeleteNode } from './defaults.ts';
import { FlattenNode } from './flatten.ts';
import { HttpPostNode } from './http-post.ts';
import { JoinNode } from './join.ts';
import { LoopbackNode } from './loopback.ts';
import { SideloadNode } from './sideload.ts';
import {
  createChangeDetect,
  createDerivative,
  createSample,
  createStateCount,
  createStateDuration,
  ShiftNode,
} from './simple.ts';
import { StatsNode } from './stats.ts';
import { TrickleNode } from './trickle.ts';
import { UdfNode } from './udf.ts';
import { UnionNode } from './union.ts';
import { WhereNode } from './where.ts';
import { createWindow } from './window.ts';

type Create = (ctx: NodeContext<never>) => RunningNode;

/** One row: the options type is the one which the pipeline's row of the same name produces. */
function row<O>(type: string, create: (ctx: NodeContext<O>) => RunningNode): [string, Create] {
  return [type, create as Create];
}

const aggregates = [...AGGREGATES].map(([type, aggregate]) =>
  row<InfluxqlOptions>(type, (ctx) => new AggregateNode(ctx, aggregate)),
);

function createRanked(ctx: NodeContext<TopOptions>, direction: 1 | -1): RunningNode {
  const { count, fieldsAndTags } = ctx.options;
  return new AggregateNode(ctx, ranked(Number(count), direction, fieldsAndTags));
}

function createHoltWinters(ctx: NodeContext<HoltWintersOptions>): RunningNode {
  const { forecastCount, season, intervalNanos, isIncludingFit } = ctx.options;
  const aggregate = holtWinters({
    predictions: Number(forecastCount),
    seasonLength: Number(season),
    // No interval at all would have no end.
    intervalNanos: intervalNanos > 0n ? intervalNanos : 1n,
    withFit: isIncludingFit,
  });
  return new AggregateNode(ctx, aggregate);
}

const NODES: ReadonlyMap<string, Create> = new Map([
  row('stream', (ctx) => new PassNode(ctx)),
  row('batch', (ctx) => new PassNode(ctx)),
  row('noOp', (ctx) => new PassNode(ctx)),
  row<FromOptions>('from', (ctx) => new FromNode(ctx)),
  row<QueryOptions>('query', (ctx) => new QueryNode(ctx)),
  row<WhereOptions>('where', (ctx) => new WhereNode(ctx)),
  row<EvalOptions>('eval', (ctx) => new EvalNode(ctx)),
  row<GroupByOptions>('groupBy', (ctx) => new GroupByNode(ctx)),
  row<WindowOptions>('window', createWindow),
  ...aggregates,
  row<PercentileOptions>(
    'percentile',
    (ctx) => new AggregateNode(ctx, percentile(ctx.options.percentile)),
  ),
  row<TopOptions>('top', (ctx) => createRanked(ctx, -1)),
  row<TopOptions>('bottom', (ctx) => createRanked(ctx, 1)),
  row<HoltWintersOptions>('holtWinters', createHoltWinters),
  row<HoltWintersOptions>('holtWintersWithFit', createHoltWinters),
  row<ElapsedOptions>('elapsed', (ctx) => new StreamingNode(ctx, elapsed(ctx.options))),
  row<InfluxqlOptions>('difference', (ctx) => new StreamingNode(ctx, difference)),
  row<InfluxqlOptions>('cumulativeSum', (ctx) => new StreamingNode(ctx, cumulativeSum)),
  row<MovingAverageOptions>(
    'movingAverage',
    (ctx) => new StreamingNode(ctx, movingAverage(ctx.options)),
  ),
  row<AlertOptions>('alert', (ctx) => new AlertNode(ctx)),
  row<HttpOutOptions>('httpOut', (ctx) => new HttpOutNode(ctx)),
  row<InfluxdbOutOptions>('influxDBOut', (ctx) => new InfluxdbOutNode(ctx)),
  row<LogOptions>('log', (ctx) => new LogNode(ctx)),
  row<HttpPostOptions>('httpPost', (ctx) => new HttpPostNode(ctx)),
  row<KapacitorLoopbackOptions>('kapacitorLoopback', (ctx) => new LoopbackNode(ctx)),
  row<DefaultOptions>('default', (ctx) => new DefaultNode(ctx)),
  row<DeleteOptions>('delete', (ctx) => new DeleteNode(ctx)),
  row<ShiftOptions>('shift', (ctx) => new ShiftNode(ctx)),
  row<SampleOptions>('sample', createSample),
  row<DerivativeOptions>('derivative', createDerivative),
  row<ChangeDetectOptions>('changeDetect', createChangeDetect),
  row<StateDurationOptions>('stateDuration', createStateDuration),
  row<StateCountOptions>('stateCount', createStateCount),
  row('trickle', (ctx) => new TrickleNode(ctx)),
  row<FlattenOptions>('flatten', (ctx) => new FlattenNode(ctx)),
  row<CombineOptions>('combine', (ctx) => new CombineNode(ctx)),
  row<JoinOptions>('join', (ctx) => new JoinNode(ctx)),
  row<UnionOptions>('union', (ctx) => new UnionNode(ctx)),
  row<BarrierOptions>('barrier', (ctx) => new BarrierNode(ctx)),
  row<StatsOptions>('stats', (ctx) => new StatsNode(ctx)),
  row<UdfOptions>('udf', (ctx) => new UdfNode(ctx)),
  row<K8sAutoscaleOptions>('k8sAutoscale', createK8sAutoscale),
  row<SwarmAutoscaleOptions>('swarmAutoscale', createSwarmAutoscale),
  row<Ec2AutoscaleOptions>('ec2Autoscale', createEc2Autoscale),
  row<SideloadOptions>('sideload', (ctx) => new SideloadNode(ctx)),
]);

/** Makes the node of a spec. Throws `StartError` when its options cannot be executed. */
export function createNode(ctx: NodeContext): RunningNode {
  const create = NODES.get(ctx.spec.type);
  if (create === undefined) throw new StartError(`node type ${ctx.spec.type} cannot be executed`);
  return create(ctx as NodeContext<never>);
}

/** Types that can be executed. */
export const EXECUTABLE_NODE_TYPES: ReadonlySet<string> = new Set(NODES.keys());
