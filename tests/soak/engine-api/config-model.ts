// The model of the configuration: the file's values of two sections, and overrides.
import { FAILURE } from './call.ts';
import type { Call, Expected } from './call.ts';
import type { ConfigValues, Step } from './steps.ts';

const SMTP_DEFAULTS: ConfigValues = {
  enabled: false,
  host: 'localhost',
  port: 25,
  username: '',
  password: '',
  'no-verify': false,
  global: false,
  from: '',
  to: [],
  'idle-timeout': '30s',
};

const CLUSTER_DEFAULTS: ConfigValues = {
  username: '',
  password: '',
  timeout: '0s',
  'subscription-protocol': 'http',
};

/** A cluster that the file names; it cannot be removed. */
const FILE_CLUSTER = 'fake';
const ADDRESS = /^(?:[^<>]*<)?[^\s@<>]+@[^\s@<>]+>?$/;

export class ConfigModel {
  #smtp: ConfigValues = {};
  #clusters: ReadonlyMap<string, ConfigValues> = new Map();
  readonly #clusterUrl: () => string;

  /** `clusterUrl` is the database of every cluster. */
  constructor(clusterUrl: () => string) {
    this.#clusterUrl = clusterUrl;
  }

  apply(step: Step): readonly Call[] | undefined {
    switch (step.kind) {
      case 'set-smtp':
        return [this.#setSmtp(step), this.#smtpCheck()];
      case 'set-cluster':
        return [this.#setCluster(step), this.#clusterCheck()];
      case 'change-clusters':
        return [this.#changeClusters(step), this.#clusterCheck()];
      default:
        return undefined;
    }
  }

  checks(): readonly Call[] {
    return [this.#smtpCheck(), this.#clusterCheck()];
  }

  #setSmtp({ set, delete: deleted }: Extract<Step, { kind: 'set-smtp' }>): Call {
    const body = { set, delete: deleted };
    const call = { method: 'POST', path: 'config/smtp/', body } as const;
    if ('nonsense' in set) return { ...call, status: 404, json: FAILURE };
    const next = { ...without(this.#smtp, deleted), ...set };
    const { host, port, from, to, enabled, ...rest } = { ...SMTP_DEFAULTS, ...next };
    const isValid =
      host !== '' &&
      Number(port) > 0 &&
      Number(port) <= 65_535 &&
      !String(rest['idle-timeout']).startsWith('-') &&
      (from === '' ? enabled === false : ADDRESS.test(String(from))) &&
      (to as readonly string[]).every((address) => ADDRESS.test(address));
    if (!isValid) return { ...call, status: 400, json: FAILURE };
    this.#smtp = next;
    return { ...call, status: 200 };
  }

  #setCluster({ element, set, delete: deleted }: Extract<Step, { kind: 'set-cluster' }>): Call {
    const body = { set, delete: deleted };
    const call = { method: 'POST', path: `config/tsdb/${element}`, body } as const;
    const before = this.#clusters.get(element);
    const isThere = before !== undefined || element === FILE_CLUSTER;
    if (!isThere) return { ...call, status: 404, json: FAILURE };
    // The key is looked at before the names of options are.
    if ('name' in set) return { ...call, status: 400, json: FAILURE };
    if ('nonsense' in set) return { ...call, status: 404, json: FAILURE };
    if ('subscription-protocol' in set) return { ...call, status: 400, json: FAILURE };
    const next = { ...without(before ?? {}, deleted), ...set };
    this.#clusters = new Map([...this.#clusters, [element, next]]);
    return { ...call, status: 200 };
  }

  #changeClusters({ add, remove }: Extract<Step, { kind: 'change-clusters' }>): Call {
    const added =
      add === undefined
        ? undefined
        : { ...add, urls: [this.#clusterUrl()], 'disable-subscriptions': true };
    const body = { ...(added === undefined ? {} : { add: added }), remove };
    const call = { method: 'POST', path: 'config/tsdb', body } as const;
    const next = new Map(this.#clusters);
    for (const name of remove) {
      if (name === FILE_CLUSTER) return { ...call, status: 400, json: FAILURE };
      if (!this.#clusters.has(name)) return { ...call, status: 404, json: FAILURE };
      next.delete(name);
    }
    if (add !== undefined) {
      const name = add['name'];
      if (typeof name !== 'string') return { ...call, status: 400, json: FAILURE };
      if (name === FILE_CLUSTER || next.has(name)) return { ...call, status: 400, json: FAILURE };
      if ('nonsense' in add) return { ...call, status: 404, json: FAILURE };
      if ('subscription-protocol' in add) return { ...call, status: 400, json: FAILURE };
      const { name: _, ...values } = add;
      next.set(name, values);
    }
    this.#clusters = next;
    return { ...call, status: 200 };
  }

  #smtpCheck(): Call {
    const json = element('smtp', '', { ...SMTP_DEFAULTS, ...this.#smtp });
    return { method: 'GET', path: 'config/smtp/', status: 200, json };
  }

  #clusterCheck(): Call {
    const added = [...this.#clusters.keys()].filter((name) => name !== FILE_CLUSTER).sort();
    const elements = [FILE_CLUSTER, ...added].map((name) =>
      element('tsdb', name, { ...CLUSTER_DEFAULTS, ...this.#clusters.get(name), name }),
    );
    const link = { rel: 'self', href: '@/config/tsdb' };
    return { method: 'GET', path: 'config/tsdb', status: 200, json: { link, elements } };
  }
}

function without(values: ConfigValues, names: readonly string[]): ConfigValues {
  return Object.fromEntries(Object.entries(values).filter(([name]) => !names.includes(name)));
}

function element(section: string, name: string, values: ConfigValues): Expected {
  const shown = Object.entries(values).map(([option, value]) => {
    if (option === 'password') return [option, value !== ''] as const;
    // No recipients are shown as null or as an empty list, whichever way there came to be none.
    const isEmpty = Array.isArray(value) && value.length === 0;
    return [option, isEmpty ? isEmptyList : (value as Expected)] as const;
  });
  return {
    link: { rel: 'self', href: `@/config/${section}/${name}` },
    options: Object.fromEntries(shown),
    redacted: section === 'smtp' ? ['password'] : ['password', 'token'],
  };
}

function isEmptyList(actual: unknown): boolean {
  return actual === null || (Array.isArray(actual) && actual.length === 0);
}
