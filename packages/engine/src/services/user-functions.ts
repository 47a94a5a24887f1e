// User-defined functions of the configuration: how to reach them, and the input and options that
// they declare.
import { LATE, within } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import type { UdfInfo, UdfRegistry } from '@tidemark/pipeline';
import { readUdfInfo } from '@tidemark/runtime';
import type { UdfConnector } from '@tidemark/runtime';
import { udfConnector } from '@tidemark/runtime/host';
import type { UdfFunctionConfig } from '@tidemark/runtime/host';
import type { EngineConfig } from '../config/config.ts';
import type { Logger } from '../observability/log-hub.ts';

const INFO_TIMEOUT_MS = 10_000;

export type UserFunctions = {
  /** Keyed by name, as configured: task hosts connect by themselves. */
  readonly functions: ReadonlyMap<string, UdfFunctionConfig>;
  readonly connector: UdfConnector;
  readonly registry: UdfRegistry;
};

/**
 * Starts every configured function once to get its declarations. One that does not answer is
 * reported and left out; tasks that use it cannot start until it does.
 */
export async function openUserFunctions(
  config: EngineConfig,
  clock: Clock,
  log: Logger,
): Promise<UserFunctions> {
  const functions = functionConfigs(config);
  const connector = udfConnector(functions, (name, line) => log('info', line, { udf: name }));
  const registry = new Map<string, UdfInfo>();
  for (const name of functions.keys()) {
    try {
      registry.set(name, await readInfo(connector, name, clock));
    } catch (error) {
      // The others are still asked.
      log('error', 'failed to load user-defined function', { udf: name, err: String(error) });
    }
  }
  return { functions, connector, registry };
}

/** How to reach them, by name. */
export function functionConfigs(config: EngineConfig): ReadonlyMap<string, UdfFunctionConfig> {
  return new Map(config.udfFunctions.map((each) => [each.name, functionConfig(each)]));
}

function functionConfig(section: EngineConfig['udfFunctions'][number]): UdfFunctionConfig {
  const { prog, args, env, socket, timeoutMs } = section;
  return socket === '' ? { prog, args, env, timeoutMs } : { socket, timeoutMs };
}

async function readInfo(connector: UdfConnector, name: string, clock: Clock): Promise<UdfInfo> {
  const connection = await connector.connect(name);
  const info = await within(clock, INFO_TIMEOUT_MS, readUdfInfo(connection));
  if (info !== LATE) return info;
  connection.kill();
  throw new Error(`no answer within ${INFO_TIMEOUT_MS} ms`);
}
