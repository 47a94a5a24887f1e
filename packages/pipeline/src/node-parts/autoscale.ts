// Options and rules common to the autoscale nodes of all providers.
import type { NodeEffects, ScalerProvider } from '../definition/effects.ts';
import type { NodeDiagnostic } from '../definition/node-diagnostic.ts';
import { durationOption, integerOption, lambdaOption, stringOption } from '../definition/option.ts';
import type { OptionsOf } from '../definition/option.ts';
import type { NodeSplit } from '../definition/split.ts';
import { checkLambdas } from '../lambda.ts';

/** Several groups may act on one resource. */
export const ALL_SCALED: NodeSplit = {
  kind: 'all',
  reason: 'decides for resources, which groups may share',
};

export const scalingOptions = {
  cluster: stringOption('cluster', 'configured cluster; the default one if not given'),
  currentField: stringOption('currentField', 'field that holds the current number'),
  min: integerOption('min', 'least number of replicas', 1n),
  /** 0: no limit. */
  max: integerOption('max', 'greatest number of replicas; 0 is no limit'),
  replicas: lambdaOption('replicas', 'the wanted number of replicas', 'int'),
  increaseCooldownNanos: durationOption('increaseCooldown', 'time between two increases'),
  decreaseCooldownNanos: durationOption('decreaseCooldown', 'time between two decreases'),
};

export type AutoscaleOptions = OptionsOf<typeof scalingOptions>;

const NO_REPLICAS: NodeDiagnostic = {
  text: 'must provide a replicas lambda expression',
  hint: 'say how many: .replicas(lambda: "field")',
};

/** Rules of all three: exactly one option names the resource, and a number of replicas is given. */
export function validateScaling(
  options: AutoscaleOptions,
  resource: { readonly name: string; readonly tag: string; readonly what: string },
): NodeDiagnostic | undefined {
  const { name, tag, what } = resource;
  const property = `${what.charAt(0).toLowerCase()}${what.slice(1)}`;
  if (name === '' && tag === '') {
    return {
      text: `must specify either ${what} or ${what}Tag`,
      hint: `name what is scaled: .${property}('name')`,
    };
  }
  if (name !== '' && tag !== '') {
    return {
      text: `must specify only one of ${what} or ${what}Tag`,
      properties: [`${property}Tag`],
      hint: `leave out .${property}() or .${property}Tag()`,
    };
  }
  if (options.min < 0n) {
    return { text: 'minimum must be >= 0', properties: ['min'], found: String(options.min) };
  }
  if (options.max !== 0n && options.max < options.min) {
    return {
      text: 'minimum must be less than maximum',
      properties: ['min', 'max'],
      found: `${options.min} and ${options.max}`,
    };
  }
  return options.replicas === undefined ? NO_REPLICAS : undefined;
}

export function checkReplicas({ replicas }: AutoscaleOptions): readonly NodeDiagnostic[] {
  return checkLambdas([['invalid replicas expression: ', replicas]]);
}

/** The external resources of a provider's node. */
export function scalerNeed(provider: ScalerProvider): (options: AutoscaleOptions) => NodeEffects {
  return ({ cluster }) => ({ needsScaler: { provider, cluster } });
}
