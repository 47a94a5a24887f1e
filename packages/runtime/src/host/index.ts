// What of the runtime needs Node: connections to user-defined functions.
export { udfConnector } from './udf-connector.ts';
export type { UdfFunctionConfig } from './udf-connector.ts';
