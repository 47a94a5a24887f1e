// alert: decides a level for each point or batch and publishes events.
import { parameter, variadic } from '../evaluate/parameter.ts';
import {
  callProperty,
  defineNode,
  flagProperty,
  integerProperty,
  lambdaProperty,
  stringProperty,
} from '../node-definition.ts';
import { checkLambdas } from '../lambda.ts';
import type { NodeProblem } from '../node-problem.ts';
import type { HandlerSpec, LambdaSpec } from '../pipeline.ts';

export type AlertInhibit = { readonly category: string; readonly tags: readonly string[] };

export type AlertOptions = {
  readonly info: LambdaSpec | undefined;
  readonly warn: LambdaSpec | undefined;
  readonly crit: LambdaSpec | undefined;
  readonly infoReset: LambdaSpec | undefined;
  readonly warnReset: LambdaSpec | undefined;
  readonly critReset: LambdaSpec | undefined;
  readonly id: string;
  readonly message: string;
  readonly details: string;
  /** Empty: none. */
  readonly topic: string;
  readonly category: string;
  readonly inhibits: readonly AlertInhibit[];
  readonly isForAll: boolean;
  readonly isWithoutRecoveries: boolean;
  readonly isStateChangesOnly: boolean;
  /** 0: no repetition. */
  readonly stateChangesIntervalNanos: bigint;
  readonly flapping: { readonly low: number; readonly high: number } | undefined;
  readonly history: bigint;
  readonly levelTag: string;
  readonly idTag: string;
  readonly levelField: string;
  readonly messageField: string;
  readonly idField: string;
  readonly durationField: string;
  readonly handlers: readonly HandlerSpec[];
};

const DEFAULT_HISTORY = 21n;

const FLAPPING: NodeProblem = {
  text: 'alert flap thresholds are percentages and should be between 0 and 1',
  properties: ['flapping'],
  expected: ['0.0 to 1.0'],
  hint: 'write .flapping(0.25, 0.5) for 25 and 50 %',
};

export const alertNode = defineNode<AlertOptions>({
  type: 'alert',
  label: 'alert',
  className: 'AlertNode',
  category: 'output',
  summary: 'decides a level for each point or batch and publishes events',
  wants: 'any',
  provides: 'same',
  parameters: [],
  create: () => ({
    info: undefined,
    warn: undefined,
    crit: undefined,
    infoReset: undefined,
    warnReset: undefined,
    critReset: undefined,
    id: '{{ .Name }}:{{ .Group }}',
    message: '{{ .ID }} is {{ .Level }}',
    details: '{{ json . }}',
    topic: '',
    category: '',
    inhibits: [],
    isForAll: false,
    isWithoutRecoveries: false,
    isStateChangesOnly: false,
    stateChangesIntervalNanos: 0n,
    flapping: undefined,
    history: DEFAULT_HISTORY,
    levelTag: '',
    idTag: '',
    levelField: '',
    messageField: '',
    idField: '',
    durationField: '',
    handlers: [],
  }),
  properties: [
    lambdaProperty('info', 'info', 'condition of the level INFO'),
    lambdaProperty('warn', 'warn', 'condition of the level WARNING'),
    lambdaProperty('crit', 'crit', 'condition of the level CRITICAL'),
    lambdaProperty('infoReset', 'infoReset', 'the level INFO is left only if this is true'),
    lambdaProperty('warnReset', 'warnReset', 'the level WARNING is left only if this is true'),
    lambdaProperty('critReset', 'critReset', 'the level CRITICAL is left only if this is true'),
    stringProperty('id', 'id', 'template of the id of events'),
    stringProperty('message', 'message', 'template of the message'),
    stringProperty('details', 'details', 'HTML template of the details'),
    stringProperty('topic', 'topic', 'publishes to this topic too'),
    stringProperty('category', 'category', 'category for inhibition'),
    callProperty(
      'inhibit',
      [parameter('category', 'string'), variadic('tag', 'string')],
      'while not OK, suppresses alerts of a category with equal tags',
      (options, values) => ({
        ...options,
        inhibits: [...options.inhibits, { category: values.string(0), tags: values.strings(1) }],
      }),
    ),
    flagProperty('all', 'isForAll', 'a batch has the lowest level of its points'),
    flagProperty('noRecoveries', 'isWithoutRecoveries', 'publishes no OK events'),
    callProperty(
      'stateChangesOnly',
      [variadic('maxInterval', 'duration')],
      'publishes only when the level changes, or when the interval has passed',
      (options, values) => ({
        ...options,
        isStateChangesOnly: true,
        stateChangesIntervalNanos: values.values.length === 1 ? values.nanos(0) : 0n,
      }),
    ),
    callProperty(
      'flapping',
      [parameter('low', 'float'), parameter('high', 'float')],
      'publishes nothing while the level changes too often; shares from 0.0 to 1.0',
      (options, values) => ({
        ...options,
        flapping: { low: values.float(0), high: values.float(1) },
      }),
    ),
    integerProperty('history', 'history', 'levels remembered for flapping'),
    stringProperty('levelTag', 'levelTag', 'adds the level as a tag'),
    stringProperty('idTag', 'idTag', 'adds the id as a tag'),
    stringProperty('levelField', 'levelField', 'adds the level as a field'),
    stringProperty('messageField', 'messageField', 'adds the message as a field'),
    stringProperty('idField', 'idField', 'adds the id as a field'),
    stringProperty('durationField', 'durationField', 'adds the duration as a field'),
  ],
  withHandlers: (options, handlers) => ({ ...options, handlers }),
  checkStart: (options) => {
    const { flapping, info, warn, crit, infoReset, warnReset, critReset } = options;
    const failed = 'Failed to compile stateful expression for ';
    const problems = checkLambdas([
      [`${failed}info: `, info],
      [`${failed}infoReset: `, infoReset],
      [`${failed}warn: `, warn],
      [`${failed}warnReset: `, warnReset],
      [`${failed}crit: `, crit],
      [`${failed}critReset: `, critReset],
    ]);
    const isTooHigh = flapping !== undefined && (flapping.low > 1 || flapping.high > 1);
    return isTooHigh ? [...problems, FLAPPING] : problems;
  },
});
