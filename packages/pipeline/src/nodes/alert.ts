// alert: decides a level for each point or batch and publishes events.
import { parameter, variadic } from '../evaluate/parameter.ts';
import { defineNode } from '../definition/node-definition.ts';
import type { OptionsOfNode } from '../definition/node-definition.ts';
import {
  callOption,
  flagOption,
  handlersOption,
  integerOption,
  lambdaOption,
  stringOption,
} from '../definition/option.ts';
import type { TagSelection } from '../definition/split.ts';
import { checkLambdas } from '../lambda.ts';
import type { NodeDiagnostic } from '../definition/node-diagnostic.ts';

type AlertInhibit = { readonly category: string; readonly tags: readonly string[] };

/**
 * Publish only changes; with an interval also unchanged states after that time. 0: no repetition.
 */
type StateChanges = { readonly isOnly: boolean; readonly intervalNanos: bigint };

/** Shares of changes among the last levels below and above which a state is steady or flapping. */
type Flapping = { readonly low: number; readonly high: number };

const DEFAULT_HISTORY = 21n;

const FLAPPING: NodeDiagnostic = {
  text: 'alert flap thresholds are percentages and should be between 0 and 1',
  properties: ['flapping'],
  expected: ['0.0 to 1.0'],
  hint: 'write .flapping(0.25, 0.5) for 25 and 50 %',
};

export const alertNode = defineNode({
  type: 'alert',
  label: 'alert',
  className: 'AlertNode',
  category: 'output',
  summary: 'decides a level for each point or batch and publishes events',
  wants: 'any',
  provides: 'same',
  split: ({ id, inhibits, levelTag, idTag }) => ({
    kind: 'group',
    together: [
      {
        by: tagsOfId(id),
        reason: 'has events of several groups under one id',
        hint: "name the group in the id: .id('{{ .Group }}')",
        properties: ['id'],
      },
      ...inhibits.map(({ tags }) => ({
        by: { isAllBut: false, tags },
        reason: 'inhibits events of other groups',
        properties: ['inhibit'],
      })),
    ],
    setsTags: [levelTag, idTag].filter((tag) => tag !== ''),
  }),
  options: {
    info: lambdaOption('info', 'condition of the level INFO', 'boolean'),
    warn: lambdaOption('warn', 'condition of the level WARNING', 'boolean'),
    crit: lambdaOption('crit', 'condition of the level CRITICAL', 'boolean'),
    infoReset: lambdaOption('infoReset', 'the level INFO is left only if this is true', 'boolean'),
    warnReset: lambdaOption(
      'warnReset',
      'the level WARNING is left only if this is true',
      'boolean',
    ),
    critReset: lambdaOption(
      'critReset',
      'the level CRITICAL is left only if this is true',
      'boolean',
    ),
    id: stringOption('id', 'template of the id of events', '{{ .Name }}:{{ .Group }}'),
    message: stringOption('message', 'template of the message', '{{ .ID }} is {{ .Level }}'),
    details: stringOption('details', 'HTML template of the details', '{{ json . }}'),
    /** Empty: none. */
    topic: stringOption('topic', 'publishes to this topic too'),
    category: stringOption('category', 'category for inhibition'),
    inhibits: callOption<readonly AlertInhibit[]>([], {
      name: 'inhibit',
      summary: 'while not OK, suppresses alerts of a category with equal tags',
      parameters: [parameter('category', 'string'), variadic('tag', 'string')],
      apply: (before, values) => [
        ...before,
        { category: values.string(0), tags: values.strings(1) },
      ],
    }),
    isForAll: flagOption('all', 'a batch has the lowest level of its points'),
    isWithoutRecoveries: flagOption('noRecoveries', 'publishes no OK events'),
    stateChanges: callOption<StateChanges>(
      { isOnly: false, intervalNanos: 0n },
      {
        name: 'stateChangesOnly',
        summary: 'publishes only when the level changes, or when the interval has passed',
        parameters: [variadic('maxInterval', 'duration')],
        apply: (_, values) => ({
          isOnly: true,
          intervalNanos: values.values.length === 1 ? values.nanos(0) : 0n,
        }),
      },
    ),
    flapping: callOption<Flapping | undefined>(undefined, {
      name: 'flapping',
      summary: 'publishes nothing while the level changes too often; shares from 0.0 to 1.0',
      parameters: [parameter('low', 'float'), parameter('high', 'float')],
      apply: (_, values) => ({ low: values.float(0), high: values.float(1) }),
    }),
    history: integerOption('history', 'levels remembered for flapping', DEFAULT_HISTORY),
    levelTag: stringOption('levelTag', 'adds the level as a tag'),
    idTag: stringOption('idTag', 'adds the id as a tag'),
    levelField: stringOption('levelField', 'adds the level as a field'),
    messageField: stringOption('messageField', 'adds the message as a field'),
    idField: stringOption('idField', 'adds the id as a field'),
    durationField: stringOption('durationField', 'adds the duration as a field'),
    handlers: handlersOption(),
  },
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
  effects: ({ topic, handlers }) => ({ publishesTo: { topic }, handlers }),
});

export type AlertOptions = OptionsOfNode<typeof alertNode>;

/** The tags that ids from a template always contain. */
function tagsOfId(template: string): TagSelection {
  if (/\{\{-?\s*\.Group\b/.test(template)) return { isAllBut: true, tags: [] };
  const tags = template.matchAll(/\{\{-?\s*index\s+\.Tags\s+(?:"([^"\\]*)"|`([^`]*)`)\s*-?\}\}/g);
  return { isAllBut: false, tags: Array.from(tags, ([, quoted, raw]) => quoted ?? raw ?? '') };
}
