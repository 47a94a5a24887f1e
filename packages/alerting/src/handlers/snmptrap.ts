// snmptrap: SNMP v2c traps.
import { snmptrapHandler } from '@tidemark/pipeline';
import { InvalidRequest, messageOf, Unavailable } from '@tidemark/core';
import {
  defineSection,
  enabled,
  integer,
  json,
  parseAddress,
  requireWhenEnabled,
  secret,
  str,
} from '@tidemark/settings';
import type { JsonValue } from '@tidemark/settings';
import type { HandlerContext } from '../handler.ts';
import { defineTest, deliver, templateScope } from '../handler.ts';
import { enabledSection } from './service.ts';

const section = defineSection({
  name: 'snmptrap',
  doc: 'Receiver of SNMP traps.',
  options: {
    ...enabled(),
    addr: str('Receiver, host:port.', 'localhost:162'),
    community: secret('Community.', 'kapacitor'),
    retries: integer('How often a trap is repeated by the client.', 1),
  },
  validate: (options) => {
    const missing = requireWhenEnabled(options, {
      addr: 'must specify addr',
      community: 'must specify community',
    });
    if (missing !== undefined) return missing;
    return parseAddress(options.addr) === undefined
      ? `invalid address ${JSON.stringify(options.addr)}`
      : undefined;
  },
});

type Entry = { readonly oid: string; readonly type: string; readonly value: string };

const TYPES = ['c', 'i', 'n', 's', 't'];
const DATA_DEFAULT = [{ oid: '1.1.1.1.2', type: 's', value: 'test snmptrap message' }];

export const snmptrap = deliver(snmptrapHandler, {
  section,
  validate: (options) => {
    if (options['trap-oid'] === '') return 'you must supply a trap Oid';
    return entriesOf(options)
      .map(({ oid, type }) =>
        TYPES.includes(type)
          ? undefined
          : `unsupported data type ${JSON.stringify(type)} for data entry ${JSON.stringify(oid)}`,
      )
      .find((problem) => problem !== undefined);
  },
  send: (event, options, context) => {
    const scope = templateScope(event);
    const data = entriesOf(options).map((entry) => ({
      ...entry,
      value: context.render(entry.value, scope),
    }));
    return trap(context, options['trap-oid'], data);
  },
  tests: [
    defineTest({
      name: 'snmptrap',
      options: {
        'trap-oid': str('Object id of the trap.', '1.1.1.1'),
        'data-list': json('Values `{oid, type, value}`.', DATA_DEFAULT),
      },
      run: (options, context) => trap(context, options['trap-oid'], entriesOf(options)),
    }),
  ],
});

function entriesOf(options: { readonly 'data-list': JsonValue }): readonly Entry[] {
  const value = options['data-list'];
  if (!Array.isArray(value)) return [];
  return value.map((entry: unknown) => {
    const { oid, type, value: data } = { ...(entry as Partial<Entry>) };
    return { oid: String(oid ?? ''), type: String(type ?? ''), value: String(data ?? '') };
  });
}

/** The uptime of the sender in traps, in hundredths of a second; receivers do not use it. */
const UPTIME_TICKS = 1000;

async function trap(context: HandlerContext, oid: string, data: readonly Entry[]): Promise<void> {
  const config = enabledSection(context, section);
  const address = parseAddress(config.addr);
  if (address === undefined) throw new InvalidRequest('invalid address of the receiver of traps');
  // Loaded on first use: most installations send no traps.
  // @ts-expect-error the package has no types; what is used of it is described by Snmp
  const { default: snmp } = (await import('net-snmp')) as { readonly default: Snmp };
  const session = snmp.createSession(address.host, config.community, {
    version: snmp.Version2c,
    trapPort: address.port,
    retries: config.retries,
  });
  try {
    const varbinds = data.map((entry) => varbind(entry, snmp.ObjectType));
    await new Promise<void>((resolve, reject) => {
      session.on('error', (cause: Error) => reject(cause));
      session.trap(normalOid(oid), varbinds, { upTime: UPTIME_TICKS }, (cause: Error | null) => {
        if (cause === null || cause === undefined) resolve();
        else reject(cause);
      });
    });
  } catch (cause) {
    if (cause instanceof InvalidRequest) throw cause;
    throw new Unavailable(`snmptrap: ${messageOf(cause)}`, {
      cause,
    });
  } finally {
    session.close();
  }
}

function normalOid(oid: string): string {
  return oid.replace(/^\./, '');
}

type Session = {
  on(event: 'error', listener: (error: Error) => void): void;
  trap(
    oid: string,
    varbinds: readonly Varbind[],
    options: { readonly upTime: number },
    callback: (error: Error | null) => void,
  ): void;
  close(): void;
};
type Snmp = {
  readonly Version2c: number;
  readonly ObjectType: ObjectTypes;
  createSession(host: string, community: string, options: object): Session;
};
type ObjectTypes = {
  readonly Counter64: number;
  readonly Integer: number;
  readonly Null: number;
  readonly OctetString: number;
  readonly TimeTicks: number;
};
type Varbind = {
  readonly oid: string;
  readonly type: number;
  readonly value: string | number | Buffer | null;
};

function varbind(entry: Entry, types: ObjectTypes): Varbind {
  const oid = normalOid(entry.oid);
  switch (entry.type) {
    case 'c': {
      const bytes = Buffer.alloc(8);
      bytes.writeBigUInt64BE(BigInt.asUintN(64, integerOf(entry)));
      return { oid, type: types.Counter64, value: bytes };
    }
    case 'i':
      return { oid, type: types.Integer, value: Number(BigInt.asIntN(32, integerOf(entry))) };
    case 'n':
      return { oid, type: types.Null, value: null };
    case 't':
      return { oid, type: types.TimeTicks, value: Number(BigInt.asUintN(32, integerOf(entry))) };
    case 's':
      return { oid, type: types.OctetString, value: entry.value };
    default:
      throw new InvalidRequest(
        `unsupported data type ${JSON.stringify(entry.type)} for data entry ${JSON.stringify(entry.oid)}`,
      );
  }
}

function integerOf(entry: Entry): bigint {
  if (/^\s*-?\d{1,20}\s*$/.test(entry.value)) return BigInt(entry.value.trim());
  throw new InvalidRequest(
    `value of ${entry.oid} is not an integer: ${JSON.stringify(entry.value)}`,
  );
}
