// queryFlux: queries in another language, which the engine does not speak.
import type { Macro } from '../definition/macro.ts';

export const queryFluxMacro: Macro = {
  name: 'queryFlux',
  summary: 'queries in Flux, which are not supported',
  parameters: [],
  follows: ['batch'],
  hintsBelow: { stream: 'a database is read by batch|query(), in InfluxQL' },
  refusal: {
    text: 'Flux queries are not supported; write the query in InfluxQL and use |query()',
    hint: 'write |query() with a statement of InfluxQL',
  },
};
