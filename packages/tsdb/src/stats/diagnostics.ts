// SHOW DIAGNOSTICS: version, host and configuration, without secrets.
import { arch, platform } from 'node:os';

import { formatRfc3339 } from '@tidemark/core';
import { printConfigDuration } from '@tidemark/settings';
import type { Timestamp } from '@tidemark/core';

import type { TsdbConfig } from '../config/schema.ts';

/** A section of SHOW DIAGNOSTICS. */
export type DiagnosticModule = {
  readonly name: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | number | boolean | bigint)[])[];
};

export type DiagnosticsInput = {
  readonly config: TsdbConfig;
  readonly startedAt: Timestamp;
  readonly now: Timestamp;
  readonly hostname: string;
  readonly version: string;
};

/** Modules sorted by name. */
export function serviceDiagnostics(input: DiagnosticsInput): readonly DiagnosticModule[] {
  const uptimeMs = Number((input.now - input.startedAt) / 1_000_000n);
  const modules: DiagnosticModule[] = [
    row('build', { Version: input.version }),
    row('network', { hostname: input.hostname }),
    row('runtime', {
      Runtime: `node ${process.version}`,
      OS: platform(),
      Arch: arch(),
      MemoryRssBytes: process.memoryUsage().rss,
    }),
    row('system', {
      PID: process.pid,
      currentTime: formatRfc3339(input.now),
      started: formatRfc3339(input.startedAt),
      uptime: printConfigDuration(Math.round(uptimeMs / 1000) * 1000),
    }),
    ...configModules(input.config),
  ];
  return modules.sort((a, b) => (a.name < b.name ? -1 : 1));
}

function row(
  name: string,
  values: Readonly<Record<string, string | number | boolean>>,
): DiagnosticModule {
  return { name, columns: Object.keys(values), rows: [Object.values(values)] };
}

function configModules(config: TsdbConfig): DiagnosticModule[] {
  const modules: DiagnosticModule[] = [];
  const sections = Object.entries(config).filter(([, section]) => !Array.isArray(section));
  const secrets = new Set(['sharedSecret']);
  for (const [name, section] of sections) {
    const values: Record<string, string | number | boolean> = {};
    for (const [key, value] of Object.entries(section)) {
      if (secrets.has(key)) continue;
      if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
        values[key] = value;
      }
    }
    if (Object.keys(values).length > 0) {
      modules.push(row(name === '' ? 'config' : `config-${name}`, values));
    }
  }
  return modules;
}
