// Task tests by themselves: loads no server, so that a test run begins at once.
export { runTaskTests } from './run.ts';
export type { TaskTestFailure, TaskTestOptions, TaskTestResult } from './run.ts';
