// Public face of @tidemark/testkit: code that only tests need.
export { TcpBalancer } from './balancer.ts';
export { BROWSER_ARGUMENTS } from './browser.ts';
export { EVERYTHING_ALLOWED } from './allowed.ts';
export { TestClock } from './clock.ts';
export { CuttableLink, TestCoordinator } from './coordinator.ts';
export { TestCoordinators } from './coordinators.ts';
export { eventually, query, send, write } from './http.ts';
export type { Answer, QuerySeries } from './http.ts';
export { startInfluxdb } from './influxdb.ts';
export type { Influxdb } from './influxdb.ts';
export { lineBody, lineNumber, steadyLineBody } from './line-bodies.ts';
export { metricProblems, metricValue } from './metrics.ts';
export { PointDatabase } from './point-database.ts';
export { freePort } from './ports.ts';
export {
  canMountTmpfs,
  ESSENTIAL_PROGRAMS,
  hasPrograms,
  PEER_PACKAGES,
  programPath,
} from './programs.ts';
export { seededRandom } from './random.ts';
export { optionsGiven, sectionsOf } from './sections.ts';
export { TestServer } from './test-server.ts';
export type { ReceivedRequest, ServerAnswer } from './test-server.ts';
export {
  EXECUTABLE,
  makeDirectory,
  removeDirectory,
  run,
  runTidemark,
  startTidemark,
} from './tidemark.ts';
export type { RunResult, StartOptions, Tidemark } from './tidemark.ts';
