// Numbers of things within one database.

/** Number of a series: dense, ascending in the order of creation, never reused. */
export type SeriesId = number;
/** Number of a symbol: a text that is the value of some tag. */
export type SymbolId = number;
