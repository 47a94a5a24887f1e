// Task tests without a server, so that a test run starts at once.
export { runTaskTests } from './run.ts';
export type { TaskTestFailure, TaskTestOptions, TaskTestResult } from './run.ts';
