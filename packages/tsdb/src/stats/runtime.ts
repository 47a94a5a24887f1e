// Module `runtime`: memory and event loop of the process.
import { monitorEventLoopDelay } from 'node:perf_hooks';

import type { StatisticsModule } from './statistics.ts';

const eventLoop = monitorEventLoopDelay({ resolution: 20 });
eventLoop.enable();

export function runtimeModule(): StatisticsModule {
  const memory = process.memoryUsage();
  const cpu = process.cpuUsage();
  return {
    name: 'runtime',
    tags: {},
    values: {
      Alloc: memory.heapUsed,
      HeapAlloc: memory.heapUsed,
      HeapSys: memory.heapTotal,
      Sys: memory.rss,
      External: memory.external,
      CpuUserMicros: cpu.user,
      CpuSystemMicros: cpu.system,
      EventLoopDelayMaxNs: eventLoop.max,
    },
  };
}
