// Counters of the service, by module, as SHOW STATS, /debug/vars, /metrics and the monitor print
// them.
import type { Budget } from '@tidemark/core';

/** Counters of one module, with the names that operators of InfluxDB know. */
export type StatisticsModule = {
  readonly name: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly values: Readonly<Record<string, number>>;
};

export type StatisticsSource = () =>
  | readonly StatisticsModule[]
  | Promise<readonly StatisticsModule[]>;

/** All modules, in the order in which they were added. */
export class Statistics {
  readonly #sources: StatisticsSource[] = [];

  add(source: StatisticsSource): void {
    this.#sources.push(source);
  }

  async read(): Promise<readonly StatisticsModule[]> {
    const modules: StatisticsModule[] = [];
    for (const source of this.#sources) modules.push(...(await source()));
    return modules;
  }
}

/** Counters of the HTTP interface: module `httpd`. */
export function httpCounters() {
  return {
    req: 0,
    queryReq: 0,
    writeReq: 0,
    pingReq: 0,
    statusReq: 0,
    promWriteReq: 0,
    promReadReq: 0,
    writeReqBytes: 0,
    queryRespBytes: 0,
    pointsWrittenOK: 0,
    valuesWrittenOK: 0,
    pointsWrittenDropped: 0,
    pointsWrittenFail: 0,
    linesRejected: 0,
    authFail: 0,
    reqDurationNs: 0,
    queryReqDurationNs: 0,
    writeReqDurationNs: 0,
    reqActive: 0,
    writeReqActive: 0,
    clientError: 0,
    serverError: 0,
    recoveredPanics: 0,
  };
}
export type HttpCounters = ReturnType<typeof httpCounters>;

/** Counters of writes, for all protocols: module `write`. */
export function writeCounters() {
  return {
    req: 0,
    pointReq: 0,
    pointReqLocal: 0,
    writeOk: 0,
    writeDrop: 0,
    writeTimeout: 0,
    writeError: 0,
    subWriteOk: 0,
    subWriteDrop: 0,
  };
}
export type WriteCounters = ReturnType<typeof writeCounters>;

/** Counters of queries: module `queryExecutor`. */
export function queryCounters() {
  return {
    queriesActive: 0,
    queriesExecuted: 0,
    queriesFinished: 0,
    queryDurationNs: 0,
    recoveredPanics: 0,
  };
}
export type QueryCounters = ReturnType<typeof queryCounters>;

/** The use of a budget of memory, with a prefix for the names. */
export function budgetCounters(prefix: string, budget: Budget): Record<string, number> {
  return {
    [`${prefix}Bytes`]: budget.heldBytes,
    [`${prefix}LimitBytes`]: budget.limitBytes,
    [`${prefix}Waiting`]: budget.waitingCount,
    [`${prefix}Waited`]: budget.counters.waited,
    [`${prefix}Refused`]: budget.counters.refused,
    [`${prefix}CutOff`]: budget.counters.revoked,
  };
}

/** A module without tags. */
export function moduleOf(name: string, values: Readonly<Record<string, number>>): StatisticsModule {
  return { name, tags: {}, values: { ...values } };
}
